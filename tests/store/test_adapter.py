"""The adapter's rules: each test fails when its rule is taken away (docs/engine.md)."""

import ast
import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import libsql_experimental
import memoryd
import pytest
from memoryd.errors import AccessError, StoreBusyError, StoreDamagedError, StoreError, StoreFullError
from memoryd.store import Database
from memoryd.store import adapter as adapter_module

PACKAGE = Path(memoryd.__file__).parent


@pytest.fixture
def db(tmp_path):
    database = Database(tmp_path / "a.db")
    with database.transaction():
        database.execute("CREATE TABLE t (i INTEGER, x TEXT) STRICT")
        database.execute("CREATE TABLE u (k TEXT PRIMARY KEY) STRICT")
    yield database
    database.close()


def test_the_adapter_is_the_only_importer_of_the_library():
    """No other module of the package imports libsql."""
    importers = set()
    for path in PACKAGE.glob("*/*.py"):
        if path.parts[-2] in ("tests", ".venv", "build"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.startswith("libsql") for name in names):
                importers.add(path.relative_to(PACKAGE).as_posix())

    assert importers == {"store/adapter.py"}


def test_the_library_logs_nothing_although_it_could():
    """RUST_LOG is off before the library is imported, and a user's own setting is respected."""
    code = "import os; os.environ.pop('RUST_LOG', None); import memoryd.store.adapter; print(os.environ['RUST_LOG'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "off"


def test_the_file_is_durable_and_waits_in_python_not_in_the_library(db):
    """WAL, FULL, no busy timeout inside the library, foreign keys and secure delete are on."""
    found = {
        name: db.execute(f"PRAGMA {name}")[0][0]
        for name in ("journal_mode", "synchronous", "busy_timeout", "foreign_keys", "secure_delete")
    }

    assert found == {"journal_mode": "wal", "synchronous": 2, "busy_timeout": 0, "foreign_keys": 1, "secure_delete": 1}


@pytest.mark.parametrize(
    "number", [2**31 - 1, 2**31, -(2**31) - 1, 2**53 + 1, 1795990200123456789, 2**63 - 1, -(2**63)]
)
def test_big_integers_come_back_exactly(db, number):
    """An int beyond 32 bits, which the library would bind as floating point, is stored and compared exactly."""
    db.run("INSERT INTO t VALUES (?, ?)", (number, "big"))

    assert db.execute("SELECT i FROM t WHERE i = ?", (number,)) == [(number,)]


def test_returning_rows_are_fetched_once(db):
    """INSERT … RETURNING inserts one row, although reading on would run it again."""
    rows = db.execute("INSERT INTO t VALUES (?, ?) RETURNING i", (1, "once"))

    assert rows == [(1,)]
    assert db.execute("SELECT count(*) FROM t") == [(1,)]


def test_a_statement_without_rows_gives_an_empty_list(db):
    """The library's None becomes an empty list."""
    assert db.execute("UPDATE t SET i = 1") == []


@pytest.mark.parametrize("parameters", [(), (1,), (1, "a", 2)])
def test_a_wrong_number_of_parameters_is_refused(db, parameters):
    """Too few would silently become NULL, too many would be ignored."""
    with pytest.raises(StoreError, match="parameters"):
        db.run("INSERT INTO t VALUES (?, ?)", parameters)

    assert db.execute("SELECT count(*) FROM t") == [(0,)]


def test_a_question_mark_in_a_string_or_comment_is_no_parameter(db):
    """Only real placeholders are counted."""
    assert db.execute("SELECT 'why?', ? -- really?\n", (1,)) == [("why?", 1)]


def test_a_second_statement_is_refused(db):
    """Of `a; b` only `a` would run."""
    with pytest.raises(StoreError, match="one SQL statement"):
        db.run("INSERT INTO t VALUES (1, 'a'); INSERT INTO t VALUES (2, 'b')")

    assert db.execute("SELECT count(*) FROM t") == [(0,)]


@pytest.mark.parametrize("value", ["a\0b", "half \ud800", float("nan"), float("inf"), 2**63, bytearray(b"x"), object()])
def test_values_the_library_would_damage_are_refused(db, value):
    """NUL, half characters, NaN, more than 64 bits and foreign types never reach the file."""
    with pytest.raises(StoreError):
        db.run("INSERT INTO t VALUES (1, ?)", (value,))

    assert db.execute("SELECT count(*) FROM t") == [(0,)]


def test_an_error_inside_a_transaction_rolls_it_back(db):
    """The library leaves the transaction open after an error; the adapter does not."""
    with pytest.raises(StoreError, match="UNIQUE"), db.transaction():
        db.run("INSERT INTO u VALUES ('a')")
        db.run("INSERT INTO u VALUES ('a')")

    assert db.execute("SELECT count(*) FROM u") == [(0,)]
    with db.transaction():
        db.run("INSERT INTO u VALUES ('b')")
    assert db.execute("SELECT k FROM u") == [("b",)]


def test_any_statement_joins_the_transaction(db):
    """REPLACE, WITH … INSERT and DDL, which the library runs in autocommit, are rolled back with the rest."""
    with pytest.raises(ZeroDivisionError), db.transaction():
        db.run("REPLACE INTO u VALUES ('a')")
        db.run("WITH w AS (SELECT 'b' AS k) INSERT INTO u SELECT k FROM w")
        db.run("CREATE TABLE w (a)")
        raise ZeroDivisionError

    assert db.execute("SELECT count(*) FROM u") == [(0,)]
    assert db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'w'") == [(0,)]


def test_changed_rows_are_counted_for_each_statement(db):
    """A reused cursor would add the counts up."""
    for n in range(5):
        assert db.run("INSERT INTO t VALUES (?, ?)", (n, "x")) == 1

    assert db.run("UPDATE t SET x = 'y' WHERE i < ?", (2,)) == 2
    assert db.run("DELETE FROM t WHERE i = ?", (99,)) == 0


def test_use_after_close_is_an_error_of_ours(db):
    """The library would raise a PanicException, which no `except Exception` catches."""
    db.close()

    with pytest.raises(StoreError, match="closed"):
        db.execute("SELECT 1")
    db.close()


def test_a_panic_of_the_library_becomes_a_store_error(db, monkeypatch):
    """PanicException derives from BaseException: it is caught by its name at the edge."""
    panic = type("PanicException", (BaseException,), {})

    class Connection:
        def execute(self, *_):
            raise panic("boom")

    monkeypatch.setattr(db, "_connection", Connection())
    with pytest.raises(StoreDamagedError, match="boom"):
        db.execute("SELECT 1")


def test_a_locked_file_is_waited_for_without_holding_the_interpreter(tmp_path, db):
    """While another process holds the write lock, other threads of ours go on."""
    holder = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(f"""
            import sqlite3, sys, time
            c = sqlite3.connect({str(db.path)!r}, isolation_level=None)
            c.execute("BEGIN IMMEDIATE"); print("held", flush=True); sys.stdin.readline(); c.execute("COMMIT")
        """)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    holder.stdout.readline()
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(1)
            if len(ticks) == 20:
                holder.stdin.write("\n")
                holder.stdin.flush()
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    db.run("INSERT INTO u VALUES ('waited')")
    done.set()
    thread.join()
    holder.communicate()

    assert len(ticks) >= 20
    assert db.execute("SELECT k FROM u") == [("waited",)]


def test_a_lock_that_never_ends_is_reported(db, monkeypatch):
    """After the limit the error says that another process holds the file."""
    monkeypatch.setattr(adapter_module, "BUSY_LIMIT_S", 0.02)
    holder = subprocess.Popen(
        [sys.executable, "-c", (f"import sqlite3,sys; c=sqlite3.connect({str(db.path)!r},isolation_level=None);"
         "c.execute('BEGIN IMMEDIATE'); print('held',flush=True); sys.stdin.readline()")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    holder.stdout.readline()
    try:
        with pytest.raises(StoreBusyError):
            db.run("INSERT INTO u VALUES ('never')")
    finally:
        holder.communicate("\n")


def test_a_file_that_is_no_database_is_damaged(tmp_path):
    """Garbage in the file's place is named as what it is."""
    path = tmp_path / "bad.db"
    path.write_bytes(b"this is no database, however long one looks at it" * 100)

    with pytest.raises(StoreDamagedError):
        Database(path)


def test_a_missing_folder_is_a_matter_of_access(tmp_path):
    """The library's error 14 becomes a sentence."""
    with pytest.raises(AccessError):
        Database(tmp_path / "nowhere" / "a.db")


def test_a_full_disk_is_named(db):
    """SQLITE_FULL has rolled back by itself; the next transaction works."""
    db.execute("PRAGMA max_page_count = 12")
    with pytest.raises(StoreFullError), db.transaction():
        for n in range(2000):
            db.run("INSERT INTO t VALUES (?, ?)", (n, "x" * 500))
    assert db.execute("SELECT count(*) FROM t") == [(0,)]

    db.execute("PRAGMA max_page_count = 100000")
    with db.transaction():
        db.run("INSERT INTO t VALUES (1, 'fits')")
    assert db.execute("SELECT x FROM t") == [("fits",)]


def test_transactions_do_not_nest(db):
    """An inner transaction would end the outer one."""
    with db.transaction():
        with pytest.raises(StoreError, match="already open"), db.transaction():
            pass
        db.run("INSERT INTO u VALUES ('outer')")

    assert db.execute("SELECT k FROM u") == [("outer",)]


def test_the_traps_are_still_there(tmp_path):
    """The library still has the faults that the adapter cures; when this fails, a rule may be dropped."""
    raw = libsql_experimental.connect(str(tmp_path / "raw.db"), isolation_level=None)
    raw.execute("CREATE TABLE t (a)")
    raw.execute("INSERT INTO t VALUES (?)", (2**40,))

    assert isinstance(raw.execute("SELECT a FROM t").fetchall()[0][0], float)
    assert raw.execute("SELECT ?, ?", (1,)).fetchall() == [(1, None)]
    raw.execute("SELECT 1; nonsense")
    assert json.dumps(raw.execute("SELECT 'a' || char(0) || 'b'").fetchall()) == '[["a"]]'
    assert os.environ["RUST_LOG"]

"""Upgrades of the file: from every schema that was released, copied first, told in counts."""

import errno
import logging

import pytest
from memoryd.clock import ManualClock
from memoryd.errors import StoreFullError, StoreOlderError
from memoryd.store import Store, migrations

RELEASED = range(1, len(migrations.MIGRATIONS))


@pytest.fixture
def old(tmp_path, monkeypatch):
    """Makes a file of an earlier schema with two facts in it."""

    def make(schema: int):
        with monkeypatch.context() as earlier:
            earlier.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:schema])
            store = Store.open(tmp_path / "memory.db", ManualClock())
        with store.transaction() as tx:
            for n in (1, 2):
                tx.run("INSERT INTO facts (agent_id, id, text, first_seen, rev) VALUES ('default', ?, ?, 0, ?)",
                       (f"f{n}", f"The teal {n}", tx.next_rev()))  # fmt: skip
        store.close()
        return tmp_path / "memory.db"

    return make


@pytest.mark.parametrize("schema", RELEASED)
def test_every_released_schema_is_upgraded_with_its_rows(old, schema, caplog):
    """The file as it was is kept beside it, and one line says what is in before and after (ST-3)."""
    path = old(schema)

    store = Store.open(path, ManualClock())

    assert store.execute("PRAGMA user_version") == [(len(migrations.MIGRATIONS),)]
    assert store.execute("SELECT text FROM facts ORDER BY id") == [("The teal 1",), ("The teal 2",)]
    store.close()
    kept = path.with_name(f"memory.db.before-{schema + 1}")
    assert kept.stat().st_mode & 0o777 == 0o600
    (line,) = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert f"from schema {schema} to {len(migrations.MIGRATIONS)}" in line
    assert "2 facts" in line
    assert "as before" in line
    assert kept.name in line


@pytest.mark.parametrize("schema", RELEASED)
def test_who_only_reads_upgrades_nothing(old, schema):
    """A reading command refuses, names the way, and leaves every byte (ST-2)."""
    path = old(schema)
    before = path.read_bytes()

    with pytest.raises(StoreOlderError, match="older memoryd"):
        Store.open(path, ManualClock(), may_upgrade=False)

    assert path.read_bytes() == before
    assert [each.name for each in path.parent.glob("*before*")] == []


@pytest.mark.parametrize("schema", RELEASED)
def test_without_room_for_the_copy_nothing_is_upgraded(old, schema, monkeypatch):
    """A full disk is said, and the old schema stays."""
    path = old(schema)
    before = path.read_bytes()

    def full(_, target):
        target.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(migrations.shutil, "copyfile", full)
    with pytest.raises(StoreFullError, match="No space left"):
        Store.open(path, ManualClock())

    assert path.read_bytes() == before
    assert [each.name for each in path.parent.glob("*before*")] == []


def test_an_upgrade_counts_what_is_there(tmp_path, monkeypatch):
    """A memory of before the totals gets them, and the last day on which each fact was read."""
    path = tmp_path / "m.db"
    monkeypatch.setattr(migrations, "MIGRATIONS", ("001_rows.sql", "002_layers.sql"))
    old = Store.open(path, ManualClock())
    with old.transaction() as tx:
        for n, state, tier, words in (
            (1, "live", "warm", "tea é"),
            (2, "live", "warm", "tea"),
            (3, "retracted", "", "x"),
        ):
            tx.run(
                "INSERT INTO derived VALUES (?, 'a', ?, ?, ?, 0.5, 'food', 0.5, 'fact', '', 1, 1, 0, ?, ?, '')",
                (n, str(n), state, tier, int(n == 1), words),
            )
        tx.run("INSERT INTO access VALUES ('a', '1', 'd', 1, 20000, 1)")
    old.close()
    monkeypatch.undo()

    new = Store.open(path, ManualClock())

    assert new.execute("SELECT category, tier, facts, bytes FROM totals") == [("food", "warm", 2, 9)]
    assert new.execute("SELECT last_read FROM derived ORDER BY n") == [(20000,), (0,), (0,)]
    new.close()


def test_an_upgrade_looks_again_at_what_has_a_url(tmp_path, monkeypatch):
    """A memory of before the index of URLs fills it with the next thing that is derived."""
    path = tmp_path / "m.db"
    monkeypatch.setattr(migrations, "MIGRATIONS", ("001_rows.sql", "002_layers.sql", "003_totals.sql"))
    old = Store.open(path, ManualClock())
    with old.transaction() as tx:
        for n, metadata in enumerate(['{"urls": ["https://a.example"]}', "{}"]):
            tx.run(
                "INSERT INTO mentions VALUES ('a', 'd', 'x', ?, ?, 1, 1, '', '[]', '', 1, 'fact', '', ?, '', 0)",
                (n, f"fact {n}", metadata),
            )
    old.close()
    monkeypatch.undo()

    new = Store.open(path, ManualClock())

    assert new.execute("SELECT fact_id FROM dirty") == [("fact 0",)]
    new.close()


def test_an_upgrade_looks_again_at_what_is_chinese(tmp_path, monkeypatch):
    """A memory whose index holds traditional characters gets those entries anew, and no others."""
    path = tmp_path / "m.db"
    monkeypatch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:4])
    old = Store.open(path, ManualClock())
    with old.transaction() as tx:
        for n, (text, headings) in enumerate([("護照", "[]"), ("The teal", '["預算"]'), ("The red", "[]")], 1):
            tx.run("INSERT INTO facts VALUES (?, 'a', ?, ?, 0, 0)", (n, f"f{n}", text))
            tx.run(
                "INSERT INTO mentions VALUES ('a', 'd', 'x', ?, ?, 1, 1, '', ?, '', 1, 'fact', '', '{}', '', 0)",
                (n, f"f{n}", headings),
            )
    old.close()
    monkeypatch.undo()

    new = Store.open(path, ManualClock())

    assert new.execute("SELECT fact_id FROM dirty ORDER BY 1") == [("f1",), ("f2",)]
    new.close()


def test_a_statement_ends_where_sql_says_so():
    """Neither a trigger's body, a string nor a comment ends a statement; what says nothing is none."""
    trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET b = ';'; SELECT 1; END;"
    sql = f"-- first; of all\nCREATE TABLE a (b);\n\n{trigger}\n;\n-- the end; really\n"

    assert list(migrations._statements(sql)) == ["-- first; of all\nCREATE TABLE a (b);", trigger]


def test_half_a_statement_is_refused():
    """A file that was cut off is no migration."""
    with pytest.raises(Exception, match="middle of a statement"):
        list(migrations._statements("CREATE TABLE a (b); CREATE TABLE c ("))

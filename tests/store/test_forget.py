"""Forgetting leaves nothing but a tombstone on this device."""

import re

import pytest
from memoryd.model import Metadata, fact_id
from memoryd.store.chunks import lines_saying, with_fence
from memoryd.store.forget import erase, forget_fact, lift
from memoryd.store.notes import delete_note, note_body, own_statements
from memoryd.store.versions import is_forgotten, record_access, set_edit, set_hot_item, state_fact

PATH = "memory/2026-02-13.md"
WORD = "hyraxword"


@pytest.fixture
def secret(apply, store):
    """A fact in a note, in hot state, with edits, a block, an index entry and an undo step."""
    text = f"The code word is {WORD}"
    fact = fact_id("default", text)
    apply(["before", text, "after"])
    with store.transaction() as tx:
        set_edit(tx, "default", fact, "distilled", text)
        set_hot_item(tx, "default", "lessons", fact, None)
        tx.run("INSERT INTO blocks VALUES ('default', 'x', ?, 1)", (f"- {text}",))
        tx.run("INSERT INTO undo_log VALUES (1, 'default', 1, 'edit', ?, '', 0)", (text,))
        ((n,),) = tx.execute("SELECT n FROM facts WHERE id = ?", (fact,))
        tx.run("INSERT INTO search_index (rowid, body) VALUES (?, ?)", (n, text))
    return fact


def _dump(store):
    names = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return repr([(name, store.execute(f"SELECT * FROM {name}")) for name in names])


def test_no_row_holds_the_words_any_more(secret, store):
    """Fact, mentions, edits, hot items, blocks, undo steps, index and stored text are rid of it."""
    assert WORD in _dump(store)
    with store.transaction() as tx:
        places = forget_fact(tx, "default", secret)

    assert WORD not in _dump(store)
    assert [(each.file, each.line_from, each.line_to) for each in places] == [(PATH, 2, 2)]
    with store.transaction() as tx:
        assert is_forgotten(tx, "default", secret)


def test_no_file_of_the_database_holds_the_words_any_more(secret, store):
    """Secure delete and a folded write-ahead log: the bytes are gone, not only the answers."""
    with store.transaction() as tx:
        forget_fact(tx, "default", secret)
    store.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    files = [path for path in store.db.path.parent.iterdir() if path.is_file()]
    assert files
    assert not [path.name for path in files if WORD.encode() in path.read_bytes()]


def test_the_other_lines_keep_their_words_and_numbers(secret, store):
    """The stored note has the mask in place, its mentions are numbered without a gap."""
    with store.transaction() as tx:
        forget_fact(tx, "default", secret)

    assert note_body(store, "default", PATH) == b"- before\n- [forgotten]\n- after\n"
    assert [text for _, text in own_statements(store, "default", PATH)] == ["before", "after"]
    assert store.execute("SELECT n FROM mentions ORDER BY n") == [(0,), (1,)]


def test_a_line_that_is_still_in_the_note_is_kept_out(secret, store, apply):
    """Ingesting the note again neither brings the fact back nor stores its words."""
    with store.transaction() as tx:
        forget_fact(tx, "default", secret)
    effect = apply(["before", f"The code word is {WORD}", "after"])

    assert effect.forgotten_lines == 1
    assert WORD not in _dump(store)
    assert note_body(store, "default", PATH) == b"- before\n- [forgotten]\n- after\n"


def test_the_duty_to_rewrite_the_log_is_stored_with_it(secret, store):
    """Only a log that holds the fact has to be rewritten."""
    with store.transaction() as tx:
        erase(tx, "default", fact_id("default", "never said"))
    assert store.execute("SELECT count(*) FROM duties") == [(0,)]

    with store.transaction() as tx:
        forget_fact(tx, "default", secret)
    assert store.execute("SELECT kind FROM duties") == [("copies",), ("snapshot",)]


def test_stating_a_fact_again_by_command_replaces_its_mention(store):
    """The same sentence is one fact with one mention without a note."""
    for importance in (0.5, 0.9):
        with store.transaction() as tx:
            state_fact(tx, "default", "Prefers tea", "owner", importance, Metadata())

    assert store.execute("SELECT path, n, importance FROM mentions") == [("", 0, 0.9)]
    assert store.execute("SELECT count(*) FROM facts") == [(1,)]


def test_nothing_is_written_about_a_fact_that_is_forgotten(secret, store):
    """Edits, hot items and reads that come late leave no row behind the tombstone."""
    with store.transaction() as tx:
        forget_fact(tx, "default", secret)
        set_edit(tx, "default", secret, "importance", "0.9")
        set_hot_item(tx, "default", "lessons", secret, None)
        assert record_access(tx, "default", [secret], 20_000) == 0
    for table, key in (("edits", "fact_id"), ("hot_items", "key"), ("access", "fact_id")):
        assert store.execute(f"SELECT count(*) FROM {table} WHERE {key} = ?", (secret,)) == [(0,)]


def test_the_text_of_a_deleted_note_is_masked_too(secret, store):
    """A deleted note keeps its text for a while, without mentions: its lines are found by their words."""
    with store.transaction() as tx:
        delete_note(tx, "default", PATH)
        forget_fact(tx, "default", secret)
    assert note_body(store, "default", PATH).decode() == "- before\n- [forgotten]\n- after\n"


def test_a_lifted_tombstone_has_the_other_logs_folded_again(secret, store):
    """What it kept out is in segments that were folded already."""
    with store.transaction() as tx:
        tx.run("INSERT INTO cursors VALUES ('other', 7, 'abc', '')")
        forget_fact(tx, "default", secret)
        assert lift(tx, "default", secret)
        assert not lift(tx, "default", secret)
        assert not is_forgotten(tx, "default", secret)
    assert store.execute("SELECT idx, sha256 FROM cursors") == [(0, "")]


def test_lookups_by_fact_use_its_index(secret, store, monkeypatch):
    """Forgetting reads no table from end to end, however large memory is."""
    seen = []
    for name in ("execute", "run"):
        ask = getattr(store.db, name)
        monkeypatch.setattr(
            store.db, name, lambda sql, values=(), ask=ask: (seen.append((sql, values)), ask(sql, values))[1]
        )
    with store.transaction() as tx:
        forget_fact(tx, "default", secret)
    monkeypatch.undo()
    plans = [
        str(row[3])
        for sql, values in seen
        if sql.lstrip().startswith(("SELECT", "DELETE", "INSERT", "UPDATE"))
        for row in store.execute(f"EXPLAIN QUERY PLAN {sql}", values)
    ]
    large = [plan for plan in plans if re.match(r"(SCAN|SEARCH) (facts|mentions|edits|access|derived|m|q)\b", plan)]
    assert large
    assert [plan for plan in large if not re.search(r"fact_id=\?|path=\?|\bid=\?|rowid=\?|PRIMARY KEY", plan)] == []


@pytest.mark.parametrize(
    ("body", "text", "ranges"),
    [
        ("- 10:40 Decided to use raw JSON-RPC #bsc\n  to avoid the dependency\n", "raw JSON-RPC to avoid", [(1, 2)]),
        ("see [docs](https://a.example/x) now\n", "see docs now", [(1, 1)]),
        ("a **code** word\nb\na code word\n", "a code word", [(1, 1), (3, 3)]),
        ("今天下雨\n", "下雨", [(1, 1)]),
        ("nothing of it\n", "a code word", []),
        ("only marks\n", "…", []),
    ],
)
def test_lines_are_found_by_their_letters(body, text, ranges):
    """Markup, tags and links between the words do not hide them."""
    assert lines_saying(body.encode(), text) == ranges


@pytest.mark.parametrize(
    ("body", "last"),
    [
        ("a\n\n```sh\nrun\n```\nb\n", 5),
        ("a\n~~~\nrun\n~~~\n```\nmore\n```\n", 7),
        ("a\nb\n```\nx\n```\n", 1),
        ("a\n```\nnever closed", 3),
        ("a\n", 1),
    ],
)
def test_a_fence_goes_with_its_block(body, last):
    """Code fences that directly follow a block belong to it."""
    assert with_fence(body.encode(), 1) == last

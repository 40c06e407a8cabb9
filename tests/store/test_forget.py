"""Forgetting leaves nothing but a tombstone on this device."""

import pytest
from memoryd.model import Metadata, fact_id
from memoryd.store.forget import erase, forget_fact
from memoryd.store.notes import note_body, own_statements
from memoryd.store.versions import is_forgotten, set_edit, set_hot_item, state_fact

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


def test_the_block_after_it_is_indexed_anew(secret, store):
    """Its index entry held the forgotten words as context."""
    store.db.run("DELETE FROM dirty")
    with store.transaction() as tx:
        forget_fact(tx, "default", secret)

    assert (fact_id("default", "after"),) in store.execute("SELECT fact_id FROM dirty")


def test_the_duty_to_rewrite_the_log_is_stored_with_it(secret, store):
    """Only a log that holds the fact has to be rewritten."""
    with store.transaction() as tx:
        erase(tx, "default", fact_id("default", "never said"))
    assert store.execute("SELECT count(*) FROM duties") == [(0,)]

    with store.transaction() as tx:
        forget_fact(tx, "default", secret)
    assert store.execute("SELECT kind FROM duties") == [("snapshot",)]


def test_stating_a_fact_again_by_command_replaces_its_mention(store):
    """The same sentence is one fact with one mention without a note."""
    for importance in (0.5, 0.9):
        with store.transaction() as tx:
            state_fact(tx, "default", "Prefers tea", "owner", importance, Metadata())

    assert store.execute("SELECT path, n, importance FROM mentions") == [("", 0, 0.9)]
    assert store.execute("SELECT count(*) FROM facts") == [(1,)]

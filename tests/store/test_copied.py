"""Rows of a note that a restore copies from another device's log: whole notes, or none of them."""

import pytest
from memoryd.model import FactRow, MentionRow, Metadata, NoteRow
from memoryd.store.copied import UNREAD, copy_notes
from memoryd.store.files import FileRecord
from memoryd.store.fold import fold

AGENT, PATH = "default", "memory/2026-02-13.md"


def fact(name):
    return FactRow(AGENT, name, f"Text of {name}", 100)


def mention(n, name):
    return MentionRow(AGENT, "dddddddd", PATH, n, name, n + 1, n + 1, "", [], "birds", 0.5, "fact", "", Metadata())


def copied(store, *rows):
    """What is copied of the other device's note, which says that it has two mentions."""
    record = FileRecord(PATH, AGENT, 9, 1, 1, 1, "00", UNREAD, "ok")
    with store.transaction() as tx:
        fold(tx, [*rows, NoteRow(AGENT, "dddddddd", PATH, 9, [], 2, "ok", 1)])
    with store.transaction() as tx:
        return copy_notes(tx, "dddddddd", [record])


def test_a_whole_note_is_copied(store):
    """Its mentions and facts stand in this device's log from then on."""
    assert copied(store, fact("f1"), fact("f2"), mention(0, "f1"), mention(1, "f2")) == [PATH]

    assert store.execute("SELECT n, fact_id FROM mentions WHERE device = 'aaaaaaaa' AND rev > 0 ORDER BY n") == [
        (0, "f1"),
        (1, "f2"),
    ]
    assert store.execute("SELECT count(*) FROM facts WHERE rev > 0") == [(2,)]


@pytest.mark.parametrize(
    "rows",
    [
        [fact("f1"), fact("f2"), mention(0, "f1")],
        [fact("f1"), mention(0, "f1"), mention(1, "f2")],
        [fact("f1"), fact("f2"), mention(0, "f1"), mention(7, "f2")],
    ],
    ids=["a mention is missing", "a fact is missing", "a mention stands beyond the end"],
)
def test_a_note_with_a_gap_has_to_be_read(store, rows):
    """A damaged segment may have held any of its rows."""
    assert copied(store, *rows) == []
    assert store.execute("SELECT count(*) FROM notes WHERE device = 'aaaaaaaa'") == [(0,)]

"""The index entry: written anew, and gone from the file when it is removed."""

from typing import Any

import pytest
from memoryd.search import Entry, write_entry


def file_bytes(memory: Any) -> bytes:
    memory.store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path = memory.store.db.path
    return b"".join(each.read_bytes() for each in path.parent.glob(path.name + "*"))


def test_entry_is_replaced_not_added(memory: Any) -> None:
    """A fact indexed again is found by its new entry only."""
    n = memory.add("alpha", context="before")

    with memory.store.transaction() as tx:
        write_entry(tx, n, Entry("omega"))

    assert memory.ask("before") == []
    assert memory.ask("omega") == ["alpha"]


@pytest.mark.parametrize("others", [0, 400])
def test_removed_words_leave_the_file(memory: Any, others: int) -> None:
    """After a removal and a checkpoint no word of the fact stands in the database file, whatever came in between."""
    secret = ["zebrafinch", "quokkabay", "麒麟暗号"]
    n = memory.add(" ".join(secret), headings=["Xylotomous"], extra="https://vorpal.example/p", context="jabberwock")
    for other in range(others):
        memory.add(f"ordinary line number {other} about the zebra 麒麟")
    before = file_bytes(memory)

    memory.remove(n)

    after = file_bytes(memory)
    for word in ("finch", "quokkabay", "暗号", "xylotom", "vorpal", "jabberwock"):
        assert word.encode() in before
        assert word.encode() not in after


def test_words_of_a_replaced_entry_leave_the_file(memory: Any) -> None:
    """Writing an entry anew takes the former words out of the file."""
    n = memory.add("the plain words", context="jabberwock")

    with memory.store.transaction() as tx:
        write_entry(tx, n, Entry("the plain words"))

    assert b"jabberwock" not in file_bytes(memory)


def test_removing_an_unknown_entry_changes_nothing(memory: Any) -> None:
    """Removing what is not there is no error."""
    memory.add("alpha")

    memory.remove(77)

    assert memory.ask("alpha") == ["alpha"]


def test_huge_block_is_found_by_its_beginning(memory: Any) -> None:
    """A page pasted into one block is indexed up to the limit."""
    memory.add("alpha " + "filler " * 20_000 + "omega")

    assert len(memory.ask("alpha")) == 1
    assert memory.ask("omega") == []

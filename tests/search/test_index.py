"""The index entry: written anew, and gone from the file when it is removed."""

import random
from typing import Any

import pytest
from memoryd.search import Entry, remove_entry, write_entries, write_entry
from memoryd.search.index import has_many_segments, merge_some


def file_bytes(memory: Any) -> bytes:
    memory.store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path = memory.store.db.path
    return b"".join(each.read_bytes() for each in path.parent.glob(path.name + "*"))


def test_entry_is_replaced_not_added(memory: Any) -> None:
    """A fact indexed again is found by its new entry only."""
    n = memory.add("alpha", extra="before")

    with memory.store.transaction() as tx:
        write_entry(tx, n, Entry("omega", agent="default"))

    assert memory.ask("before") == []
    assert memory.ask("omega") == ["alpha"]


@pytest.mark.parametrize("others", [0, 400])
def test_removed_words_leave_the_file(memory: Any, others: int) -> None:
    """After a removal and a checkpoint no word of the fact stands in the database file, whatever came in between."""
    secret = ["zebrafinch", "quokkabay", "麒麟暗号"]
    n = memory.add(" ".join(secret), headings=["Xylotomous"], extra="https://vorpal.example/p jabberwock")
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
    n = memory.add("the plain words", extra="jabberwock")

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


def test_unchanged_entry_is_not_written_again(memory: Any) -> None:
    """Writing the same entry anew leaves the file alone."""
    n = memory.add("alpha", headings=["Greek"])
    memory.store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    log = memory.store.db.path.with_name("memory.db-wal")

    with memory.store.transaction() as tx:
        write_entry(tx, n, Entry("alpha", ["Greek"], agent="default"))

    assert log.stat().st_size == 0


def test_several_entries_are_written_at_once(memory: Any) -> None:
    """New, changed and unchanged entries of one call all stand as given."""
    same, changed, new = (memory.add(text) for text in ("alpha", "beta", "gamma"))
    with memory.store.transaction() as tx:
        remove_entry(tx, new)

        write_entries(
            tx,
            {
                same: Entry("alpha", agent="default"),
                changed: Entry('delta "quoted" 麒麟', agent="default"),
                new: Entry("gamma", agent="default"),
            },
        )

    assert memory.ask("alpha") == ["alpha"]
    assert memory.ask("gamma") == ["gamma"]
    assert memory.ask("quoted") == memory.ask("麒麟") == ["beta"]
    assert memory.ask("beta") == []


def test_writing_no_entry_changes_nothing(memory: Any) -> None:
    """An empty batch is no error."""
    with memory.store.transaction() as tx:
        write_entries(tx, {})

    assert memory.ask("alpha") == []


def test_index_stays_sound_through_many_changes(memory: Any) -> None:
    """After thousands of entries written, replaced, removed and rolled back the index passes its own check."""
    chance = random.Random(11)
    for _ in range(60):
        try:
            with memory.store.transaction() as tx:
                for _ in range(50):
                    n = chance.randint(1, 400)
                    words = [
                        f"word{chance.randint(1, 10 ** chance.randint(1, 4))}" for _ in range(chance.randint(1, 40))
                    ]
                    if chance.random() < 0.4:
                        remove_entry(tx, n)
                    else:
                        write_entry(tx, n, Entry(" ".join(words), ["麒麟", "Server"], "work", words[0], "default"))
                if chance.random() < 0.2:
                    raise InterruptedError
        except InterruptedError:
            continue

    with memory.store.transaction() as tx:
        tx.run("INSERT INTO search_index (search_index, rank) VALUES ('integrity-check', 1)")
    assert memory.store.execute("PRAGMA integrity_check") == [("ok",)]


def test_a_batch_is_one_piece_of_the_index_in_whatever_order_it_comes(memory: Any) -> None:
    """Facts of a batch are written by rising numbers: the index begins a new piece wherever a number falls."""
    with memory.store.transaction() as tx:
        write_entries(tx, {n: Entry(f"heron {n}", urls=[f"https://{n}.example"]) for n in (5, 2, 4, 1, 3)})

    for index in ("search_index", "url_index"):
        assert memory.store.execute(f"SELECT count(DISTINCT segid) FROM {index}_idx") == [(1,)]


def merge(memory: Any) -> int:
    """Merge until nothing is left to do; how many steps it took."""
    for step in range(1000):
        with memory.store.transaction() as tx:
            if not merge_some(tx, begin=step == 0):
                return step + 1
    raise AssertionError("the merge does not end")


def test_merged_segments_answer_as_before_and_leave_no_word_behind(memory: Any) -> None:
    """Many become one, what is merged already stays, and a word that is removed then is in the file no longer."""
    for number in range(300):
        memory.add(" ".join(f"word{number}x{each}" for each in range(200)) + " 麒麟")
    secret = memory.add("the quokkabay 暗号密语 is here")
    asked = ["word7x3", "麒麟 word150x9", "quokkabay"]
    before = [memory.ask(query) for query in asked]
    with memory.store.transaction() as tx:
        for number in range(0, 300, 7):
            remove_entry(tx, number + 1)
            write_entry(tx, number + 1, Entry(memory.texts[number + 1], agent="default"))
    assert has_many_segments(memory.store)

    assert merge(memory) > 1
    assert not has_many_segments(memory.store)
    assert merge(memory) == 1
    assert [memory.ask(query) for query in asked] == before

    memory.remove(secret)

    assert memory.ask("quokkabay") == []
    assert not any(word.encode() in file_bytes(memory) for word in ("quokkabay", "暗号", "密语"))

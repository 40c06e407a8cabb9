"""The merge rules of docs/data.md, 2, rule by rule."""

import pytest
from memoryd.model import (
    AccessRow,
    ChunkRow,
    DeviceRow,
    EditRow,
    FactRow,
    ForgottenRow,
    HotItemRow,
    MentionRow,
    Metadata,
    NoteRow,
    TreeNodeRow,
)
from memoryd.store import Store
from memoryd.store.files import FileRecord, known_files, write_file
from memoryd.store.fold import fold, replace_own_rows
from memoryd.store.versions import set_edit

AGENT, PATH = "default", "memory/2026-02-13.md"
OLD, NEW, NEWER = (f"177097680{n}000-000000-dddddddd" for n in (1, 2, 3))


@pytest.fixture
def store(tmp_path, clock):
    """An empty store."""
    one = Store.open(tmp_path / "memory.db", clock)
    yield one
    one.close()


def take(store, *rows, **options):
    """Fold rows in one transaction; the facts that were marked for derivation come back with the rest."""
    with store.transaction() as tx:
        tx.run("DELETE FROM dirty")
        folded = fold(tx, rows, **options)
    return folded, {row[0] for row in store.execute("SELECT fact_id FROM dirty")}


def fact(fact_id="f1", first_seen=100):
    """A fact row."""
    return FactRow(AGENT, fact_id, f"Text of {fact_id}", first_seen)


def mention(n, fact_id, device="d1", category="birds"):
    """A mention row."""
    return MentionRow(AGENT, device, PATH, n, fact_id, n + 1, n + 1, "", [], category, 0.5, "fact", "", Metadata())


def note(mentions, device="d1", path=PATH):
    """A note row."""
    return NoteRow(AGENT, device, path, 9, [], mentions, "ok", 1)


def test_facts_are_united_and_keep_the_earlier_sight(store):
    """The smaller first_seen wins in either order; a received row takes no revision; only changes are derived again."""
    assert take(store, fact(first_seen=100))[1] == {"f1"}
    assert take(store, fact(first_seen=200))[1] == set()
    assert take(store, fact(first_seen=50))[1] == {"f1"}
    assert store.execute("SELECT first_seen, rev FROM facts") == [(50, 0)]
    with store.transaction() as tx:
        tx.run("UPDATE facts SET rev = 7")
    take(store, fact(first_seen=10))
    assert store.execute("SELECT first_seen, rev FROM facts") == [(10, 7)]


def test_a_note_row_removes_the_mentions_it_no_longer_has(store):
    """Those with n ≥ mentions go, and their facts are derived again."""
    take(store, fact("f1"), fact("f2"), mention(0, "f1"), mention(1, "f2"), note(2))
    _, touched = take(store, note(1))
    assert store.execute("SELECT n, fact_id FROM mentions") == [(0, "f1")]
    assert "f2" in touched


def test_a_mention_after_its_note_row_stays(store):
    """What a log adds behind a note row is not taken away by it, also within one segment."""
    take(store, mention(0, "f1"), note(1), mention(1, "f2"))
    assert store.execute("SELECT n FROM mentions ORDER BY n") == [(0,), (1,)]


def test_the_later_mention_of_a_place_wins_and_both_facts_are_derived_again(store):
    """The fact that stood there, the one that stands there now, and the one behind it."""
    take(store, mention(0, "f1"), mention(1, "f9"), note(2))
    _, touched = take(store, mention(0, "f2"))
    assert store.execute("SELECT fact_id FROM mentions WHERE n = 0") == [("f2",)]
    assert touched == {"f1", "f2", "f9"}
    assert take(store, mention(0, "f2"))[1] == set()
    assert take(store, mention(0, "f2", category="fish"))[1] == {"f2"}


@pytest.mark.parametrize("rows", [[("a", NEW), ("z", OLD)], [("z", OLD), ("a", NEW)]])
def test_of_two_edits_the_larger_version_wins(store, rows):
    """In either order."""
    for value, version in rows:
        take(store, EditRow(AGENT, "f1", "pin", value, version))
    assert store.execute("SELECT value, version FROM edits") == [("a", NEW)]


@pytest.mark.parametrize("values", [[None, "a", "b"], ["b", None, "a"], ["a", "b", None]])
def test_of_equal_versions_the_larger_value_wins(store, values):
    """A withdrawn one is the smallest."""
    for value in values:
        take(store, EditRow(AGENT, "f1", "pin", value, OLD))
    assert store.execute("SELECT value FROM edits") == [("b",)]


def test_a_received_edit_takes_the_own_one_out_of_the_log_only_when_it_wins(store):
    """Revision 0 when it won; unchanged when it lost; the clock has seen its version either way."""
    with store.transaction() as tx:
        set_edit(tx, AGENT, "f1", "pin", "mine")
    ((version, rev),) = store.execute("SELECT version, rev FROM edits")
    take(store, EditRow(AGENT, "f1", "pin", "theirs", "0000000000001-000000-dddddddd"))
    assert store.execute("SELECT value, rev FROM edits") == [("mine", rev)]
    future = "1999999999999-000000-dddddddd"
    take(store, EditRow(AGENT, "f1", "pin", "theirs", future))
    assert store.execute("SELECT value, rev FROM edits") == [("theirs", 0)]
    with store.transaction() as tx:
        set_edit(tx, AGENT, "f1", "pin", "mine again")
    assert store.execute("SELECT value FROM edits WHERE version > ?", (future,)) == [("mine again",)]
    assert version < future


def test_a_tombstone_beats_everything_in_either_order(store):
    """What came before it is erased, what comes after it stays out, and it enters this log too."""
    everything = [
        fact(), mention(0, "f1"), EditRow(AGENT, "f1", "pin", "1", NEWER),
        HotItemRow(AGENT, "lessons", "f1", None, NEWER), AccessRow(AGENT, "f1", "d1", 1, 20_000),
    ]  # fmt: skip
    tombstone = ForgottenRow(AGENT, "f1", NEW)
    for rows in ([*everything, tombstone], [tombstone, *everything], everything):
        take(store, *rows)
        for table in ("facts", "mentions", "edits", "hot_items", "access"):
            assert store.execute(f"SELECT count(*) FROM {table}") == [(0,)], table
    ((rev,),) = store.execute("SELECT rev FROM forgotten")
    assert rev > 0
    take(store, tombstone)
    assert store.execute("SELECT rev FROM forgotten") == [(rev,)]


def test_a_place_that_states_a_forgotten_fact_states_nothing(store):
    """The words that stood there before are gone as well."""
    take(store, ForgottenRow(AGENT, "f1", NEW), fact("f2"), mention(0, "f2"))
    _, touched = take(store, mention(0, "f1"))
    assert store.execute("SELECT count(*) FROM mentions") == [(0,)]
    assert "f2" in touched


def test_tombstones_merge_each_part_by_its_maximum(store):
    """Version, lifted version and successor, in any order; forgotten while version > lifted version."""
    take(store, ForgottenRow(AGENT, "f1", OLD, NEW, ""))
    take(store, ForgottenRow(AGENT, "f1", NEWER, "", "f7"))
    take(store, ForgottenRow(AGENT, "f1", NEW, OLD, "f3"))
    assert store.execute("SELECT version, lifted_version, moved_to FROM forgotten") == [(NEWER, NEW, "f7")]
    take(store, fact())
    assert store.execute("SELECT count(*) FROM facts") == [(0,)]


def test_a_lifted_tombstone_has_logs_folded_again_and_own_notes_read_again(store):
    """What it kept out comes back from the logs; own notes with forgotten lines are named and marked."""
    take(store, ForgottenRow(AGENT, "f1", NEW))
    with store.transaction() as tx:
        tx.run("INSERT INTO cursors VALUES ('d1', 5, 'x', '')")
        for path, totals in ((PATH, {"forgotten": 1}), ("memory/2026-02-14.md", {"fact": 1})):
            write_file(tx, _record(path, totals))
    folded, _ = take(store, ForgottenRow(AGENT, "f1", NEW, NEWER))
    assert folded.lifted == [(AGENT, "f1")]
    assert folded.reread == [PATH]
    records = known_files(store)
    assert [(records[path].raw_sha256, records[path].mtime_ns) for path in sorted(records)] == [("", 0), ("x", 1)]
    assert store.execute("SELECT idx, sha256 FROM cursors") == [(0, "")]
    take(store, fact())
    assert store.execute("SELECT count(*) FROM facts") == [(1,)]


def test_an_edit_older_than_a_lifted_tombstone_stays_gone(store):
    """Devices that saw the tombstone stand have erased it; one that sees both at once must agree with them."""
    take(store, EditRow(AGENT, "f1", "pin", "1", OLD), EditRow(AGENT, "f1", "done", "1", NEWER))
    take(store, ForgottenRow(AGENT, "f1", NEW, NEWER), EditRow(AGENT, "f1", "pin", "1", OLD))
    assert store.execute("SELECT field FROM edits") == [("done",)]


def test_reads_tree_nodes_hot_items_and_devices_follow_their_rules(store):
    """Reads: the later in the log; tree and hot: the larger version; devices: the later."""
    take(store, AccessRow(AGENT, "f1", "d1", 5, 20_000), AccessRow(AGENT, "f1", "d1", 2, 20_001))
    assert store.execute("SELECT days, last_day FROM access") == [(2, 20_001)]
    take(store, TreeNodeRow(AGENT, "birds", "new", NEW), TreeNodeRow(AGENT, "birds", "old", OLD, deleted=True))
    assert store.execute("SELECT description, deleted FROM tree_nodes") == [("new", 0)]
    take(store, HotItemRow(AGENT, "projects", "p", '"b"', NEW), HotItemRow(AGENT, "projects", "p", '"a"', OLD))
    assert store.execute("SELECT value FROM hot_items") == [('"b"',)]
    take(store, DeviceRow("d1", "a", "linux", 1), DeviceRow("d1", "b", "linux", 1, ["*.md"], ["d0"]))
    assert store.execute("SELECT name, notes_extra, succeeds FROM devices") == [("b", '["*.md"]', '["d0"]')]


def test_a_succession_has_the_facts_of_the_whole_chain_derived_again(store):
    """Also of the devices that the succeeded one had succeeded."""
    take(store, mention(0, "f0", "d0"), mention(0, "f1", "d1"), DeviceRow("d1", "n", "p", 1, [], ["d0"]))
    _, touched = take(store, DeviceRow("d2", "n", "p", 1, [], ["d1"]))
    assert touched == {"f0", "f1"}


def test_a_successors_first_note_of_a_path_silences_the_one_before(store):
    """The facts of the same path on the succeeded device are derived again, once."""
    take(store, mention(0, "f1", "d1"), note(1, "d1"), DeviceRow("d2", "n", "p", 1, [], ["d1"]))
    assert take(store, note(0, "d2"))[1] == {"f1"}
    assert take(store, note(0, "d2"))[1] == set()
    assert take(store, note(0, "d2", "memory/other.md"))[1] == set()


def test_chunks_are_kept_only_when_a_restore_asks(store):
    """A pull passes them over."""
    take(store, ChunkRow.of("aa", b"text"))
    assert store.execute("SELECT count(*) FROM chunks") == [(0,)]
    take(store, ChunkRow.of("aa", b"text"), keep_chunks=True)
    assert store.execute("SELECT data, rev FROM chunks") == [(b"text", 0)]


def test_a_snapshot_takes_away_what_its_device_no_longer_states(store):
    """Notes, mentions and reads of that device only."""
    take(store, mention(0, "f1"), mention(1, "f2"), note(2), AccessRow(AGENT, "f1", "d1", 1, 1), mention(0, "f3", "d2"))
    rows = [mention(0, "f1"), note(1)]
    with store.transaction() as tx:
        replace_own_rows(tx, "d1", rows)
        fold(tx, rows)
    assert store.execute("SELECT device, fact_id FROM mentions ORDER BY device") == [("d1", "f1"), ("d2", "f3")]
    assert store.execute("SELECT count(*) FROM access") == [(0,)]


def _record(path, totals):
    return FileRecord(
        path=path, agent_id=AGENT, size=1, mtime_ns=1, ctime_ns=1, ino=1, raw_sha256="x", rules=1, state="ok",
        seen_at=1, totals=totals,
    )  # fmt: skip

"""Derived values follow the rows alone (docs/data.md, 2)."""

import pytest
from memoryd.clock import MS_PER_DAY
from memoryd.model import Metadata
from memoryd.store.versions import record_access, set_edit, set_hot_item, state_fact
from memoryd.tiers.evidence import later_wordings, successors

D1, D2, D3 = "aaaaaaa1", "aaaaaaa2", "aaaaaaa3"
PATH = "memory/2026-02-01.md"


def edit(world, text, field, value):
    with world.store.transaction() as tx:
        set_edit(tx, world.agent, world.id(text), field, value)


def test_a_fact_with_a_mention_is_live_and_takes_everything_from_it(world):
    """A single mention decides category, importance, kind, task state, creation time and day."""
    world.say("Buy oats", date="2026-02-01T10:40Z", category="home", importance=0.7, kind="task", task_state="open")

    (one,) = world.derive("Buy oats")

    assert (one.state, one.category, one.importance, one.kind, one.task_state) == ("live", "home", 0.7, "task", "open")
    assert one.created_at == one.latest_day * MS_PER_DAY + (10 * 60 + 40) * 60_000
    assert not one.on_page
    assert one.access_days == 0


def test_unknown_ids_are_absent(world):
    """An id without a fact row gives nothing."""
    assert world.derive("never said") == []


def test_a_succeeded_device_stops_counting_where_its_successor_has_the_note(world):
    """The mention of a succeeded device goes as soon as the successor has a note row of that path."""
    world.device(D1)
    world.device(D2, succeeds=[D1])
    world.say("old words", path=PATH, device=D1)
    before = world.derive("old words")[0].state

    world.note(PATH, D2)

    assert before == "live"
    assert world.derive("old words")[0].state == "retracted"


def test_succession_holds_along_the_chain(world):
    """A device succeeded twice over is judged by the note rows of the last successor too."""
    world.device(D1)
    world.device(D2, succeeds=[D1])
    world.device(D3, succeeds=[D2])
    world.say("old words", path=PATH, device=D1)
    world.note(PATH, D3)

    assert world.derive("old words")[0].state == "retracted"


def test_a_stored_fact_always_counts(world):
    """A mention without a note counts although its device is succeeded."""
    world.device(D1)
    world.device(D2, succeeds=[D1])
    world.say("by command", path="", device=D1)
    world.note("", D2)

    assert world.derive("by command")[0].state == "live"


def test_a_note_row_of_another_path_takes_nothing(world):
    """Succession is decided path by path."""
    world.device(D2, succeeds=[D1])
    world.say("old words", path=PATH, device=D1)
    world.note("memory/2026-02-02.md", D2)

    assert world.derive("old words")[0].state == "live"


def test_a_ring_of_successors_hides_nothing():
    """Devices that succeed each other leave their notes standing; one outside the ring takes over both."""
    rows = [(D1, [D2]), (D2, [D1]), (D3, [D1])]

    assert successors(rows) == {D1: {D3}, D2: {D3}}


def test_the_latest_mention_decides_and_the_page_comes_last(world):
    """A later date beats an earlier one, and any note beats MEMORY.md."""
    world.say("x", date="2026-02-01", category="first", importance=0.3)
    world.say("x", date="2026-02-03", category="second", importance=0.6)
    world.say("x", date="", path="MEMORY.md", category="page", importance=0.9)

    (one,) = world.derive("x")

    assert (one.category, one.importance, one.on_page) == ("second", 0.6, True)


def test_a_minute_comes_before_its_seconds(world):
    """`10:05Z` is before `10:05:30.123Z`, whatever their order as texts, and both before `10:06Z`."""
    clocks = ["10:06Z", "10:05:30.123Z", "10:05Z"]
    for n, clock in enumerate(clocks):
        for at, text in enumerate(("one", "two")):
            if n >= at:
                world.say(text, date=f"2026-02-13T{clock}", path=f"memory/{clock}.md", category=clock)

    assert [each.category for each in world.derive("one", "two")] == ["10:06Z", "10:05:30.123Z"]


def test_equal_dates_are_ordered_by_path_then_line(world):
    """Of two mentions of one day the greater path, then the greater line, decides."""
    world.say("x", date="2026-02-01", path="memory/2026-02-01-b.md", line=1, category="b")
    world.say("x", date="2026-02-01", path="memory/2026-02-01-a.md", line=9, category="a")
    world.say("y", date="2026-02-01", line=9, category="nine")
    world.say("y", date="2026-02-01", line=10, category="ten")

    assert [each.category for each in world.derive("x", "y")] == ["b", "ten"]


def test_edits_beat_mentions_until_withdrawn(world):
    """An edit decides while its value is not NULL."""
    world.say("x", category="note", importance=0.4, kind="task", task_state="open")
    for field, value in (("category", "mine"), ("importance", "0.9"), ("done", "true")):
        edit(world, "x", field, value)
    (edited,) = world.derive("x")
    for field in ("category", "importance", "done"):
        edit(world, "x", field, None)
    (withdrawn,) = world.derive("x")

    assert (edited.category, edited.importance, edited.task_state) == ("mine", 0.9, "done")
    assert (withdrawn.category, withdrawn.importance, withdrawn.task_state) == ("note", 0.4, "open")


@pytest.mark.parametrize(("field", "state"), [("superseded_by", "superseded"), ("merged_into", "merged")])
def test_superseded_and_merged_are_states(world, field, state):
    """A fact that another one replaces or takes in is not live, though notes still say it."""
    world.say("I love rain")
    world.say("I love rain in May")
    edit(world, "I love rain", field, world.id("I love rain in May"))

    assert [each.state for each in world.derive("I love rain", "I love rain in May")] == [state, "live"]


@pytest.mark.parametrize("field", ["superseded_by", "merged_into"])
def test_what_a_later_note_still_states_is_live(world, field):
    """A link counts while the other fact stands and was not said before this one; the day decides."""
    world.say("I love rain", date=world.day(3))
    edit(world, "I love rain", field, world.id("I love rain in May"))
    nowhere = world.derive("I love rain")[0].state
    world.say("I love rain in May", date=world.day(4))
    earlier = world.derive("I love rain")[0].state
    world.say("I love rain in May", date=world.day(2))
    later = world.derive("I love rain")[0].state
    world.unsay("I love rain in May")

    assert (nowhere, earlier, later) == ("live", "live", field.split("_")[0])
    assert world.derive("I love rain")[0].state == "live"


def test_two_wordings_merged_into_each_other_leave_one(world):
    """Two devices that decided the other way round agree: the later, else the longer one stays."""
    world.say("I love rain")
    world.say("I love rains")
    edit(world, "I love rain", "merged_into", world.id("I love rains"))
    edit(world, "I love rains", "merged_into", world.id("I love rain"))

    assert [each.state for each in world.derive("I love rain", "I love rains")] == ["merged", "live"]


def test_a_wording_merged_into_a_superseded_one_is_live(world):
    """What was contradicted takes nothing with it."""
    for text in ("I love rain", "I love rain in May", "I hate rain in May"):
        world.say(text)
    edit(world, "I love rain", "merged_into", world.id("I love rain in May"))
    edit(world, "I love rain in May", "superseded_by", world.id("I hate rain in May"))

    assert [each.state for each in world.derive("I love rain", "I love rain in May")] == ["live", "superseded"]


def test_after_carries_reads_and_edits_of_retracted_wordings_only(world):
    """A reworded fact has the reads and edits of the wording it replaced, as long as that is retracted."""
    world.say("plain words")
    edit(world, "plain words", "importance", "0.9")
    with world.store.transaction() as tx:
        record_access(tx, world.agent, [world.id("plain words")], world.today)
    world.say("plainer words", importance=0.2)
    edit(world, "plainer words", "after", world.id("plain words"))
    (standing,) = world.derive("plainer words")
    world.unsay("plain words")
    (retracted,) = world.derive("plainer words")

    assert (standing.importance, standing.access_days) == (0.2, 0)
    assert (retracted.importance, retracted.access_days) == (0.9, 1)


def test_a_withdrawn_edit_hides_the_carried_one(world):
    """What the note says since beats an edit of the earlier wording."""
    world.fact("old")
    edit(world, "old", "importance", "0.9")
    world.say("new", importance=0.3)
    edit(world, "new", "after", world.id("old"))
    edit(world, "new", "importance", None)

    assert world.derive("new")[0].importance == 0.3


def test_a_ring_of_wordings_counts_each_once(world):
    """Words that were changed and changed back do not count their reads twice."""
    world.say("a")
    world.fact("b")
    with world.store.transaction() as tx:
        record_access(tx, world.agent, [world.id("a"), world.id("b")], world.today)
    edit(world, "a", "after", world.id("b"))
    edit(world, "b", "after", world.id("a"))

    assert world.derive("a")[0].access_days == 2


def test_later_wordings_are_found_for_a_whole_batch(world):
    """Whatever stands for a fact now is named, so that it is derived again with it."""
    for new, old in (("b", "a"), ("c", "b"), ("z", "y")):
        edit(world, new, "after", world.id(old))

    found = later_wordings(world.store, world.agent, [world.id("a")])

    assert sorted(found) == sorted([world.id("b"), world.id("c")])


def test_reads_of_several_devices_add_up(world):
    """Access is the sum over devices."""
    world.say("x")
    with world.store.transaction() as tx:
        record_access(tx, world.agent, [world.id("x")], world.today)
        tx.run("INSERT INTO access VALUES (?, ?, ?, 3, 1, 0)", (world.agent, world.id("x"), D2))

    assert world.derive("x")[0].access_days == 4


def test_dated_notes_give_the_creation_time_even_before_they_were_seen(world):
    """The earliest date of a dated note counts, whenever the fact was first seen."""
    world.say("x", date="2026-02-05")
    world.say("x", date="2020-01-01")

    (one,) = world.derive("x")

    assert one.created_at == 18262 * MS_PER_DAY
    assert one.latest_day == 20489


@pytest.mark.parametrize("path", ["MEMORY.md", "notes/undated.md", ""])
def test_without_a_date_first_seen_is_the_creation_time(world, path):
    """MEMORY.md, undated notes and stored facts are as old as their first sight."""
    world.say("x", date="", path=path, first_seen=18262 * MS_PER_DAY + 5)

    (one,) = world.derive("x")

    assert (one.created_at, one.latest_day) == (18262 * MS_PER_DAY + 5, 18262)


def test_retracted_facts_expire_after_ten_years(world):
    """A retracted fact is expired once ten years have gone since it was first seen."""
    world.fact("young", first_seen=world.clock.now_ms() - 3652 * MS_PER_DAY)
    world.fact("old", first_seen=world.clock.now_ms() - 3653 * MS_PER_DAY)

    assert [each.state for each in world.derive("young", "old")] == ["retracted", "expired"]


def test_stored_facts_expire_only_when_frozen_and_held_by_nobody(world):
    """A frozen stored fact of ten years is expired, not one of a note and not one in hot state."""
    then = world.clock.now_ms() - 4000 * MS_PER_DAY
    for text, path in (("stored", ""), ("noted", None), ("held", "")):
        world.say(text, date="2015-03-01", path=path, first_seen=then)
    with world.store.transaction() as tx:
        set_hot_item(tx, world.agent, "lessons", world.id("held"), "{}")

    assert [each.state for each in world.derive("stored", "noted", "held")] == ["expired", "live", "live"]


def test_a_standing_tombstone_beats_every_row(world):
    """A fact whose tombstone stands is forgotten, whatever else is there."""
    world.say("secret plan")
    with world.store.transaction() as tx:
        tx.run("INSERT INTO forgotten VALUES (?, ?, '2', '1', '', 0)", (world.agent, world.id("secret plan")))

    assert world.derive("secret plan")[0].state == "forgotten"


def test_agents_do_not_see_each_other(world):
    """The same words of another agent change nothing."""
    world.say("x", importance=0.4)
    world.agent = "robin"
    world.say("x", importance=0.9)
    world.agent = "default"

    assert world.derive("x")[0].importance == 0.4


def test_a_fact_stated_by_command_is_live(world):
    """`state_fact` makes a fact that derives as it was stated."""
    with world.store.transaction() as tx:
        state_fact(tx, world.agent, "Measure twice", "craft", 0.9, Metadata(), kind="lesson", date=world.day())

    (one,) = world.derive("Measure twice")

    assert (one.state, one.category, one.importance, one.kind) == ("live", "craft", 0.9, "lesson")
    assert one.latest_day == world.today


def test_a_batch_asks_one_query_a_table(world, monkeypatch):
    """The number of statements does not grow with the batch."""
    texts = [f"fact {n}" for n in range(50)]
    for text in texts:
        world.say(text)
    counts = []
    ask = world.store.execute

    def counting(*args):
        counts.append(args)
        return ask(*args)

    monkeypatch.setattr(world.store, "execute", counting)

    world.derive(texts[0])
    one = len(counts)
    world.derive(*texts)

    assert len(counts) - one == one

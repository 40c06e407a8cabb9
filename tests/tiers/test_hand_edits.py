"""A hand edit of the managed block always wins, and regenerating never fights it (docs/memory.md, 3)."""

from datetime import date

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memoryd.model import Metadata, ParsedMention
from memoryd.tiers.changes import Words, change_hot
from memoryd.tiers.hand_edits import (
    KEPT_BLOCKS,
    apply_changes,
    day_near,
    known_body,
    read_hand_edits,
    remember_body,
)
from memoryd.tiers.hot import hot_state
from memoryd.tiers.page import body_hash, managed_block, put_block, read_block, render
from memoryd.tiers.readback import Entry, HotChange, entries_of, read_back


def statement(text, category, importance):
    return ParsedMention(" ".join(text.split()), 0, 0, "", [], category, importance, "fact", "", Metadata())


WORDS = Words(statement, lambda text: text, lambda tx, agent_id, value: False)
BASE = """# MEMORY.md - Long-Term Context

## 🤖 Agent Identity

- **Agent Name:** Agent

## ✅ Pending Tasks

- [PENDING] Call the bank
- [PENDING] Water the plants

## 🎯 Critical Lessons

- **[craft]** Measure twice, cut once
- **[general]** Sleep well"""


def write(world, key, value):
    with world.store.transaction() as tx:
        change_hot(tx, world.agent, key, value, WORDS)
    world.settle()


def state(world):
    return hot_state(world.store, world.agent, world.today, world.settings)


def body(world):
    return render(state(world).state)


def regenerate(world, page):
    """Read hand edits back, settle, write the block anew."""
    block = read_block(page)
    strays = []
    if block is not None and not block.hash_ok:
        found = read_hand_edits(world.store, world.agent, block, body(world))
        strays = found.strays
        with world.store.transaction() as tx:
            apply_changes(tx, world.agent, found.changes, WORDS, world.clock.today())
        world.settle()
    ours = body(world)
    with world.store.transaction() as tx:
        remember_body(tx, world.agent, ours)
    return put_block(page, managed_block(ours), strays)


def test_an_unchanged_body_gives_nothing():
    """Reading back what was written finds no change."""
    assert read_back(BASE, BASE, BASE) == read_back(BASE, None, BASE)
    assert read_back(BASE, BASE, BASE).changes == []
    assert read_back(BASE, BASE, BASE).strays == []


def test_added_removed_and_changed_entries_are_found():
    """Each kind of edit becomes one change of its section."""
    theirs = (
        BASE.replace("**Agent Name:** Agent", "**Agent Name:** Heron")
        .replace("- [PENDING] Call the bank\n", "- [x] Call the bank\n- Buy oats\n")
        .replace("- [PENDING] Water the plants\n", "")
        .replace("Measure twice, cut once", "Measure thrice, cut once")
        .replace("**[general]** Sleep", "**[health]** Sleep")
    )

    changes = read_back(theirs, BASE, BASE).changes

    assert changes == [
        HotChange("change", Entry("identity", "Agent Name", "Heron")),
        HotChange("done", Entry("tasks", "Call the bank", "x")),
        HotChange("add", Entry("tasks", "Buy oats")),
        HotChange("reword", Entry("lessons", "Measure thrice, cut once", "craft"), "Measure twice, cut once"),
        HotChange("change", Entry("lessons", "Sleep well", "health")),
        HotChange("remove", Entry("tasks", "Water the plants", "pending")),
    ]


def test_with_an_unknown_base_nothing_counts_as_removed():
    """Only what is new against today's hot state comes back."""
    theirs = BASE.replace("- [PENDING] Water the plants\n", "- Buy oats\n")

    assert read_back(theirs, None, BASE).changes == [HotChange("add", Entry("tasks", "Buy oats"))]


def test_what_another_device_added_meanwhile_is_not_removed():
    """An entry that the base never had is missing in theirs for no reason of the person."""
    ours = BASE + "\n- **[general]** From the other device"
    theirs = BASE + "\n- Mine"

    assert read_back(theirs, BASE, ours).changes == [HotChange("add", Entry("lessons", "Mine"))]


def test_what_hot_state_says_already_is_no_change():
    """The same edit on two devices is made once."""
    theirs = BASE + "\n- **[general]** Mine"

    assert read_back(theirs, BASE, theirs).changes == []
    assert read_back(BASE, theirs, BASE).changes == []


def test_lines_that_are_no_entries_are_strays():
    """Prose, foreign sections and bytes that are no text move out of the block unharmed."""
    theirs = BASE + "\nJust a thought\n- ---\n\n## My own\n\n- kept\n- caf\udce9\n"

    assert read_back(theirs, BASE, BASE).strays == ["Just a thought", "- ---", "## My own", "- kept", "- caf\udce9"]


def test_indented_lines_continue_the_entry_before():
    """A wrapped lesson is one lesson."""
    theirs = BASE + "\n- A long lesson that\n  goes on"

    assert read_back(theirs, BASE, BASE).changes == [HotChange("add", Entry("lessons", "A long lesson that goes on"))]


def test_projects_are_read_with_description_and_status():
    """A project's block gives its fields."""
    text = "## 💼 Active Projects\n\n### EvoClaw\nAgent\nframework\n**Status:** Active\n\n### Bare"

    assert entries_of(text) == [Entry("projects", "EvoClaw", "Agent framework", "Active"), Entry("projects", "Bare")]


def test_a_hand_edit_reaches_hot_state_and_the_page_settles(world):
    """Every kind of edit is in hot state afterwards; regenerating again changes nothing."""
    write(world, "identity", '{"agent_name": "Agent", "tags": ["a"], "level": 3}')
    write(world, "project", '{"name": "EvoClaw", "status": "Active", "url": "x"}')
    for key, text in (("lesson", "Measure twice, cut once"), ("task", "Call the bank"), ("event", "Moved house")):
        write(world, key, f'{{"text": "{text}", "importance": 0.9}}')
    page = regenerate(world, "# Mine\n")
    edited = (
        page.replace("**Agent Name:** Agent", "**Agent Name:** Heron").replace("**Tags:** a", "**Tags:** a, b")
        .replace("**Level:** 3", "**Level:** 4").replace("**Status:** Active", "**Status:** Done")
        .replace("Measure twice", "Measure thrice").replace("[PENDING] Call", "[x] Call")
        .replace("[Feb 13]", "[Jan 02]")
        .replace("## 📅", "- Buy oats\n\n## 📅").replace("- **Level", "Hello there\n- **Level")
    )  # fmt: skip

    page = regenerate(world, edited)

    now = state(world).state
    assert now["identity"] == {"agent_name": "Heron", "tags": ["a", "b"], "level": 4}
    assert now["active_context"]["projects"] == [{"name": "EvoClaw", "status": "Done", "url": "x", "description": ""}]
    assert [each["text"] for each in now["active_context"]["tasks"]] == ["Buy oats"]
    assert now["active_context"]["events"] == [{"text": "Moved house", "timestamp": 1767312000}]
    assert [(each["text"], each["importance"]) for each in now["critical_lessons"]] == [
        ("Measure thrice, cut once", 0.9)
    ]
    assert world.tiers()["Call the bank"] != "hot"
    assert "Measure twice, cut once" not in world.tiers()
    assert page.endswith("\n\nHello there\n")
    assert regenerate(world, page) == page


def test_a_removed_line_leaves_hot_state_and_stays_a_fact(world):
    """Deleting a promoted or written line keeps it out of hot state for good."""
    write(world, "lesson", '{"text": "Sleep well"}')
    world.say("Go with SQLite", kind="decision", importance=0.9)
    world.settle()
    page = regenerate(world, "")
    lines = [line for line in page.split("\n") if "SQLite" not in line and "Sleep" not in line]

    regenerate(world, "\n".join(lines))

    assert state(world).empty
    assert world.tiers() == {"Go with SQLite": "warm", "Sleep well": "warm"}


def test_a_reworded_line_of_a_note_does_not_supersede_the_note(world):
    """A sentence that a note still states stays live; only hot state lets go of it."""
    world.say("Go with SQLite always", kind="decision", importance=0.9)
    world.settle()
    page = regenerate(world, "")

    regenerate(world, page.replace("SQLite always", "SQLite mostly"))

    assert world.tiers() == {"Go with SQLite always": "warm", "Go with SQLite mostly": "hot"}


def test_a_hand_edit_of_the_others_block_is_taken_without_its_lines_counting_as_removed(new_world):
    """A block of another device, edited by hand, has an unknown base here: additions only."""
    one, two = new_world(), new_world()
    write(one, "lesson", '{"text": "From one"}')
    write(two, "lesson", '{"text": "From two"}')
    page = regenerate(two, "")

    page = regenerate(one, page.replace("From two", "From two\n- Mine"))

    assert set(one.tiers()) == {"From one", "From two", "Mine"}
    assert regenerate(one, page) == page


def test_ticking_a_notes_task_on_the_page_finishes_it(world):
    """The task of a note is done by edit; nothing is stated a second time."""
    world.say("Call the bank", kind="task", task_state="open", importance=0.9)
    world.settle()
    page = regenerate(world, "")

    regenerate(world, page.replace("[PENDING]", "[x]"))

    assert state(world).empty
    assert world.derive("Call the bank")[0].task_state == "done"
    assert world.store.execute("SELECT count(*) FROM mentions") == [(1,)]


def test_a_task_that_is_typed_as_done_is_a_done_fact(world):
    """A finished task nobody knew becomes a fact, not a pending task."""
    write(world, "task", '{"text": "Call the bank"}')
    page = regenerate(world, "")

    regenerate(world, page.replace("- [PENDING] Call the bank", "- [PENDING] Call the bank\n- [DONE] Buy oats"))

    assert [each["text"] for each in state(world).state["active_context"]["tasks"]] == ["Call the bank"]
    assert world.derive("Buy oats")[0].task_state == "done"


def test_the_last_twenty_bodies_are_remembered(world):
    """Older bases are unknown."""
    for n in range(KEPT_BLOCKS + 5):
        with world.store.transaction() as tx:
            remember_body(tx, world.agent, f"body {n}")

    known = [known_body(world.store, world.agent, body_hash(f"body {n}")) is not None for n in range(KEPT_BLOCKS + 5)]
    assert known == [False] * 5 + [True] * KEPT_BLOCKS


def test_a_day_without_a_year_is_the_nearest_one():
    """`Dec 30` read in January is last year's; a day that does not exist is none."""
    assert day_near("Dec 30", date(2026, 1, 2)) == 1767052800
    assert day_near("Jan 02", date(2025, 12, 30)) == 1767312000
    assert day_near("Feb 31", date(2026, 1, 2)) is None


LINE = st.one_of(
    st.sampled_from(
        ["", "- a new one", "- **[x]** lesson", "- [x] Call the bank", "- [PENDING] task", "prose", "## Mine", "  more",
         "### P", "**Status:** s", "- **Key:** v", "- **Key:** w", "## 🎯 Critical Lessons", "## ✅ Pending Tasks",
         "## 💼 Active Projects", "## 🤖 Agent Identity", "- [Feb 03] event", "* star", "- <!-- c",
         "\t- deep", "- caf\udce9"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=12),
)  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=st.lists(st.tuples(st.integers(0, 40), st.booleans(), LINE), min_size=1, max_size=8))
def test_random_hand_edits_lose_nothing_and_settle_at_once(new_world, edits):
    """Whatever a person does inside the block: the next regeneration holds it, and the one after changes nothing."""
    world = new_world()
    write(world, "identity", '{"agent_name": "Agent"}')
    write(world, "lesson", '{"text": "Measure twice"}')
    write(world, "task", '{"text": "Call the bank"}')
    page = regenerate(world, "before\n") + "after\n"
    block = read_block(page)
    lines = block.body.split("\n")
    for at, delete, line in edits:
        if delete and lines:
            del lines[at % len(lines)]
        else:
            lines.insert(at % (len(lines) + 1), line)
    edited = page.replace(block.body, "\n".join(lines))

    once = regenerate(world, edited)

    assert once.startswith("before\n")
    assert once.endswith("after\n")
    assert regenerate(world, once) == once
    for line in lines:
        if line in ("prose", "## Mine", "- caf\udce9"):
            assert line in once or any("prose" in text for text in (*world.tiers(), str(state(world).state)))

"""`hot`, `tree` and `undo` change what an agent has before it, and every change can be taken back."""

import msgspec
import pytest
from memoryd.errors import NoInputError, TryLaterError, UsageError


async def lessons(mind):
    return [each["text"] for each in (await mind.ask("hot"))["critical_lessons"]]


async def tasks(mind):
    return [each["text"] for each in (await mind.ask("hot"))["active_context"]["tasks"]]


async def test_a_finished_task_leaves_hot_state_and_stays_a_fact(mind):
    """`hot --done` by text takes the task out; the fact is still found."""
    await mind.ask("hot", update=["task", '{"text": "Deploy to BSC testnet"}'])

    reply = await mind.ask("hot", done="Deploy to BSC testnet")

    assert await tasks(mind) == []
    assert reply["done"] in {each["id"] for each in await mind.ask("retrieve", query="deploy testnet")}


async def test_a_removed_lesson_leaves_hot_state_for_good(mind):
    """`hot --remove` holds although the fact is important enough to be promoted."""
    lesson = await mind.ask("hot", update=["lesson", '{"text": "Always measure twice", "importance": 0.9}'])

    await mind.ask("hot", remove=lesson["id"])

    assert await lessons(mind) == []
    assert "Always measure twice" in await mind.hits("measure twice")


async def test_done_and_remove_name_what_exists(mind):
    """Something that hot state does not hold is no input, and a lesson cannot be done."""
    await mind.ask("hot", update=["lesson", '{"text": "Measure twice"}'])

    with pytest.raises(NoInputError):
        await mind.ask("hot", remove="nothing of that name")
    with pytest.raises(UsageError):
        await mind.ask("hot", done="Measure twice")
    with pytest.raises(UsageError):
        await mind.ask("hot", done="Measure twice", remove="Measure twice")


@pytest.mark.parametrize(("command", "flag"), [("hot", "done"), ("hot", "remove"), ("tree", "remove")])
async def test_a_name_that_is_empty_is_refused_and_not_taken_for_none(mind, command, flag):
    """`hot --done "$TASK"` with an empty variable finishes nothing, and says so instead of showing the state."""
    with pytest.raises(msgspec.ValidationError, match="length >= 1"):
        await mind.ask(command, **{flag: ""})


async def test_the_tree_shows_as_the_original_shows_it(mind):
    """Title, fifty `=`, nodes with counts, and the two limits."""
    await mind.ask("tree", add=["projects/evoclaw", "EvoClaw framework"])
    await mind.ask("store", text="BSC needs raw JSON-RPC", category="projects/evoclaw/bsc")

    lines = (await mind.ask("tree", show=True)).splitlines()

    assert lines[:2] == ["Memory Tree Index", "=" * 50]
    assert any("projects/evoclaw — EvoClaw framework" in line for line in lines)
    assert any("Memories: warm=1, cold=0" in line for line in lines)
    assert lines[-2] == "Nodes: 4/50"
    assert lines[-1].startswith("Size: ")
    assert lines[-1].endswith(" / 2048 bytes")


async def test_adding_a_known_node_describes_it_anew(mind):
    """The original says `added` and keeps the old description."""
    await mind.ask("tree", add=["work", "old words"])

    assert await mind.ask("tree", add=["work", "new words"]) == {"path": "work", "added": True}
    assert "work — new words" in await mind.ask("tree", show=True)


async def test_a_node_with_facts_is_not_removed(mind):
    """The node stays and the command says why."""
    await mind.ask("store", text="Kestrel listens on 8125", category="ops/kestrel")

    with pytest.raises(UsageError):
        await mind.ask("tree", remove="ops")
    assert "ops/kestrel" in await mind.ask("tree", show=True)


async def test_prune_removes_only_what_was_empty_for_sixty_days(mind):
    """A fresh empty node stays, an old one goes, one above facts stays (docs/original.md, D7)."""
    await mind.ask("tree", add=["old/empty", "gone soon"])
    await mind.ask("tree", add=["old/full", "has a fact"])
    await mind.ask("tree", add=["above", "holds none itself"])
    await mind.ask("store", text="An old fact far below", category="above/between/below")
    mind.clock.advance(61 * 86_400)
    await mind.ask("store", text="A fact below", category="old/full/deeper")
    await mind.ask("tree", add=["fresh", "just made"])

    reply = await mind.ask("tree", prune=True)

    assert reply == {"pruned": 1, "paths": ["old/empty"]}
    shown = await mind.ask("tree", show=True)
    assert "fresh — just made" in shown
    assert "old/full/deeper" in shown
    assert "above — holds none itself" in shown
    assert "above/between/below" in shown


@pytest.mark.parametrize("path", ["", "/", "a\nb", "a/b/c/d/e"])
async def test_a_path_that_is_none_is_refused(mind, path):
    """Empty, printed over two lines, or too deep."""
    with pytest.raises(UsageError):
        await mind.ask("tree", add=[path, "words"])


async def test_undo_brings_hot_state_and_page_back_byte_for_byte(mind):
    """Each undo takes back one change; after all of them MEMORY.md says what it said."""
    await mind.ask("hot", update=["owner_profile", '{"timezone": "Australia/Sydney"}'])
    await mind.ask("hot", update=["lesson", '{"text": "Measure twice", "importance": 0.9}'])
    state, page = await mind.ask("hot"), (mind.workspace / "MEMORY.md").read_bytes()
    await mind.ask("hot", update=["owner_profile", '{"timezone": null, "work_hours": "9-17"}'])
    await mind.ask("hot", remove="Measure twice")
    assert (mind.workspace / "MEMORY.md").read_bytes() != page

    first, second = await mind.ask("undo"), await mind.ask("undo")

    assert [first["what"], second["what"]] == ["hot --remove", "hot --update owner_profile"]
    assert await mind.ask("hot") == state
    assert (mind.workspace / "MEMORY.md").read_bytes() == page


async def test_undo_takes_back_an_edit_by_hand(mind):
    """What a person took out of the block comes back, and stays."""
    await mind.ask("hot", update=["lesson", '{"text": "Measure twice"}'])
    page = mind.workspace / "MEMORY.md"
    before = page.read_bytes()
    await mind.note("MEMORY.md", before.decode().replace("- **[general]** Measure twice\n", ""))
    assert await lessons(mind) == []

    await mind.ask("undo")

    assert await lessons(mind) == ["Measure twice"]
    assert page.read_bytes() == before


async def test_undo_takes_the_facts_along_that_came_with_a_change(mind):
    """A mistyped wording is out of search, the one before is back; the page and hot state say what they said."""
    await mind.ask("hot", update=["lesson", '{"text": "Measure the board twice"}'])
    page = mind.workspace / "MEMORY.md"
    before = page.read_bytes()
    mistyped = before.decode().replace("Measure the board", "Mesure teh board").replace("twice", "twice\n- Sleep wel")
    await mind.note("MEMORY.md", mistyped)
    assert (await mind.states())["Mesure teh board twice"] == "live"

    await mind.ask("undo")

    states = await mind.states()
    assert states == {
        "Measure the board twice": "live",
        "Mesure teh board twice": "retracted",
        "Sleep wel": "retracted",
    }
    assert await mind.hits("mesure teh board sleep wel") == ["Measure the board twice"]
    assert page.read_bytes() == before
    await mind.memory.rescan()
    assert await mind.states() == states
    assert (await mind.ask("audit"))["ok"]


@pytest.mark.parametrize("how", ["a note", "a command", "before"])
async def test_undo_leaves_facts_that_something_else_states(mind, how):
    """A note, a command since, a command before."""
    if how == "before":
        await mind.ask("store", text="Measure twice", category="craft")
    await mind.ask("hot", update=["lesson", '{"text": "Measure twice"}'])
    if how == "a note":
        await mind.note("memory/2026-02-13.md", "- Measure twice\n")
    if how == "a command":
        await mind.ask("store", text="Measure twice", category="craft")

    await mind.ask("undo")

    assert await mind.states() == {"Measure twice": "live"}


async def test_what_undo_took_back_can_be_said_again(mind):
    """The empty place disturbs nobody, and the next statement takes one of its own."""
    await mind.ask("hot", update=["lesson", '{"text": "Measure twice"}'])
    await mind.ask("undo")

    await mind.ask("hot", update=["lesson", '{"text": "Measure twice"}'])
    await mind.ask("hot", update=["lesson", '{"text": "Cut once"}'])

    assert await mind.states() == {"Measure twice": "live", "Cut once": "live"}
    assert (await mind.ask("audit"))["ok"]
    assert len((await mind.ask("export"))["facts"]) == 2


async def test_undo_refuses_what_was_changed_again(mind):
    """An older change does not overwrite a later one."""
    await mind.ask("tree", add=["work", "one"])
    await mind.ask("tree", add=["work", "two"])
    older = (await mind.ask("undo", list=True))["changes"][-1]["n"]

    with pytest.raises(TryLaterError):
        await mind.ask("undo", n=older)
    assert "work — two" in await mind.ask("tree", show=True)


async def test_nothing_to_undo_is_said(mind):
    """An empty log and an unknown number are no input."""
    with pytest.raises(NoInputError):
        await mind.ask("undo")
    with pytest.raises(NoInputError):
        await mind.ask("undo", n=7)


async def test_undo_of_forget_lets_the_note_speak_again(mind):
    """The tombstone is lifted and the line that still stands is a fact again."""
    await mind.note("memory/2026-02-13.md", "- The safe stands behind the shelf\n- Another line stands here\n")
    await mind.ask("forget", text="The safe stands behind the shelf")
    assert "The safe stands behind the shelf" not in await mind.hits("safe shelf")

    reply = await mind.ask("undo")

    assert reply["notes_to_read"] == ["memory/2026-02-13.md"]
    assert "The safe stands behind the shelf" in await mind.hits("safe shelf")


async def test_the_undo_log_keeps_no_forgotten_words(mind):
    """After a forget no row of the log holds the sentence."""
    await mind.ask("hot", update=["identity", '{"motto": "The safe stands behind the shelf"}'])
    await mind.ask("store", text="The safe stands behind the shelf", category="home")

    await mind.ask("forget", text="The safe stands behind the shelf")

    for before, after in await mind.sql("SELECT before, after FROM undo_log"):
        assert "behind the shelf" not in before + after


async def test_new_lines_are_sorted_into_the_nodes_that_somebody_added(mind):
    """A line goes where its words or a heading that writes a path out point; a line with neither stays general."""
    await mind.ask("tree", add=["projects/kestrel", "The port of the old server"])
    await mind.ask("tree", add=["家里/花园", "种了什么"])

    await mind.note(
        "memory/2026-02-13.md",
        "- the kestrel gateway answers again\n- 花园里种了番茄\n- bread is out\n\n"
        "## Projects / Kestrel\n\n- moved to port 8443\n",
    )

    found = {
        each["text"]: each["category"] for each in await mind.ask("retrieve", query="kestrel 花园 bread port", limit=9)
    }
    assert found["the kestrel gateway answers again"] == "projects/kestrel"
    assert found["花园里种了番茄"] == "家里/花园"
    assert found["bread is out"] == "general"
    assert found["moved to port 8443"] == "projects/kestrel"


async def test_one_agents_tree_sorts_no_other_agents_notes(mind):
    """The nodes that robin added say nothing of the default agent's lines."""
    await mind.ask("tree", agent_id="robin", add=["projects/kestrel", "Robin's"])

    await mind.note("memory/2026-02-13.md", "- the kestrel gateway answers again\n")

    (hit,) = await mind.ask("retrieve", query="kestrel gateway")
    assert hit["category"] == "general"


async def test_a_secret_in_the_tree_is_masked_or_refused(mind):
    """A description is a text like any other; a path, which is an address, is refused and leaves no trace."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"

    await mind.ask("tree", add=["keys", f"the key {secret}"])
    with pytest.raises(UsageError, match="looks like a secret"):
        await mind.ask("tree", add=[f"keys/{secret}", "words"])

    assert secret not in await mind.ask("tree", show=True)
    assert not [row for row in await mind.sql("SELECT path, description FROM tree_nodes") if secret in "".join(row)]
    assert not [row for row in await mind.sql("SELECT what, after FROM undo_log") if secret in "".join(row)]

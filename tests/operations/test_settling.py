"""How contradictions are settled: what stays beside each other, what came last, and who may take it back."""

import json

import pytest
from memoryd.errors import NoInputError
from memoryd.operations import change_log, claims


@pytest.mark.parametrize(
    ("day_1", "day_2"),
    [
        ("# Ops\n- nginx\n  - The default timeout is 30 s\n", "# Ops\n- redis\n  - The default timeout is 5 s\n"),
        ("# Ops\n- API of billing\n  - rate limit: 100\n", "# Ops\n- API of search\n  - rate limit: 20\n"),
        ("# Ops\n- The default timeout is 30 s\n", "# Ops\n- The default timeout is 5 s\n"),
        ("# Ops\n- staging\n  - kestrel port: 81\n", "# Ops\n- live\n  - kestrel port: 82\n"),
        ("# Ops\n- live\n  - kestrel port: 81\n", "# Ops\n- kestrel port: 82\n"),
        ("- staging\n\n\t- The port of kestrel is 81 #ops\n", "# Live\n- The port of kestrel is 82 #ops\n"),
        ("# Staging\n- kestrel port: 81 #ops\n", "# Live\n- kestrel port: 82 #ops\n"),
        ("# Ops\nStaging:\n- kestrel port: 81\n", "# Ops\nLive:\n- kestrel port: 82\n"),
        ("# Ops\nTalked to Ada.\n- kestrel port: 81\n", "# Ops\nTalked to Bo.\n- kestrel port: 82\n"),
        ("# Ops\nTalked to Ada.\n\n- x y z\n- kestrel port: 81\n", "# Ops\n- kestrel port: 82\n"),
        ("# Ops\n- kestrel limit: 60 s\n", "# Ops\n- kestrel limit: 1 min\n"),
        ("# Ops\n- kestrel limit: 30 s\n", "# Ops\n- kestrel limit: 30 seconds\n"),
        ("# Ops\n- kestrel port: 81\n", "# Ops\n- ~~kestrel port: 82~~\n"),
        ("I love tea\n", "~~I hate tea~~\n"),
    ],
)
async def test_values_of_which_only_what_stands_around_them_says_whose_they_are_stay(mind, day_1, day_2):
    """A qualifier is no owner, and a line below another one or below another heading may be about something else."""
    await mind.note("memory/2026-02-10.md", day_1)
    await mind.note("memory/2026-02-12.md", day_2)

    assert (await mind.ask("consolidate"))["superseded"] == 0

    assert set((await mind.states()).values()) == {"live"}


@pytest.mark.parametrize(("first", "second"), [("I love tea", "I hate tea"), ("kestrel port: 81", "kestrel port: 82")])
@pytest.mark.parametrize("tidy", ["consolidate", "dream"])
async def test_a_note_of_a_day_to_come_supersedes_once_its_day_is_there(mind, first, second, tidy):
    """Until then both stand; and the day comes even where nothing else changes."""
    await mind.note("memory/2026-02-12.md", f"- {first}\n- x y z\n")
    await mind.note("memory/2026-02-15.md", f"- {second}\n")

    assert (await mind.ask(tidy))["superseded"] == 0
    assert set((await mind.states()).values()) == {"live"}
    mind.clock.advance(2 * 86_400)

    assert (await mind.ask("consolidate"))["superseded"] == 1
    assert (await mind.states())[first] == "superseded"


async def test_a_line_that_is_struck_through_gives_way_and_back(mind):
    """What it had superseded is current again, and what is said after it supersedes it as well."""
    await mind.note("memory/2026-02-10.md", "- kestrel port: 81\n")
    note = await mind.note("memory/2026-02-11.md", "- kestrel port: 82\n")
    assert (await mind.ask("consolidate"))["superseded"] == 1

    note.write_text("- ~~kestrel port: 82~~\n- x y z\n")
    await mind.ask("rescan")
    await mind.ask("consolidate")
    assert (await mind.states())["kestrel port: 81"] == "live"
    await mind.note("memory/2026-02-12.md", "- kestrel port: 83\n")
    await mind.ask("consolidate")

    assert {text for text, state in (await mind.states()).items() if state == "live"} == {"kestrel port: 83", "x y z"}


async def test_values_of_notes_stay_beside_each_other_in_an_import(mind, new_mind):
    """An import states them by command, but nobody stored one after the other; a later note still speaks last."""
    await mind.note("memory/2026-02-10.md", "# Ops\n- a\n  - The default timeout is 3 s\n  - kestrel port: 81\n")
    await mind.note("memory/2026-02-12.md", "# Ops\n- b\n  - The default timeout is 5 s\n  - kestrel port: 82\n")
    dump = mind.root / "dump.json"
    dump.write_text(json.dumps(await mind.ask("export")))
    other = await new_mind()
    await other.ask("import", file=str(dump))

    assert (await other.ask("consolidate"))["superseded"] == 0
    await other.note("memory/2026-02-13.md", "# Ops\n- kestrel port: 83\n")
    assert (await other.ask("consolidate"))["superseded"] == 2


async def test_what_is_stored_after_a_note_of_that_day_is_current(mind):
    """And the other way round: it counts when memoryd first saw what the note says."""
    await mind.note("memory/2026-02-13.md", "- I love tea\n")
    mind.clock.advance(7_200)
    await mind.ask("store", text="I hate tea", category="taste")
    await mind.ask("store", text="I love rain", category="taste")
    mind.clock.advance(7_200)
    await mind.note("memory/2026-02-13.md", "- I love tea\n- I hate rain\n")

    await mind.ask("consolidate")

    assert await mind.states() == {
        "I love tea": "superseded", "I hate tea": "live", "I love rain": "superseded", "I hate rain": "live",
    }  # fmt: skip


async def test_what_upkeep_settled_leaves_undo_to_what_a_person_did(mind, monkeypatch):
    """The daemon settles every two hours: that neither goes back by mistake nor pushes out a person's changes."""
    await mind.ask("hot", update=("lesson", json.dumps({"text": "Mine", "category": "x"})))
    monkeypatch.setattr(change_log, "KEPT_CHANGES", 3)
    await mind.ask("store", text="port is 1", category="ops")
    for port in range(2, 8):
        mind.clock.advance(1)
        await mind.ask("store", text=f"port is {port}", category="ops")
        await mind.ask("consolidate")

    changes = (await mind.ask("undo", list=True))["changes"]

    assert [each["what"] for each in changes] == ["upkeep: contradictions"] * 3 + ["hot --update lesson"]
    assert (await mind.ask("undo"))["what"] == "hot --update lesson"
    with pytest.raises(NoInputError):
        await mind.ask("undo")
    assert (await mind.states())["port is 6"] == "superseded"


async def test_many_contradictions_are_settled_in_parts(mind, monkeypatch):
    """Each part of whole matters in a call of its own, so that whoever asks waits for one of them only."""
    monkeypatch.setattr(claims, "FACTS_AT_ONCE", 10)
    names = [f"falcon{n:02d}" for n in range(23)]
    for day in (10, 11):
        await mind.note(f"memory/2026-02-{day}.md", "".join(f"- The port of {name} is {day}\n" for name in names))

    reply = await mind.ask("consolidate")

    assert reply["superseded"] == 23
    changes = [each["n"] for each in (await mind.ask("undo", list=True))["changes"]]
    assert [(await mind.ask("undo", n=n))["rows"] for n in changes] == [3, 5, 5, 5, 5]
    assert set((await mind.states()).values()) == {"live"}


async def test_what_upkeep_revived_gives_way_to_a_note_that_comes_late(mind):
    """Only a person's undo keeps both; and an undo keeps both even after a revival."""
    note = await mind.note("memory/2026-02-09.md", "- I love tea\n- x y z\n")
    await mind.note("memory/2026-02-10.md", "- I hate tea\n")
    await mind.ask("consolidate")
    await mind.note("memory/2026-02-11.md", "- I love tea\n")
    await mind.ask("consolidate")
    assert await mind.states() == {"I love tea": "live", "I hate tea": "superseded", "x y z": "live"}

    await mind.note("memory/2026-02-12.md", "- I hate tea\n")
    await mind.ask("consolidate")

    assert await mind.states() == {"I love tea": "superseded", "I hate tea": "live", "x y z": "live"}
    assert note.exists()
    await mind.undo_settled()
    note.write_text("- I love tea\n- x y\n")
    await mind.ask("rescan")
    await mind.ask("consolidate")
    assert {(await mind.states())[each] for each in ("I love tea", "I hate tea")} == {"live"}


@pytest.mark.parametrize("joined", [False, True])
async def test_what_is_stored_in_words_that_gave_way_is_current_again(mind, joined):
    """Whether a hand on the page reworded it or a dream joined it, and whatever it says: nothing stored is lost."""
    first, second = ("Use 150-char abstracts", "Use 150-char abstracts in briefings") if joined else (
        "Measure twice", "Measure thrice")  # fmt: skip
    for text in (first, second)[: 1 + joined]:
        await mind.ask("hot", update=["lesson", json.dumps({"text": text, "category": "craft", "importance": 0.8})])
    if joined:
        for text in (first, second):
            await mind.ask("hot", remove=text)
        await mind.ask("dream")
    else:
        page = mind.workspace / "MEMORY.md"
        page.write_text(page.read_text().replace(first, second))
        await mind.ask("rescan")
    assert (await mind.states())[first] == ("merged" if joined else "superseded")

    stored = await mind.ask("store", text=first, category="craft", importance=0.8)

    assert stored["tier"]
    assert await mind.states() == {first: "live", second: "live"}
    await mind.ask("dream")
    assert (await mind.states())[first] == "live"

"""`why`, `why-not` and the ledger of what is too large to read."""

import datetime as dt
import os

import pytest
from memoryd.config import NotesSettings, Settings
from memoryd.errors import NoInputError, UsageError
from memoryd.model import fact_id

_NOTE = (
    "---\ntitle: day\n---\n## Falcon\n- Decided to use plain tea\n  and honey\n- the door is green #house\n"
    "- password: hunter2secret\n***\n- Decided to use plain tea and honey\n- `hunter2x`: \n\n"
)
_PATH = "memory/2026-02-13.md"


@pytest.fixture
async def told(mind):
    await mind.note(_PATH, _NOTE)
    return mind


async def test_a_fact_is_explained(told):
    """Category, importance, tier and score each have a sentence, and the places are named."""
    fact = fact_id("default", "Decided to use plain tea and honey")

    reply = await told.ask("why", id=fact)

    assert (reply["state"], reply["category"], reply["importance"]) == ("live", "falcon", 0.75)
    assert reply["reasons"][0] == "It is in memory."
    assert "comes from the headings above it: Falcon" in reply["reasons"][1]
    assert "reads like a decision" in reply["reasons"][2].replace("they read", "it reads")
    assert reply["reasons"][3].startswith(f"It is {reply['tier']}: score {reply['score']:.3f} = 0.75 × exp(−")
    assert [source["lines"] for source in reply["sources"]] == [[5, 6], [10, 10]]


@pytest.mark.parametrize(
    ("line", "state", "has_fact"),
    [(1, "front_matter", False), (4, "heading", False), (5, "fact", True), (6, "continuation", True),
     (8, "fact", True), (9, "rule", False), (10, "duplicate", True), (12, "blank", False)],
)  # fmt: skip
async def test_a_line_is_explained(told, line, state, has_fact):
    """Each line has its state in words, and the fact that came of it."""
    reply = await told.ask("why", file=_PATH, line=line)

    assert (reply["line_state"], reply["line"], reply["file"]) == (state, line, _PATH)
    assert (reply["fact_id"] is not None) == has_fact
    assert reply["reasons"][0].endswith(".")


async def test_a_written_category_is_named_as_such(told):
    """A tag is a reason of its own."""
    reply = await told.ask("why", file=_PATH, line=7)

    assert "house is written in the note" in reply["reasons"][2]


async def test_a_line_that_is_not_in_yet_says_so(told):
    """Between saving and taking in, the answer is to wait, not that there is no such fact."""
    (told.workspace / "memory/2026-02-14.md").write_text("- brand new words\n")

    reply = await told.ask("why", file="memory/2026-02-14.md", line=1)

    assert reply["state"] == "waiting"
    assert "rescan" in reply["reasons"][1]


@pytest.mark.parametrize("asked", [{}, {"id": "x", "file": _PATH}, {"file": _PATH}, {"line": 3},
                                   {"file": _PATH, "line": 999}])  # fmt: skip
async def test_an_unclear_question_is_refused(told, asked):
    """One fact, or one line that exists."""
    with pytest.raises(UsageError):
        await told.ask("why", **asked)


async def test_an_unknown_fact_is_no_input(told):
    """An id that nobody knows is answered like a missing file."""
    with pytest.raises(NoInputError):
        await told.ask("why", id="0" * 16)


async def test_a_sentence_in_memory_is_not_missing(told):
    """Markup around the words does not matter."""
    reply = await told.ask("why-not", sentence="- **the door** is green")

    assert (reply["in_memory"], reply["state"]) == (True, "live")
    ((file, line, reason),) = [(place["file"], place["line"], place["reason"]) for place in reply["places"]]
    assert (file, line) == (_PATH, 7)
    assert "it is in memory" in reason


@pytest.mark.parametrize(
    ("sentence", "state", "piece"),
    [
        ("title: day", "front_matter", "Front matter"), ("Falcon", "heading", "A heading"),
        ("Decided to use plain tea", "fact", "part of a longer fact"), ("never written anywhere", None, "No file"),
        ("...", None, "no letter"), ("password: hunter2secret", "fact", "in memory"),
    ],
)  # fmt: skip
async def test_a_missing_sentence_has_a_reason(told, sentence, state, piece):
    """The state of its line, or its own words, say why it is no fact."""
    reply = await told.ask("why-not", sentence=sentence)

    assert piece in reply["reason"], reply
    assert "hunter2secret" not in str(reply)
    if state and reply["places"]:
        assert reply["places"][0]["state"] == state


async def test_forgotten_and_retracted_have_their_reasons(told):
    """What was forgotten, and what no note says any more, is told apart."""
    await told.ask("forget", text="the door is green")
    forgotten = await told.ask("why-not", sentence="the door is green")
    await told.note(_PATH, "- other words\n- Decided to use plain tea and honey\n")
    retracted = await told.ask("why-not", sentence="password: hunter2secret")

    assert (forgotten["state"], forgotten["in_memory"]) == ("forgotten", False)
    ((state, reason),) = [(place["state"], place["reason"]) for place in forgotten["places"]]
    assert state == "forgotten"
    assert "rescan" not in reason
    assert retracted["state"] == "retracted"


async def test_files_that_are_left_out_are_searched_too(told):
    """A sentence in an undated file is answered with the line that would take it in."""
    await told.note("memory/ideas.md", "- a boat for Ines\n")
    await told.note("memory/archive/2026-01-01.md", "- an old boat for Ines\n")

    undated = await told.ask("why-not", sentence="a boat for Ines")
    archived = await told.ask("why-not", sentence="an old boat for Ines")

    assert "notes.extra" in undated["reason"]
    assert "reserved" in archived["reason"]


async def test_another_agents_note_is_not_searched(told):
    """One agent never learns what another's note says."""
    await told.note("memory/robin/2026-02-13.md", "- a secret boat\n")

    reply = await told.ask("why-not", sentence="a secret boat")

    assert (reply["in_memory"], reply["places"]) == (False, [])


async def test_the_ledger_of_a_large_note_has_totals_alone(new_mind):
    """The lines of a note that is too large are counted, not listed."""
    mind = await new_mind(Settings(notes=NotesSettings(max_ingest_bytes=1_000, max_backup_bytes=5_000)))
    await mind.note(_PATH, "- a line\n" * 300)
    await mind.note("memory/2026-02-14.md", "- a line\n" * 3_000 + "no end")

    parsed, counted = [await mind.ask("ledger", file=path) for path in (_PATH, "memory/2026-02-14.md")]

    assert (parsed["lines"], parsed["totals"]) == ([], {"too_large": 300})
    assert (counted["lines"], counted["totals"]) == ([], {"too_large": 3_001})
    assert (await mind.ask("why", file=_PATH, line=2))["state"] == "too_large"


@pytest.mark.parametrize("before", [0, 10, (1 << 20) - 30, (1 << 20) + 5])
async def test_a_note_too_large_to_be_kept_is_searched_too(new_mind, before):
    """Wherever the sentence stands in it: the line and the limit are named, not that no file says it."""
    mind = await new_mind(Settings(notes=NotesSettings(max_ingest_bytes=1_000, max_backup_bytes=2_000)))
    filler = ("- hay\n" * (before // 6 + 1))[:before] + "\n"
    await mind.note(_PATH, f"{filler}- the **marmot** sings at noon\n" + "- straw\n" * 400)

    reply = await mind.ask("why-not", sentence="the marmot sings at noon")

    assert [(each["line"], each["state"]) for each in reply["places"]] == [(filler.count("\n") + 1, "too_large")]
    assert "neither parsed nor backed up" in reply["reason"]
    assert (await mind.ask("why-not", sentence="the walrus sings"))["places"] == []


async def test_validate_names_code_line_and_suggestion(told):
    """The original's strings, and beside them the details that a program needs."""
    outcome = await told.outcome("validate", file=_PATH)
    reply = outcome.reply

    assert outcome.exit_code == 1
    assert reply["warnings_count"] == len(reply["warnings"]) == len(reply["details"]) > 0
    assert ("secret", 8) in [(each.code, each.line) for each in reply["details"]]
    assert all(each.suggestion for each in reply["details"])


@pytest.mark.parametrize(
    ("name", "written", "found"),
    [
        ("2025-02-13", (2026, 2, 13), True), ("2025-02-13", (2026, 2, 15), True), ("2025-12-31", (2025, 1, 1), True),
        ("2026-02-13", (2026, 2, 13), False), ("2025-02-13", (2026, 2, 20), False), ("2024-02-29", (2025, 3, 1), True),
        ("2026-01-01", (2025, 12, 31), False), ("2025-11-13", (2026, 2, 13), False),
    ],
)  # fmt: skip
async def test_tr8_a_name_of_the_wrong_year_is_found(mind, name, written, found):
    """TR-8: month and day fit the time stamp within two days and the year does not; the day stays the name's."""
    path = f"memory/{name}.md"
    file = mind.workspace / path
    file.write_text("- tea\n")
    stamp = dt.datetime(*written, 3, 53, tzinfo=dt.UTC).timestamp()
    os.utime(file, (stamp, stamp))
    await mind.memory.rescan()

    asked = (await mind.outcome("validate", file=path)).reply

    assert [each.code for each in mind.memory.intake.records[path].findings] == ["wrong_year"] * found
    assert [each.code for each in asked.get("details", [])] == ["wrong_year"] * found
    assert await mind.sql("SELECT date FROM mentions") == [(name,)]


async def test_a_time_stamp_out_of_all_calendars_is_ignored(mind):
    """A file may carry any time stamp; its note is taken in all the same."""
    path = "memory/2026-02-13.md"
    (mind.workspace / path).write_text("- tea\n")
    os.utime(mind.workspace / path, ns=(0, 253_500_000_000 * 10**9 // 40))
    await mind.memory.rescan()

    assert mind.memory.intake.records[path].state == "ok"

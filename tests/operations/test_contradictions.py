"""TR-6: of two contradicting facts the newer is current, the older superseded with a link."""

import json

import pytest
from memoryd.operations import claims


async def test_tr6_the_newer_is_current_and_the_older_superseded_with_a_link(mind):
    """Neither both kept as equals nor both deleted; both stand in each other's history."""
    await mind.note("memory/2026-02-10.md", "- I love night trains\n")
    await mind.note("memory/2026-02-13.md", "- I hate night trains\n- I love coffee\n")

    reply = await mind.ask("consolidate")

    assert reply["superseded"] == 1
    assert await mind.states() == {
        "I love night trains": "superseded", "I hate night trains": "live", "I love coffee": "live",
    }  # fmt: skip
    assert await mind.hits("night trains") == ["I hate night trains"]
    old = await mind.ask("history", text="I love night trains")
    new = await mind.ask("history", text="I hate night trains")
    assert old["superseded_by"]["text"] == "I hate night trains"
    assert [each["text"] for each in new["supersedes"]] == ["I love night trains"]
    assert (await mind.outcome("audit")).exit_code == 0


async def test_deciding_again_changes_nothing(mind):
    """The same rows, the same answer."""
    await mind.note("memory/2026-02-13.md", "- 我喜欢咖啡\n- 我讨厌咖啡\n")
    first = await mind.ask("consolidate")

    second = await mind.ask("consolidate", mode="daily")

    assert (first["superseded"], second["superseded"]) == (1, 0)
    assert await mind.states() == {"我喜欢咖啡": "superseded", "我讨厌咖啡": "live"}


async def test_what_a_later_note_states_again_is_current_again(mind):
    """A fact that a later note still states is never superseded."""
    await mind.note("memory/2026-02-10.md", "- I love night trains\n")
    await mind.note("memory/2026-02-11.md", "- I hate night trains\n")
    await mind.ask("consolidate")
    await mind.note("memory/2026-02-13.md", "- I love night trains\n")

    await mind.ask("consolidate")

    assert await mind.states() == {"I love night trains": "live", "I hate night trains": "superseded"}


async def test_facts_stored_by_command_are_judged_by_the_day_they_were_said(mind):
    """The order of storing decides, also against a note of an earlier day."""
    await mind.note("memory/2026-02-10.md", "- Alice enjoys early meetings\n")
    await mind.ask("store", text="Alice can't stand early meetings", category="people")

    await mind.ask("consolidate")

    assert (await mind.states())["Alice enjoys early meetings"] == "superseded"


async def test_a_decision_can_be_undone(mind):
    """`undo --n` brings the older one back, for as long as nothing is said again."""
    await mind.note("memory/2026-02-13.md", "- I love night trains\n- I hate night trains\n")
    await mind.ask("consolidate")

    await mind.undo_settled()

    assert set((await mind.states()).values()) == {"live"}
    await mind.ask("consolidate")
    assert set((await mind.states()).values()) == {"live"}
    mind.clock.advance(86_400)
    await mind.note("memory/2026-02-14.md", "- I hate night trains\n")
    await mind.ask("consolidate")
    assert await mind.states() == {"I love night trains": "superseded", "I hate night trains": "live"}


async def test_what_somebody_else_said_contradicts_nobody(mind):
    """A quote in the first person is another person's."""
    await mind.note("memory/2026-02-10.md", "- I love night trains\n")
    await mind.note("memory/2026-02-13.md", "> I hate night trains\n")

    await mind.ask("consolidate")

    assert set((await mind.states()).values()) == {"live"}


async def test_an_idle_memory_is_not_read_again_for_contradictions(mind, monkeypatch):
    """Every two hours it is asked whether something contradicts; without a change no fact is looked at (WA-8)."""
    asked = []
    plain = claims._claims
    monkeypatch.setattr(claims, "_claims", lambda *a, **k: (asked.append(1), plain(*a, **k))[1])
    await mind.note("memory/2026-02-12.md", "- Robin likes tea\n")
    await mind.ask("consolidate")
    await mind.ask("consolidate")
    assert len(asked) == 1

    await mind.note("memory/2026-02-13.md", "- Robin hates tea\n")
    assert (await mind.ask("consolidate"))["superseded"] == 1


KESTREL = "The port of kestrel is "


async def test_of_two_values_of_one_thing_the_later_one_is_current(mind):
    """Stored or noted; with a link, and for as long as the later one is stated."""
    await mind.note("memory/2026-02-10.md", f"# Ops\n- {KESTREL}8081\n- The timeout of kestrel is 30 s\n")
    note = await mind.note("memory/2026-02-12.md", f"# Ops\n- {KESTREL}8082\n")
    for port in ("8081", "8082"):
        mind.clock.advance(1)
        await mind.ask("store", text=f"port is {port}", category="ops")

    assert (await mind.ask("consolidate"))["superseded"] == 2

    assert await mind.states() == {
        f"{KESTREL}8081": "superseded", f"{KESTREL}8082": "live", "The timeout of kestrel is 30 s": "live",
        "port is 8081": "superseded", "port is 8082": "live",
    }  # fmt: skip
    assert (await mind.ask("history", text="port is 8081"))["superseded_by"]["text"] == "port is 8082"
    note.write_text("# Ops\n- Nothing else today\n")
    await mind.ask("rescan")
    assert (await mind.states())[f"{KESTREL}8081"] == "live"


@pytest.mark.parametrize(
    "said",
    [
        [f"{KESTREL}8081", f"{KESTREL}8082", f"{KESTREL}8083", f"{KESTREL}8084"],
        ["I love tea", "I hate tea", "I dislike tea", "I can't stand tea"],
    ],
)
@pytest.mark.parametrize("gone", ["edited", "deleted", "forgotten"])
async def test_what_gave_way_to_a_line_that_is_gone_gives_way_to_the_next_one(mind, said, gone):
    """A link to a fact that nobody states any more is nobody's decision."""
    first, second, third, fourth = said
    await mind.note("memory/2026-02-10.md", f"# Ops\n\n- {first}\n")
    note = await mind.note("memory/2026-02-11.md", f"# Ops\n\n- {second}\n")
    await mind.ask("consolidate")
    assert (await mind.states())[first] == "superseded"

    if gone == "edited":
        note.write_text(f"# Ops\n\n- {third}\n")
    elif gone == "deleted":
        note.unlink()
    else:
        await mind.ask("forget", text=second)
    await mind.ask("rescan")
    await mind.ask("dream")
    assert (await mind.states())[first] == ("superseded" if gone == "edited" else "live")
    await mind.note("memory/2026-02-12.md", f"# Ops\n\n- {fourth}\n")
    await mind.ask("consolidate", mode="full")

    states = await mind.states()
    assert states[first] == "superseded"
    assert states[fourth] == "live"
    assert (await mind.ask("history", text=first))["superseded_by"]["text"] == fourth


async def test_values_that_may_both_hold_stay(mind):
    """On one day, of other things, in other categories, or where the lines around say whose they are."""
    await mind.note("memory/2026-02-10.md", f"# Ops\n- {KESTREL}8081\n- {KESTREL}8082\n- Merlin\n  - port is 80\n")
    await mind.note("memory/2026-02-11.md", "# Ops\n- The port of merlin is 8083\n- Osprey\n  - port is 90\n")
    await mind.note("memory/2026-02-12.md", f"# Elsewhere\n- {KESTREL}8084\n")
    await mind.ask("store", text="port is 100", category="ops")

    assert (await mind.ask("consolidate"))["superseded"] == 0

    assert set((await mind.states()).values()) == {"live"}


async def test_what_is_stored_again_is_current_again(mind):
    """Back and forth within a day: the value that was said last, at once, and the other one after it."""
    for port in ("8081", "8082", "8081", "8082", "8081"):
        mind.clock.advance(1)
        stored = await mind.ask("store", text=f"port is {port}", category="ops")
        assert stored["tier"] == "warm"
        await mind.ask("consolidate")
        live = {text for text, state in (await mind.states()).items() if state == "live"}
        assert live == {f"port is {port}"}
    assert (await mind.outcome("audit")).exit_code == 0


async def test_a_value_that_was_undone_stays_undone_until_it_is_said_again(mind):
    """`undo` leaves both; the next statement decides anew."""
    for port in ("8081", "8082"):
        mind.clock.advance(1)
        await mind.ask("store", text=f"port is {port}", category="ops")
    await mind.ask("consolidate")
    await mind.undo_settled()
    mind.clock.advance(1)
    await mind.ask("consolidate")
    assert set((await mind.states()).values()) == {"live"}

    await mind.ask("store", text="port is 8081", category="ops")
    await mind.ask("consolidate")

    assert await mind.states() == {"port is 8081": "live", "port is 8082": "superseded"}


@pytest.mark.parametrize("settled", [True, False])
async def test_a_lesson_that_is_written_again_is_current_again(mind, settled):
    """By `hot --update` as by `store`, whether the contradiction was settled in between or not."""
    for port in ("8081", "8082", "8081"):
        mind.clock.advance(61)
        await mind.ask("hot", update=["lesson", json.dumps({"text": f"{KESTREL}{port}", "category": "ops"})])
        if settled:
            await mind.ask("consolidate")

    await mind.ask("consolidate")

    assert await mind.states() == {f"{KESTREL}8081": "live", f"{KESTREL}8082": "superseded"}
    assert [each["text"] for each in (await mind.ask("hot"))["critical_lessons"]] == [f"{KESTREL}8081"]

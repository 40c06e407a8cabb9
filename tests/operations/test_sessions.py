"""Sessions: five talks of 2 KB for seven days, masked, of one agent, never sent."""

import pytest
from memoryd.errors import NoInputError, UsageError
from memoryd.store.sessions import SESSION_BYTES

DAY = 86_400


async def say(mind, text, **more):
    return await mind.ask("session", action="add", text=text, **more)


async def names(mind, **more):
    return [each["name"] for each in (await mind.ask("session", action="list", **more))["sessions"]]


async def test_turns_go_into_the_session_that_goes_on(mind):
    """Without a name the talk goes on until it is ended; then a new one begins."""
    first = await say(mind, "Which port?")
    second = await say(mind, "8080", role="agent")
    await mind.ask("session", action="end")
    third = await say(mind, "Something else")

    assert first["session"]["name"] == second["session"]["name"] != third["session"]["name"]
    shown = await mind.ask("session", action="show", name=first["session"]["name"])
    assert [(each["role"], each["text"]) for each in shown["turns"]] == [("user", "Which port?"), ("agent", "8080")]
    assert shown["session"]["ended"]


async def test_the_oldest_of_six_sessions_is_let_go(mind):
    """And is named in the reply."""
    for n in range(6):
        mind.clock.advance(60)
        last = await say(mind, "hello", name=f"talk {n}")

    assert last["let_go"] == ["talk 0"]
    assert await names(mind) == [f"talk {n}" for n in (5, 4, 3, 2, 1)]


async def test_older_turns_make_room_and_a_turn_that_never_fits_is_refused(mind):
    """A session never holds more than 2 KB of UTF-8."""
    for n in range(10):
        reply = await say(mind, f"{n}" + "é" * 150)
        assert reply["session"]["size_bytes"] <= SESSION_BYTES
    with pytest.raises(UsageError, match="2,048"):
        await say(mind, "é" * 1_025)

    shown = await mind.ask("session", action="show")
    assert reply["left_out"] == 1
    assert [each["text"][0] for each in shown["turns"]] == list("456789")
    await say(mind, "x" * SESSION_BYTES)


async def test_a_session_is_kept_for_seven_days_after_its_last_turn(mind):
    """By the UTC day: at the end of the seventh it is gone, rows and all."""
    reply = await say(mind, "hello", name="old")
    mind.clock.advance(reply["session"]["expires_at"] - mind.clock.now_ms() / 1000 - 1)
    assert await names(mind) == ["old"]

    mind.clock.advance(1)
    assert await names(mind) == []
    with pytest.raises(NoInputError):
        await mind.ask("session", action="show", name="old")
    await say(mind, "new")
    assert await mind.sql("SELECT count(*) FROM turns") == [(1,)]
    assert reply["session"]["expires_at"] % DAY == 0


async def test_agents_do_not_hear_each_other(mind):
    """Neither by list nor by name."""
    await say(mind, "mine", name="talk")
    await say(mind, "robin's", name="talk", agent_id="robin")

    shown = await mind.ask("session", agent_id="robin", action="show", name="talk")
    assert [each["text"] for each in shown["turns"]] == ["robin's"]
    assert await names(mind, agent_id="alex") == []


async def test_secrets_are_masked_and_forgotten_sentences_stay_forgotten(mind):
    """Before, and after the forgetting; nothing in the database says them."""
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
    await mind.ask("store", text="The lamp is blue", category="home")
    masked = await say(mind, f"take {token}")
    await say(mind, "As I said:\n- The **lamp** is blue\n- it is late")

    await mind.ask("forget", text="The lamp is blue")
    await say(mind, "The lamp is blue", role="agent")

    said = [each["text"] for each in (await mind.ask("session", action="show"))["turns"]]
    assert masked["masked"] == 1
    assert token not in repr(said)
    assert said[1:] == ["As I said:\n- [forgotten]\n- it is late", "[forgotten]"]
    proof = (await mind.ask("forget", text="The lamp is blue", prove=True))["proof"]
    assert proof["gone"]


async def test_only_a_summary_becomes_a_fact(mind):
    """What was said stays a talk; what it came to is stored."""
    await say(mind, "We need a port for kestrel")

    reply = await mind.ask("session", action="end", summary="Kestrel listens on 8080")

    assert list(await mind.facts()) == ["Kestrel listens on 8080"]
    assert reply["fact"] == (await mind.sql("SELECT id FROM facts"))[0][0]


@pytest.mark.parametrize("text", ["The lamp is blue", "We spoke of it:\n- The **lamp** is blue\n- it is late"])
async def test_nothing_forgotten_comes_back_as_a_summary_or_within_a_longer_text(mind, text):
    """Neither as the whole text nor as a line of it; the session goes on and nothing is stored."""
    await say(mind, "hello")
    await mind.ask("store", text="The lamp is blue", category="home")
    await mind.ask("forget", text="The lamp is blue")

    for ask in (
        lambda: mind.ask("session", action="end", summary=text),
        lambda: mind.ask("store", text=text, category="home"),
    ):
        with pytest.raises(UsageError, match="forgotten and stays so"):
            await ask()

    assert not (await mind.ask("session", action="show"))["session"]["ended"]
    assert not list(await mind.facts())


async def test_context_shows_the_latest_session(mind):
    """An agent that loads its context knows what was said last."""
    await say(mind, "old", name="a")
    mind.clock.advance(60)
    await say(mind, "Which\nport?", name="b")

    text = (await mind.ask("context"))["context"]

    assert "## Last session\n\n- user: Which port?" in text
    assert "old" not in text


async def test_ending_what_is_not_there_stores_nothing(mind):
    """One sentence, and no fact."""
    with pytest.raises(NoInputError):
        await mind.ask("session", action="end", summary="nothing was said")

    assert await mind.facts() == {}


@pytest.mark.parametrize(
    "given",
    [
        {"action": "add"},
        {"action": "add", "text": "  "},
        {"action": "show", "text": "x"},
        {"action": "add", "text": "x", "summary": "y"},
        {"action": "add", "text": "x", "name": "a\nb"},
        {"action": "add", "text": "x", "role": "a\nb"},
    ],
)
async def test_flags_that_do_not_belong_to_the_action_are_refused(mind, given):
    """Nothing is kept."""
    with pytest.raises(UsageError):
        await mind.ask("session", **given)

    assert await mind.sql("SELECT count(*) FROM turns") == [(0,)]

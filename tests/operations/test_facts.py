"""Facts by command: store, find, forget, history, ledger."""

import os

import pytest
from memoryd.config import Settings
from memoryd.errors import NoInputError, UsageError

DAY = "memory/2026-02-13.md"


async def test_storing_twice_is_one_fact_and_metadata_is_merged(mind):
    """The id comes from the words; what was given stands before what the text holds."""
    given = {"command": ["make tea"]}
    first = await mind.ask(
        "store", text="Brew with `brew tea` at https://tea.example.org", category="owner/tea", **given
    )
    second = await mind.ask("store", text="Brew with `brew tea` at https://tea.example.org", category="owner/tea")

    assert first["id"] == second["id"]
    assert first["metadata"]["commands"][0] == "make tea"
    assert first["metadata"]["urls"] == ["https://tea.example.org"]
    assert first["cold_synced"] is False


async def test_a_secret_in_a_stored_fact_is_masked(mind):
    """Nothing that was stored by command holds the secret."""
    secret = "ghp_" + "Q7x" * 12
    await mind.ask("store", text=f"The deploy token is {secret}", category="ops")

    assert secret not in repr(await mind.sql("SELECT text FROM facts"))
    assert "masked" in (await mind.hits("deploy token"))[0]


async def test_reading_counts_once_a_day(mind):
    """Two retrieves on one day count as one access, internal questions as none."""
    await mind.ask("store", text="The heron stands still", category="birds")
    for _ in range(3):
        await mind.hits("heron")
    assert await mind.sql("SELECT days FROM access") == [(1,)]

    mind.clock.advance(86_400)
    await mind.hits("heron")
    assert await mind.sql("SELECT days FROM access") == [(2,)]


async def test_a_forgotten_fact_is_gone_with_its_earlier_wordings(mind):
    """Forgetting follows the chain of rewordings; the reply names the lines that still say it."""
    await mind.note(DAY, "- The alpaca weighs 60 kg\n- The rest stays\n")
    await mind.note(DAY, "- The alpaca weighs 72 kg\n- The rest stays\n")
    reply = await mind.ask("forget", text="The alpaca weighs 72 kg")

    assert len(reply["forgotten"]) == 2
    assert reply["still_in_notes"] == [f"{DAY}:1"]
    assert await mind.hits("alpaca") == []
    await mind.ask("rescan")
    assert await mind.hits("alpaca") == []
    assert [line["state"] for line in (await mind.ask("ledger", file=DAY))["lines"]] == ["forgotten", "fact"]


async def test_a_fence_below_a_forgotten_line_is_forgotten_with_it(mind):
    """What hangs on the line is masked in the stored text too."""
    await mind.note(DAY, "- Ran the hyrax tool\n\n```sh\nhyraxtool --all\n```\n\n- The rest stays\n")
    await mind.ask("forget", text="Ran the hyrax tool")

    files = [path for path in (mind.root / "state").iterdir() if path.is_file()]
    assert not [path.name for path in files if b"hyrax" in path.read_bytes()]


async def test_history_shows_the_chain_oldest_first(mind):
    """Each wording with its state."""
    for kg in (60, 72, 75):
        await mind.note(DAY, f"- The alpaca weighs {kg} kg\n- other\n")
    reply = await mind.ask("history", text="The alpaca weighs 75 kg")

    assert [(each["text"], each["state"]) for each in reply["chain"]] == [
        ("The alpaca weighs 60 kg", "retracted"),
        ("The alpaca weighs 72 kg", "retracted"),
        ("The alpaca weighs 75 kg", "live"),
    ]


@pytest.mark.parametrize("fields", [{}, {"id": "a" * 16, "text": "both"}])
async def test_a_fact_is_named_in_exactly_one_way(mind, fields):
    """Neither, or both, is a usage error."""
    with pytest.raises(UsageError):
        await mind.ask("history", **fields)


async def test_a_fact_that_does_not_exist_is_no_input(mind):
    """Unknown ids are named as such."""
    with pytest.raises(NoInputError):
        await mind.ask("forget", id="0" * 16)


async def test_the_envelope_admits_what_may_not_be_in(mind):
    """Before any comparison with the disk the answer is stale; after one it is not (IN-2)."""
    (mind.workspace / DAY).write_text("- The whimbrel has seven whistles\n")
    before = await mind.ask("retrieve", query="whimbrel", envelope=True)
    after = await mind.ask("retrieve", query="whimbrel", envelope=True, after_write=True)

    assert before["stale"]
    assert not before["results"]
    assert not after["stale"]
    assert after["results"][0]["text"] == "The whimbrel has seven whistles"


async def test_the_envelope_admits_what_is_held_or_cannot_be_read(mind):
    """Facts of notes that vanished with all the others are given, and not as if they were certain."""
    await mind.note(DAY, "- The whimbrel has seven whistles\n")
    (mind.workspace / DAY).unlink()
    await mind.ask("rescan")
    held = await mind.ask("retrieve", query="whimbrel", envelope=True)
    (mind.workspace / DAY).write_text("- The whimbrel has seven whistles\n")
    await mind.ask("rescan")
    again = await mind.ask("retrieve", query="whimbrel", envelope=True)

    assert [len(held["results"]), held["stale"]] == [1, True]
    assert [len(again["results"]), again["stale"]] == [1, False]


async def test_a_line_that_stands_in_an_earlier_note_is_a_duplicate(mind):
    """The ledger tells a new fact from a known one."""
    await mind.note("memory/2026-02-12.md", "- Feed the cat\n")
    await mind.note(DAY, "- Feed the cat\n- Water the fern\n")
    reply = await mind.ask("ledger", file=DAY)

    assert [line["state"] for line in reply["lines"]] == ["duplicate", "fact"]
    assert reply["totals"] == {"duplicate": 1, "fact": 1}


async def test_agents_are_apart_unless_asked(mind):
    """Search, history and forget of one agent never touch another's (ST-4, S2, S3)."""
    await mind.ask("store", text="Prefers window seats", category="travel", agent_id="robin")
    await mind.ask("store", text="Prefers aisle seats", category="travel", agent_id="robin-2")

    assert await mind.hits("seats") == []
    assert await mind.hits("seats", agent_id="robin") == ["Prefers window seats"]
    assert set(await mind.hits("seats", all_agents=True)) == {"Prefers window seats", "Prefers aisle seats"}
    with pytest.raises(NoInputError):
        await mind.ask("forget", text="Prefers window seats")


@pytest.mark.parametrize("command", ["ledger", "extract-metadata", "validate"])
async def test_a_file_that_never_ends_is_no_input(mind, command):
    """A device, a pipe without a writer and a link among the notes are refused at once, by name."""
    pipe = mind.root / "pipe"
    os.mkfifo(pipe)
    link = mind.workspace / "memory" / "2026-02-20.md"
    link.symlink_to("/etc/passwd")

    for file in ("/dev/zero", str(pipe), str(link)):
        with pytest.raises(NoInputError):
            await mind.ask(command, file=file)


async def test_secrets_given_beside_a_fact_are_masked_too(mind):
    """URLs, commands and paths of `store` go through the same masks as a note's."""
    secret = "Heron16Gate" + "99"
    await mind.ask(
        "store",
        text="The shop",
        category="ops",
        url=[f"https://u:{secret}@h.example/x"],
        command=[f"db --password {secret}"],
    )
    await mind.ask("hot", update=("identity", f'{{"name": "x", "password": "{secret}"}}'))

    assert secret not in repr(await mind.sql("SELECT metadata FROM mentions"))
    assert secret not in repr(await mind.sql("SELECT value FROM hot_items"))
    assert secret not in (mind.workspace / "MEMORY.md").read_text("utf-8")


async def test_an_agent_that_differs_by_case_only_is_refused(mind):
    """On some file systems two such agents would share one page."""
    await mind.note("memory/robin/2026-02-13.md", "- said by robin\n")
    with pytest.raises(UsageError, match="case"):
        await mind.ask("store", text="Said by ROBIN", category="x", agent_id="ROBIN")


async def test_json_nested_beyond_reason_is_a_usage_error(mind):
    """Fifty thousand brackets are no reason to fail in an unknown way."""
    with pytest.raises(UsageError):
        await mind.ask("hot", update=("identity", '{"a": ' + "[" * 50_000 + "]" * 50_000 + "}"))


async def test_a_command_without_an_agent_speaks_of_the_configured_one(new_mind):
    """`agent_id` of the configuration holds for every door, the socket's too."""
    mind = await new_mind(Settings(agent_id="robin"))
    await mind.ask("store", text="Prefers window seats", category="travel")

    assert await mind.sql("SELECT agent_id FROM facts") == [("robin",)]
    assert await mind.hits("seats") == ["Prefers window seats"]
    assert await mind.hits("seats", agent_id="default") == []

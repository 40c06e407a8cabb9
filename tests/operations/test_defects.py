"""Defects of the original (docs/original.md) that memoryd must not have, each by what must hold instead.

Which test stands for which defect: tests/house/test_defects_are_covered.py.
"""

import asyncio
import json
import math
import random
from pathlib import Path

import pytest
from memoryd.cli.flags import checked, payload
from memoryd.cloud_config import cloud_token, cloud_url
from memoryd.config import Settings, TreeSettings, WarmSettings
from memoryd.errors import UsageError
from memoryd.operations.requests import HotRequest, StoreRequest
from memoryd.operations.table import OPERATIONS

HAND_WRITTEN = "# Who I am\n\n- I prefer tea over coffee\n\nSome words of my own.\n"
MODES = ["quick", "daily", "monthly", "full"]


async def test_ingesting_again_adds_no_row_here_and_none_in_the_cloud(new_mind, sqld):
    """D3: ids come from content; a second ingest and push changes nothing."""
    mind = await new_mind(url=sqld.url, token=sqld.token())
    note = await mind.note("memory/2026-02-13.md", "- Kestrel listens on 8125\n- The kettle is blue\n")
    await mind.ask("sync", wait=True)
    before = sqld.query("SELECT id, text FROM cold_memories ORDER BY id")

    note.write_text(note.read_text() + "\n")
    await mind.ask("ingest-daily")
    await mind.ask("sync", wait=True)

    assert sqld.query("SELECT id, text FROM cold_memories ORDER BY id") == before
    assert len(before) == 2


@pytest.mark.parametrize("mode", MODES)
async def test_consolidation_writes_no_byte_outside_of_its_block(mind, mode):
    """D4, TR-1: a hand-written MEMORY.md and the day's note keep every byte; the block comes behind."""
    await mind.note("MEMORY.md", HAND_WRITTEN)
    await mind.note("memory/2026-02-13.md", "- Decided to use raw JSON-RPC\n")
    before = mind.bytes_of_notes()

    await mind.ask("consolidate", mode=mode)

    after = mind.bytes_of_notes()
    assert after["MEMORY.md"].startswith(before["MEMORY.md"])
    assert after["memory/2026-02-13.md"] == before["memory/2026-02-13.md"]


@pytest.mark.parametrize("max_kb", [50, 20])
async def test_four_hundred_equal_facts_are_all_kept(new_mind, max_kb):
    """D5, D6: warm stays within its limit, what does not fit is cold, and each one is found."""
    mind = await new_mind(Settings(warm=WarmSettings(max_kb=max_kb)))
    for number in range(400):
        text = f"Item {number} of the long list tells of its number and of nothing else {'x' * 80}"
        await mind.ask("store", text=text, category="lists", importance=0.5)

    facts = await mind.facts()
    (agent,) = (await mind.ask("audit"))["agents"].values()
    tiers = [tier for _, tier in facts.values()]

    assert len(facts) == 400
    assert {state for state, _ in facts.values()} == {"live"}
    assert agent["sizes"]["warm_bytes"]["is"] <= max_kb * 1000
    assert tiers.count("warm") + tiers.count("cold") == 400
    assert (tiers.count("cold") > 0) == (max_kb == 20)
    for number in (0, 123, 399):
        assert any(text.startswith(f"Item {number} of") for text in await mind.hits(f"item {number}"))


async def test_every_line_of_an_old_and_long_note_is_read(mind):
    """D11: no window of two days, no first 3,000 characters."""
    lines = [f"- Line {number} tells of nothing but itself and its number" for number in range(200)]
    await mind.note("memory/2023-05-01.md", "\n".join(lines) + "\n")

    assert len(await mind.facts()) == 200
    assert any("Line 199 " in text for text in await mind.hits("line 199"))


async def test_a_fact_that_leaves_warm_keeps_date_reads_and_metadata(new_mind, sqld):
    """D12: archiving resets nothing, neither here nor in the cloud's table."""
    mind = await new_mind(url=sqld.url, token=sqld.token())
    await mind.note("memory/2026-02-01.md", "- The docs stand at https://a.example/x for now (importance: 0.4)\n")
    await mind.hits("docs")
    (before,) = await mind.ask("retrieve", query="docs")
    await mind.rest()
    mind.clock.advance(40 * 86_400)
    await mind.ask("consolidate")

    (after,) = await mind.ask("retrieve", query="docs")

    same = ("id", "created_at", "access_count", "metadata", "category", "sources")
    assert (before["tier"], after["tier"]) == ("warm", "cold")
    assert {name: before[name] for name in same} == {name: after[name] for name in same}
    await mind.ask("sync", wait=True)
    ((tier, created, reads, metadata),) = sqld.query(
        "SELECT tier, created_at, access_count, metadata FROM cold_memories"
    )
    assert (tier, int(created), int(reads)) == ("cold", after["created_at"], 2)
    assert json.loads(metadata)["urls"] == ["https://a.example/x"]


async def test_twenty_stores_at_once_all_survive(mind):
    """D9: one owner of state."""
    await asyncio.gather(*(mind.ask("store", text=f"Gull number {n} is white", category="birds") for n in range(20)))

    assert len(await mind.facts()) == 20


async def test_a_fact_that_is_archived_and_ingested_again_is_one_row(new_mind, sqld):
    """D15: an upsert, whatever the order."""
    mind = await new_mind(url=sqld.url, token=sqld.token())
    await mind.ask("store", text="The kettle is blue", category="home", importance=0.4)
    await mind.ask("sync", wait=True)
    mind.clock.advance(40 * 86_400)
    await mind.ask("consolidate", mode="daily")
    await mind.note("memory/2026-03-25.md", "- The kettle is blue\n")

    await mind.ask("sync", wait=True)

    assert [row[0] for row in sqld.query("SELECT text FROM cold_memories")] == ["The kettle is blue"]


def test_the_variables_of_the_originals_examples_are_read():
    """F6: TURSO_URL and TURSO_TOKEN are not exported for nobody."""
    environment = {"TURSO_URL": "libsql://a.example", "TURSO_TOKEN": "token"}

    assert cloud_url(Settings(), environment=environment) == "https://a.example"
    assert cloud_token(Settings(), environment=environment) == "token"


SEED_COMMANDS = {
    "store": {"text", "category", "importance", "url", "command", "path"},
    "retrieve": {"query", "limit", "llm", "llm_endpoint"},
    "distill": {"text", "file", "llm", "llm_endpoint", "core_summary"},
    "consolidate": {"mode", "llm_endpoint"},
    "ingest-daily": {"days", "dry_run", "llm_endpoint"},
    "sync-critical": set(),
    "metrics": set(),
    "hot": {"update", "rebuild"},
    "tree": {"show", "add", "remove", "prune"},
    "cold": {"init", "query", "limit"},
    "validate": {"file"},
    "extract-metadata": {"file"},
    "search-url": {"url", "limit"},
}


@pytest.mark.parametrize("command", SEED_COMMANDS)
def test_every_command_and_flag_of_the_original_exists(command):
    """F7: nothing documented is absent (docs/original.md)."""
    fields = set(OPERATIONS[command].request.__struct_fields__)

    assert SEED_COMMANDS[command] | {"agent_id"} <= fields


async def test_a_tree_over_its_limit_breaks_no_command(new_mind):
    """C1: a thousand categories, and add, store, show and counts go on within every limit."""
    mind = await new_mind(Settings(tree=TreeSettings(max_nodes=20)))
    chance = random.Random(1)
    lines = [f"- Fact {n} of its own kind #{'/'.join(chance.choices('abcdefghij', k=4))}{n}" for n in range(1000)]
    await mind.note("memory/2026-02-13.md", "\n".join(lines) + "\n")

    await mind.ask("tree", add=["mine", "added"])
    await mind.ask("store", text="One more fact", category="zz/yy")
    await mind.ask("consolidate", mode="monthly")
    assert await mind.hits("one more", llm=True, llm_endpoint="http://127.0.0.1:9/complete")

    found = await mind.ask("tree")
    assert "_schema_version" not in {node["path"] for node in found["nodes"]}
    assert len(found["nodes"]) <= 20
    assert found["size_bytes"] <= found["max_size_bytes"]
    assert all(len(node["children"]) <= 10 for node in found["nodes"])
    assert found["nodes"][0]["warm_count"] + found["nodes"][0]["cold_count"] == 1001


async def test_a_workspace_without_a_memory_folder_works(mind):
    """C3: nothing is missing that a command cannot do without."""
    (mind.workspace / "memory").rmdir()

    for command in ("hot", "tree", "metrics", "audit", "consolidate", "context", "rescan"):
        await mind.ask(command)
    await mind.ask("store", text="The kettle is blue", category="home")

    assert await mind.hits("kettle") == ["The kettle is blue"]


@pytest.mark.parametrize(
    "update",
    [
        ["lesson", "{"], ["lesson", "5"], ["lesson", "{}"], ["lesson", '{"text": ""}'], ["nothing", "{}"],
        ["lesson", '{"text": "x", "a": 1}'], ["lesson", '{"text": "x", "importance": 5}'],
        ["identity", "[1]"], ["project", '{"status": "x"}'],
        ["lesson", '{"text": "x", "importance": NaN}'], ["lesson", "NaN"], ["task", '{"text": "x", "status": "maybe"}'],
    ],
)  # fmt: skip
async def test_a_bad_update_of_hot_state_is_one_sentence(mind, update):
    """C3: unknown key, bad JSON, wrong shape: 64 and nothing changed."""
    before = await mind.ask("hot")

    with pytest.raises(UsageError) as refused:
        await mind.ask("hot", update=update)

    assert refused.value.message.endswith(".")
    assert refused.value.hint
    assert await mind.ask("hot") == before


async def test_what_was_asked_for_stands_before_its_neighbours(mind):
    """W1: one scale; `evoclaw ledger` does not bring the sandwich first."""
    await mind.ask("store", text="Had a sandwich for lunch", category="projects/evoclaw", importance=1.0)
    await mind.ask("store", text="The EvoClaw ledger is settled weekly", category="finance", importance=0.3)

    assert (await mind.hits("evoclaw ledger"))[0] == "The EvoClaw ledger is settled weekly"


async def test_punctuation_and_chinese_do_not_hide_words(mind):
    """W2: `deadline?` finds `Deadline is`, a Chinese word inside a sentence is found."""
    await mind.note("memory/2026-02-13.md", "- Deadline is on Friday\n- 今天玩成语接龙游戏\n")

    assert (await mind.hits("deadline?"))[0] == "Deadline is on Friday"
    assert (await mind.hits("成语"))[0] == "今天玩成语接龙游戏"


async def test_only_what_was_returned_counts_as_read(mind):
    """W3: of three matches with limit 1 one is counted, once a day, however often it is asked."""
    for number in range(3):
        await mind.ask("store", text=f"Kestrel {number} listens", category="ops")

    for _ in range(3):
        await mind.ask("retrieve", query="kestrel", limit=1)
        await mind.rest()

    assert [days for (days,) in await mind.sql("SELECT days FROM access")] == [1]


async def test_what_only_looks_like_metadata_is_none(mind):
    """W4: settings.conf is no URL, MEMORY.md no command, 2026/02/13 no path, and nothing is cut."""
    text = (
        "We changed settings.conf and MEMORY.md on 2026/02/13.\n\n"
        "Run `git clone https://a.example/r.git` as in https://a.example/wiki/Foo_(bar) or https://foo.example.org/x\n"
    )
    (mind.workspace / "talk.md").write_text(text)

    found = (await mind.ask("extract-metadata", file="talk.md"))["metadata"]

    assert set(found["urls"]) == {
        "https://a.example/wiki/Foo_(bar)", "https://foo.example.org/x", "https://a.example/r.git",
    }  # fmt: skip
    assert found["commands"] == ["git clone https://a.example/r.git"]
    assert "2026/02/13" not in found["paths"]


async def test_words_inside_of_words_name_no_category_and_no_tool(mind):
    """W4: the heading Decisions holds `ci` and is no topic of its own; influx is no FLUX, a bicycle no `ci`."""
    await mind.note("memory/2026-02-13.md", "## Decisions\n\n- The influx of bicycles is counted in social rooms\n")

    (hit,) = await mind.ask("retrieve", query="influx")
    outcome = await mind.outcome("validate", file="memory/2026-02-13.md")

    assert not {"evoclaw", "projects", "social", "technical"} & set(hit["category"].split("/"))
    assert outcome.exit_code == 0


async def test_validate_ends_with_zero_or_one(mind):
    """W5: five findings are one exit code."""
    await mind.note("memory/2026-02-12.md", "- The kettle is blue\n")
    await mind.note("memory/2026-02-13.md", "- Install ComfyUI\n- Setup Docker\n- Deploy Redis\n- Decided on FLUX\n")

    assert (await mind.outcome("validate", file="memory/2026-02-12.md")).exit_code == 0
    worse = await mind.outcome("validate", file="memory/2026-02-13.md")
    assert worse.exit_code == 1
    assert worse.reply["warnings_count"] > 1


@pytest.mark.parametrize("importance", [5, -0.1, math.nan, math.inf])
def test_an_importance_out_of_range_is_refused(importance):
    """W6: 64 with a sentence that names the flag."""
    with pytest.raises(UsageError) as refused:
        payload(StoreRequest, {"text": "x", "category": "y", "importance": importance})

    assert "--importance" in refused.value.message


@pytest.mark.parametrize("text", ["", "   ", "***", "- [ ]", "…"])
async def test_a_text_without_words_is_refused(mind, text):
    """W6: empty text is no fact."""
    with pytest.raises(UsageError):
        await mind.ask("store", **{"text": text, "category": "x"} if text else {"text": " ", "category": "x"})
    with pytest.raises(UsageError):
        checked(StoreRequest, {"text": "", "category": "x"})


def test_an_unknown_field_is_refused():
    """W6: a misspelt flag of the socket is no silent default."""
    with pytest.raises(UsageError):
        checked(HotRequest, {"updat": ["lesson", "{}"]})


async def test_many_reads_never_score_more_than_one(mind):
    """W8: fifty days of reading, and the score is capped."""
    await mind.ask("store", text="The kettle is blue", category="home", importance=0.5)
    for _ in range(50):
        await mind.hits("kettle")
        mind.clock.advance(86_400)
    await mind.note("memory/2026-04-04.md", "- The kettle is blue\n")

    (fact,) = await mind.ask("retrieve", query="kettle")

    assert fact["access_count"] == 50
    assert fact["score"] == 1.0


async def test_a_category_is_compared_by_whole_segments(mind):
    """W9: `projects/evo` is not above `projects/evoclaw`."""
    await mind.ask("store", text="A fact of the long name", category="projects/evoclaw")
    await mind.ask("tree", add=["projects/evo", "the short name"])

    found = {node["path"]: node for node in (await mind.ask("tree"))["nodes"]}

    assert found["projects/evo"]["warm_count"] == 0
    assert (await mind.ask("tree", remove="projects/evo"))["removed"]


async def test_a_secret_in_a_note_reaches_no_table(mind):
    """S1: masked before the database."""
    secret = "hunter2" + "secret"
    await mind.note(
        "memory/2026-02-13.md", f"- The password: {secret} opens it\n\n```sh\nlogin --password={secret}\n```\n"
    )

    tables = [row[0] for row in await mind.sql("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        assert secret not in str(await mind.sql(f"SELECT * FROM {table}")), table


async def test_notes_belong_to_one_agent(mind):
    """S3: nobody ingests everybody's notes."""
    await mind.note("memory/2026-02-13.md", "- Only the default agent knows\n")
    await mind.note("memory/robin/2026-02-13.md", "- Only robin knows\n")

    assert await mind.hits("knows") == ["Only the default agent knows"]
    assert await mind.hits("knows", agent_id="robin") == ["Only robin knows"]
    assert (await mind.ask("ingest-daily", agent_id="robin"))["facts_found"] == 1


def text_of(file):
    """What a file says."""
    return Path(file).read_text("utf-8")


async def test_our_own_output_among_the_notes_is_no_memory(mind):
    """TR-7: a report and an export that somebody copies into memory/ say nothing new."""
    await mind.ask("store", text="The kettle is blue", category="home")
    report = (await mind.ask("consolidate", mode="full"))["report"]
    exported = (await mind.ask("export", output=str(mind.root / "out")))["files"][1]
    before = await mind.facts()

    for day, file in (("2026-02-11", report), ("2026-02-12", exported)):
        await mind.note(f"memory/{day}.md", text_of(file))

    assert await mind.facts() == before
    ledger = await mind.ask("ledger", file="memory/2026-02-12.md")
    assert set(ledger["totals"]) <= {"own_output", "blank"}

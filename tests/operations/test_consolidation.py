"""`consolidate` and `metrics`: the memory stays in order, nothing is lost, and every number is true."""

import json
import time

import httpx
import pytest
from memoryd.config import HotSettings, LlmSettings, Settings
from memoryd.errors import ConfigError
from memoryd.operations import consolidate as consolidation
from memoryd.operations.consolidate import consolidate_daily, consolidate_quick, last_consolidated
from memoryd.operations.llm import Llm

MODES = ["quick", "daily", "monthly", "full"]
NOTE = "# Friday\n\n- Decided to use raw JSON-RPC\n- Kestrel listens on 8125\n- Kestrel listens on 8125\n"


@pytest.fixture
def model(monkeypatch):
    """A language model that answers as the test says; `model.asked` are the requests it saw."""

    class Model:
        def __init__(self):
            self.asked, self.answer = [], "[]"

        def reply(self, request):
            self.asked.append(json.loads(request.content))
            return httpx.Response(200, json={"text": self.answer})

    one = Model()
    made = Llm("http://localhost:1/complete", transport=httpx.MockTransport(one.reply))
    monkeypatch.setattr(consolidation, "llm_of", lambda *_: made)
    return one


@pytest.mark.parametrize("mode", MODES)
async def test_what_was_ingested_is_found_after_every_mode(mind, mode):
    """D1: consolidation throws nothing away."""
    await mind.note("memory/2026-02-13.md", NOTE)
    before = await mind.facts()

    await mind.ask("consolidate", mode=mode)

    assert await mind.facts() == before
    assert "Kestrel listens on 8125" in await mind.hits("kestrel")


async def test_the_report_counts_what_was_committed(mind):
    """D2: new facts and known ones since the consolidation before; a second run counts nothing."""
    await mind.note("memory/2026-02-13.md", NOTE)

    first, second = await mind.ask("consolidate", mode="daily"), await mind.ask("consolidate", mode="daily")

    assert (first["ingested_facts"], first["ingest_skipped"]) == (2, 1)
    assert (second["ingested_facts"], second["ingest_skipped"]) == (0, 0)
    assert first["mode"] == "daily"
    assert first["agent_id"] == "default"
    assert first["hot_size_bytes"] == (await mind.ask("metrics"))["hot_memory_size_bytes"]


async def test_each_mode_reports_its_own_fields(mind):
    """Quick has the six of the original and `superseded`, each deeper mode adds some."""
    replies = {mode: await mind.ask("consolidate", mode=mode) for mode in MODES}

    quick = {"mode", "agent_id", "timestamp", "evicted_warm", "archived_cold", "hot_size_bytes", "superseded"}
    daily = quick | {"ingested_facts", "ingest_skipped", "pruned_nodes"}
    monthly = daily | {"tree_rebuilt", "described_nodes", "expired"}
    assert [set(replies[mode]) for mode in MODES] == [quick, daily, monthly, monthly | {"report"}]
    assert replies["monthly"]["tree_rebuilt"] == "counts-only"


async def test_the_full_report_is_a_readable_file_outside_of_the_notes(mind):
    """It lies in the state folder, names tiers and tree, and holds no note of ours in the workspace."""
    await mind.ask("store", text="Kestrel listens on 8125", category="ops/kestrel")
    before = mind.bytes_of_notes()

    reply = await mind.ask("consolidate", mode="full")

    text = (mind.places.state / "reports").glob("*.md").__next__().read_text("utf-8")
    assert reply["report"].startswith(str(mind.places.state))
    assert "Memory Tree Index" in text
    assert "warm: 1 facts" in text
    assert mind.bytes_of_notes() == before


async def test_facts_that_leave_warm_arrive_in_cold_and_are_counted(mind):
    """D5, D6: a month and a day later the weak fact is cold, the report says one, and it is found."""
    await mind.ask("store", text="The kettle is blue", category="home", importance=0.4)
    mind.clock.advance(31 * 86_400)

    reply = await mind.ask("consolidate", mode="quick")

    assert (reply["evicted_warm"], reply["archived_cold"]) == (1, 1)
    assert (await mind.facts())["The kettle is blue"] == ("live", "cold")
    assert await mind.hits("kettle") == ["The kettle is blue"]


async def test_metrics_are_what_happened(mind):
    """Counts of reads, retrievals, evictions and consolidations, and the sizes of what is there."""
    await mind.ask("store", text="The kettle is blue", category="home", importance=0.4)
    await mind.hits("kettle")
    await mind.hits("kettle")
    await mind.hits("nothing of that kind")
    await mind.ask("consolidate")

    found = await mind.ask("metrics")

    assert found["retrieval_count"] == 3
    assert found["reinforcements_today"] == 1
    assert found["evictions_today"] == 0
    assert found["consolidation_count"] == 1
    assert found["last_consolidation"] == mind.clock.now_ms() / 1000
    assert found["warm_memory_count"] == 1
    assert found["warm_memory_size_kb"] == 0.0
    assert found["tree_node_count"] == 2
    assert found["timestamp"].startswith("2026-02-13T")


async def test_metrics_sizes_are_those_of_what_is_shown(mind):
    """F5: each size is that of the thing itself; evictions are today's, and gone tomorrow."""
    await mind.ask("store", text="The kettle is blue", category="home/kitchen", importance=0.4)
    await mind.ask("hot", update=["identity", '{"agent_name": "罗宾"}'])
    for number in range(30):
        await mind.ask("store", text=f"A weak fact of some length about shelf {number}", category="x", importance=0.4)
    mind.clock.advance(31 * 86_400)
    await mind.ask("consolidate")

    found, tree = await mind.ask("metrics"), await mind.ask("tree")
    hot = json.dumps(await mind.ask("hot"), ensure_ascii=False, separators=(",", ":")).encode()
    mind.clock.advance(86_400)
    tomorrow = await mind.ask("metrics")

    assert found["tree_index_size_bytes"] == tree["size_bytes"]
    assert found["tree_node_count"] == len(tree["nodes"])
    assert found["hot_memory_size_bytes"] == len(hot)
    assert (found["evictions_today"], tomorrow["evictions_today"]) == (31, 0)
    assert (found["warm_memory_count"], found["warm_memory_size_kb"]) == (0, 0.0)


async def test_todays_counts_begin_anew_at_local_midnight(mind, monkeypatch):
    """F3: at 23:30 in Shanghai they stand, at 0:30 they are 0; the last consolidation is set, not added."""
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    mind.clock.advance(5.5 * 3600)  # 10:00 UTC is 18:00 in Shanghai
    await mind.ask("store", text="The kettle is blue", category="home")
    await mind.hits("kettle")
    await mind.ask("consolidate")
    before = await mind.ask("metrics")
    mind.clock.advance(3600)
    await mind.ask("consolidate")
    after = await mind.ask("metrics")
    monkeypatch.undo()
    time.tzset()

    assert (before["reinforcements_today"], after["reinforcements_today"]) == (1, 0)
    assert after["retrieval_count"] == before["retrieval_count"] == 1
    assert after["last_consolidation"] == before["last_consolidation"] + 3600


async def test_saved_tokens_follow_their_formula(mind):
    """All live facts as one flat list, less hot state and tree, by four bytes a token; never below 0."""
    assert (await mind.ask("metrics"))["context_tokens_saved"] == 0
    lines = [f"The shelf {number} holds boxes of screws and bolts, sorted by size" for number in range(60)]
    await mind.note("memory/2026-02-13.md", "".join(f"- {line}\n" for line in lines))

    found = await mind.ask("metrics")

    flat = sum(len(line.encode()) + 3 for line in lines)
    loaded = found["hot_memory_size_bytes"] + found["tree_index_size_bytes"]
    assert found["context_tokens_saved"] == (flat - loaded) // 4


async def test_questions_that_were_counted_late_are_written_when_the_memory_closes(new_mind):
    """No answered question is forgotten over a restart."""
    mind = await new_mind()
    await mind.hits("nothing yet")
    await mind.close()
    await mind.open()

    assert (await mind.ask("metrics"))["retrieval_count"] == 1


async def test_a_model_describes_the_nodes_that_nobody_described(mind, model):
    """Monthly: a valid answer is taken for undescribed nodes, and only masked text was sent."""
    await mind.ask("tree", add=["home", "said by hand"])
    await mind.ask("store", text="Kestrel listens on 8125", category="ops/kestrel")
    model.answer = '```json\n[{"path": "ops/kestrel", "description": "The port of Kestrel"}]\n```'

    reply = await mind.ask("consolidate", mode="monthly")

    assert (reply["tree_rebuilt"], reply["described_nodes"]) == ("llm", 1)
    assert "ops/kestrel — The port of Kestrel" in await mind.ask("tree", show=True)
    assert "home:" not in model.asked[0]["prompt"]


@pytest.mark.parametrize(
    "answer",
    [
        "I would say that",
        "[]",
        '{"path": "ops"}',
        '[{"path": "made/up", "description": "no such node"}]',
        '[{"path": "ops", "description": ""}]',
        '[{"path": "ops", "description": "' + "x" * 101 + '"}]',
    ],
)
async def test_a_models_nonsense_changes_no_tree(mind, model, answer):
    """An answer about other nodes, too long or of another shape is refused whole."""
    await mind.ask("store", text="Kestrel listens on 8125", category="ops")
    before = await mind.ask("tree")
    model.answer = answer

    assert (await mind.ask("consolidate", mode="monthly"))["tree_rebuilt"] == "failed"
    assert await mind.ask("tree") == before


async def test_a_silent_model_is_an_error_of_its_own(new_mind):
    """Nothing listens there: the consolidation goes through and says so."""
    mind = await new_mind(Settings(llm=LlmSettings(endpoint="http://127.0.0.1:9/complete")))
    await mind.ask("store", text="Kestrel listens on 8125", category="ops")

    assert (await mind.ask("consolidate", mode="monthly"))["tree_rebuilt"] == "error"


async def test_an_endpoint_elsewhere_has_to_be_configured(mind):
    """A flag alone sends no word to another machine."""
    with pytest.raises(ConfigError):
        await mind.ask("consolidate", mode="monthly", llm_endpoint="https://models.example/complete")


async def test_the_scheduler_consolidates_every_agent(mind):
    """One call does all agents and is remembered, also for the lighter modes."""
    await mind.note("memory/robin/2026-02-13.md", "- Robin likes tea\n")
    assert await last_consolidated(mind.memory, "quick") is None

    daily = await consolidate_daily(mind.memory)
    mind.clock.advance(7200)
    await consolidate_quick(mind.memory)

    assert {each.agent_id for each in daily} == {"default", "robin"}
    assert await last_consolidated(mind.memory, "daily") == mind.clock.now_ms() / 1000 - 7200
    assert await last_consolidated(mind.memory, "quick") == mind.clock.now_ms() / 1000


async def test_hot_state_over_its_limit_leaves_the_least_important_out(new_mind):
    """D8: the limit holds and what was left out is listed in the report."""
    mind = await new_mind(Settings(hot=HotSettings(max_bytes=600)))
    for number in range(8):
        value = json.dumps({"text": f"Lesson {number} is to measure twice", "importance": 0.1 * number + 0.1})
        await mind.ask("hot", update=["lesson", value])

    for number in range(4):
        await mind.ask("hot", update=["event", json.dumps({"text": f"Event {number} of the long fair " + "x" * 40})])
        await mind.ask("hot", update=["task", json.dumps({"text": f"Task {number} of the long week " + "x" * 40})])

    reply = await mind.ask("consolidate", mode="full")

    state, rebuilt = await mind.ask("hot"), await mind.ask("hot", rebuild=True)
    kept = {each["text"] for each in state["critical_lessons"]}
    compact = json.dumps(state, ensure_ascii=False, separators=(",", ":")).encode()
    assert reply["hot_size_bytes"] == rebuilt["size_bytes"] == len(compact) <= 600
    assert any("Lesson 0" in str(each) for each in rebuilt["left_out"])
    assert not any("Lesson 7" in str(each) for each in rebuilt["left_out"])
    assert "Lesson 7 is to measure twice" in kept
    assert "Lesson 0 is to measure twice" not in kept

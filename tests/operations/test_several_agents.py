"""ST-4: agents of similar names, with the same words and hostile questions, see only their own memory."""

import json

import msgspec
import pytest
from memoryd.errors import NoInputError
from memoryd.operations.table import OPERATIONS

AGENTS = ["a", "a-b", "ab", "a_b", "b"]
SHARED = "The shared words stand here"
HOSTILE = [
    "shared", "%", "_", "*", '"', "' OR 1=1 --", "agent_id:ab", "agent : ab", "ab", "a OR ab", "shared NOT a",
    "'; DROP TABLE facts; --", 'agent_id = "ab"', "words\0ab", "NEAR(shared words)", "^shared", "shared*",
]  # fmt: skip


@pytest.fixture
async def crowd(mind):
    """Five agents: one common sentence, and one fact, lesson, URL, category and note of each one's own."""
    for agent in AGENTS:
        await mind.note(f"memory/{agent}/2026-02-13.md", f"- {SHARED}\n- Secret plan of q{agent}q #of/{agent}x\n")
        await mind.ask("store", text=f"Stored for q{agent}q https://{agent}.example/x", category=f"of/{agent}",
                       agent_id=agent)  # fmt: skip
        lesson = json.dumps({"text": f"Lesson of q{agent}q", "importance": 0.9})
        await mind.ask("hot", update=["lesson", lesson], agent_id=agent)
        await mind.ask("tree", add=[f"node/{agent}", f"Described by q{agent}q"], agent_id=agent)
    return mind


async def everything(mind, agent):
    """All that one agent is shown by commands that read, as text."""
    questions = {
        "hot": {}, "tree": {"show": True}, "search-url": {"all": True}, "export": {}, "metrics": {},
        "context": {"query": "shared secret stored lesson"}, "consolidate": {"mode": "daily"},
        "ingest-daily": {"days": 90}, "undo": {"list": True}, "task": {"action": "list"}, "session": {"action": "list"},
        "retrieve": {"query": "shared secret stored lesson plan", "limit": 100, "explain": True},
    }  # fmt: skip
    seen = []
    for command, fields in questions.items():
        seen.append(json.dumps(await mind.ask(command, agent_id=agent, **fields), ensure_ascii=False))
    return "\n".join(seen)


@pytest.mark.parametrize("agent", AGENTS)
async def test_st4_an_agent_is_shown_nothing_of_its_neighbours(crowd, agent):
    """Every reading command: its own words are there, no other's are."""
    seen = await everything(crowd, agent)

    assert f"Secret plan of q{agent}q" in seen
    assert f"Lesson of q{agent}q" in seen
    assert f"Described by q{agent}q" in seen
    assert [other for other in AGENTS if other != agent and f"q{other}q" in seen] == []


async def test_st4_hostile_questions_find_only_ones_own(crowd):
    """Signs of SQL, of the index and of patterns are words to look for."""
    for query in HOSTILE:
        found = await crowd.ask("retrieve", query=query, limit=100, agent_id="a")
        assert {hit["agent_id"] for hit in found} <= {"a"}, query
        assert not any(f"q{other}q" in hit["text"] for hit in found for other in AGENTS if other != "a"), query
        urls = await crowd.ask("search-url", url=query, limit=100, agent_id="a")
        assert not any("ab.example" in str(hit["metadata"]) for hit in urls["results"]), query


async def test_st4_an_id_of_another_agent_is_no_fact_here(crowd):
    """`history`, `why` and `forget` by another's id: 66, and the other keeps its fact."""
    (theirs,) = [
        hit for hit in await crowd.ask("retrieve", query="secret plan", agent_id="ab") if "Secret" in hit["text"]
    ]

    for command in ("history", "why", "forget"):
        with pytest.raises(NoInputError):
            await crowd.ask(command, id=theirs["id"], agent_id="a")
    await crowd.ask("forget", text=SHARED, agent_id="a")

    assert SHARED not in await crowd.hits("shared words", agent_id="a")
    for other in AGENTS[1:]:
        assert SHARED in await crowd.hits("shared words", agent_id=other)


async def test_st4_all_agents_sees_everybody_and_says_who(crowd):
    """Asked for, and only then: the same sentence once an agent, each with its owner."""
    found = await crowd.ask("retrieve", query="shared words", limit=100, all_agents=True, agent_id="a")

    owners = [hit["agent_id"] for hit in found if hit["text"] == SHARED]
    assert sorted(owners) == sorted(AGENTS)
    assert len({hit["id"] for hit in found if hit["text"] == SHARED}) == len(AGENTS)


async def test_st4_what_one_agent_changes_is_nobody_elses(crowd):
    """Undo, hot --remove, tree --remove and consolidation of one agent leave the others as they are."""
    before = {agent: (await crowd.ask("hot", agent_id=agent), await crowd.ask("tree", agent_id=agent))
              for agent in AGENTS[1:]}  # fmt: skip

    await crowd.ask("hot", remove="Lesson of qaq", agent_id="a")
    await crowd.ask("tree", remove="node/a", agent_id="a")
    await crowd.ask("consolidate", mode="full", agent_id="a")
    await crowd.ask("undo", agent_id="a")

    for agent, (hot, tree) in before.items():
        assert await crowd.ask("hot", agent_id=agent) == hot
        assert await crowd.ask("tree", agent_id=agent) == tree


@pytest.mark.parametrize(
    "agent", ["a/b", "..", ".", " ", "a b", "-a", "_a", "ä", "a" * 65, "' OR 1=1 --", "a\n", "a\0"]
)
def test_st4_an_unsafe_agent_id_is_refused_by_every_command(agent):
    """Refused by its own field, never rewritten."""
    for operation in OPERATIONS.values():
        with pytest.raises(msgspec.ValidationError, match="agent_id"):
            msgspec.convert({"agent_id": agent}, operation.request)


async def test_st4_ids_that_differ_by_case_only_are_refused(crowd):
    """On some file systems `A` and `a` would share one page."""
    with pytest.raises(Exception, match="case only"):
        await crowd.ask("hot", agent_id="AB")

"""`sync-critical`, `cold` and `import-legacy --cloud` against a real server: success is said only when it is one."""

import json

import pytest
from memoryd.errors import AuthRequiredError, UnavailableError

COLD = (
    "CREATE TABLE cold_memories (id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, text TEXT NOT NULL, category TEXT NOT"
    " NULL, importance REAL DEFAULT 0.5, created_at INTEGER NOT NULL, access_count INTEGER DEFAULT 0)"
)
CRITICAL = "CREATE TABLE critical_state (agent_id TEXT PRIMARY KEY, data TEXT NOT NULL, updated_at INTEGER NOT NULL)"
FIRST_COLD = COLD.replace("agent_id TEXT NOT NULL, ", "")


@pytest.fixture
async def clouded(new_mind, sqld):
    """A memory with a cloud of its own."""
    return await new_mind(url=sqld.url, token=sqld.token())


async def test_critical_sync_is_said_when_the_cloud_holds_the_state(clouded, sqld):
    """Hot state and the whole tree are there, both complete (docs/original.md, D10)."""
    await clouded.ask("store", text="Kestrel listens on 8125", category="ops/kestrel")
    await clouded.ask("hot", update=["identity", '{"agent_name": "Robin"}'])

    reply = await clouded.ask("sync-critical")

    ((data, at),) = sqld.query("SELECT data, updated_at FROM critical_state WHERE agent_id = 'default'")
    state = json.loads(data)
    assert reply == {"synced": True, "timestamp": clouded.clock.now_ms() / 1000}
    assert state["hot_state"]["identity"] == {"agent_name": "Robin"}
    assert {"root", "ops", "ops/kestrel", "_schema_version"} <= state["tree_nodes"].keys()
    assert int(at) == clouded.clock.now_ms() // 1000


async def test_an_update_of_hot_state_leaves_the_clouds_tree_whole(clouded, sqld):
    """D10: `hot --update` and a push after it never put an empty tree, or one item alone, in its place."""
    await clouded.ask("store", text="Kestrel listens on 8125", category="ops/kestrel")
    await clouded.ask("hot", update=["lesson", '{"text": "Measure twice", "importance": 0.9}'])
    await clouded.ask("sync", wait=True)

    await clouded.ask("hot", update=["identity", '{"agent_name": "Robin"}'])
    await clouded.ask("sync", wait=True)

    ((data,),) = sqld.query("SELECT data FROM critical_state WHERE agent_id = 'default'")
    state = json.loads(data)
    assert "ops/kestrel" in state["tree_nodes"]
    assert state["hot_state"]["identity"] == {"agent_name": "Robin"}
    assert [each["text"] for each in state["hot_state"]["critical_lessons"]] == ["Measure twice"]


async def test_a_fresh_install_syncs_its_empty_state(clouded, sqld):
    """Nothing to say yet is no failure (docs/original.md)."""
    assert (await clouded.ask("sync-critical"))["synced"]
    ((data,),) = sqld.query("SELECT data FROM critical_state")
    assert json.loads(data)["hot_state"]["identity"] == {}


async def test_a_cloud_that_is_gone_is_an_error(clouded, sqld):
    """F4: no exit 0, no empty answer; but what is known here is given and marked."""
    await clouded.ask("store", text="Kestrel listens on 8125", category="ops")
    sqld.kill()

    with pytest.raises(UnavailableError):
        await clouded.ask("sync-critical")
    with pytest.raises(UnavailableError):
        await clouded.ask("cold", query="nothing of that kind")
    (row,) = await clouded.ask("cold", query="kestrel")
    assert row["answered_by"] == "local"


async def test_a_refused_token_is_an_error(new_mind, sqld):
    """The cloud's 401 is not an empty result."""
    mind = await new_mind(url=sqld.url, token="none")

    with pytest.raises(AuthRequiredError):
        await mind.ask("cold", init=True)


async def test_cold_makes_its_tables_and_answers(clouded, sqld):
    """`--init`, then a query over the cloud's copy: all words, best first, at most `--limit`."""
    assert await clouded.ask("cold", init=True) == {"initialized": True}
    for number in range(3):
        await clouded.ask(
            "store", text=f"Kestrel {number} listens on 812{number}", category="ops", importance=0.3 + number / 10
        )
    await clouded.ask("sync", wait=True)

    rows = await clouded.ask("cold", query="LISTENS kestrel", limit=2)

    assert [row["text"] for row in rows] == ["Kestrel 2 listens on 8122", "Kestrel 1 listens on 8121"]
    assert all(row["answered_by"] == "cloud" for row in rows)
    assert all(isinstance(row["created_at"], int) for row in rows)
    assert await clouded.ask("cold", query="kestrel nowhere") == []


@pytest.mark.parametrize(
    "query", ["x' OR '1'='1", "') UNION SELECT id,text,category,1,1,1 FROM cold_memories --", "%", "_"]
)
async def test_a_hostile_query_reads_no_other_agents_rows(clouded, query):
    """S2: agent-1 never gets agent-2's row, and wildcards are letters."""
    await clouded.ask("store", text="Only agent two knows this", category="x", agent_id="agent-2")
    await clouded.ask("store", text="Agent one knows that", category="x", agent_id="agent-1")
    await clouded.ask("sync", wait=True)

    assert await clouded.ask("cold", query=query, agent_id="agent-1") == []
    own = await clouded.ask("cold", query="knows", agent_id="agent-1")
    assert [row["text"] for row in own] == ["Agent one knows that"]


async def test_the_originals_cloud_rows_are_taken_in_once(clouded, sqld):
    """Dates and counts kept, doubled rows merged, invalid agents named, hot state and tree from critical_state."""
    sqld.query(COLD)
    sqld.query(CRITICAL)
    sqld.query(
        "INSERT INTO cold_memories VALUES ('a1', 'default', 'An archived fact', 'old/things', 0.6, 1707350400, 4)"
    )
    sqld.query(
        "INSERT INTO cold_memories VALUES ('a2', 'default', 'An archived fact', 'old/things', 0.6, 1707350400, 0)"
    )
    sqld.query("INSERT INTO cold_memories VALUES ('a3', 'a/b', 'Of a strange agent', 'x', 0.6, 1707350400, 0)")
    state = {"hot_state": {"identity": {"name": "Robin"}}, "tree_nodes": {"old": {"desc": "Old matters"}}}
    sqld.query(f"INSERT INTO critical_state VALUES ('default', '{json.dumps(state)}', 1707350400)")

    first = await clouded.ask("import-legacy", cloud=True)
    await clouded.ask("sync", wait=True)
    second = await clouded.ask("import-legacy", cloud=True)

    (fact,) = await clouded.ask("retrieve", query="archived fact")
    assert (fact["created_at"], fact["access_count"], fact["category"]) == (1_707_350_400, 4, "old/things")
    assert (first["facts"], first["already_there"], first["hot_items"], first["tree_nodes"]) == (1, 1, 1, 1)
    assert any("a/b" in each for each in first["notices"])
    assert (second["facts"], second["hot_items"], second["tree_nodes"]) == (0, 0, 0)
    assert [row["text"] for row in await clouded.ask("cold", query="archived")] == ["An archived fact"]


async def test_the_first_versions_cloud_table_is_migrated_and_kept(clouded, sqld):
    """Rows without an agent belong to `default`; the old table stays under another name."""
    sqld.query(FIRST_COLD)
    sqld.query("INSERT INTO cold_memories VALUES ('a1', 'An archived fact', 'old/things', 0.6, 1707350400, 0)")

    reply = await clouded.ask("import-legacy", cloud=True)
    await clouded.ask("sync", wait=True)

    assert reply["facts"] == 1
    assert sqld.query("SELECT id FROM cold_memories_v1") == [["a1"]]
    assert await clouded.hits("archived") == ["An archived fact"]

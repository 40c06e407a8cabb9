"""Push, pull and picture against a real server."""

import base64
import json
import zlib

from memoryd.model import fact_id
from memoryd.store.forget import forget_fact
from memoryd.store.versions import set_edit, set_hot_item, set_tree_node

AGENT = "default"


def payloads(sqld):
    """All segments, unpacked."""
    rows = sqld.query("SELECT payload FROM segments ORDER BY device, idx")
    return [zlib.decompress(base64.b64decode(row[0] + "==")) for row in rows]


async def test_what_one_device_writes_another_one_knows(peer, sqld):
    """Facts, mentions, edits, hot items and tree nodes of one device arrive at the other."""
    one, two = await peer("one"), await peer("two")
    await one.note("memory/2026-02-13.md", "The heron fishes\n今天下雨\n")
    fact = fact_id(AGENT, "The heron fishes")
    await one.write(lambda tx: set_edit(tx, AGENT, fact, "importance", "0.9"))
    await one.write(lambda tx: set_hot_item(tx, AGENT, "projects", "memoryd", '{"name":"memoryd"}'))
    await one.write(lambda tx: set_tree_node(tx, AGENT, "birds", "All birds"))

    sent = await one.sync.exchange()
    came = await two.sync.exchange()

    assert sent.pushed == 10
    assert came.pulled == 10
    assert await two.texts() == {"The heron fishes", "今天下雨"}
    for table in ("facts", "mentions", "edits", "hot_items", "tree_nodes"):
        columns = "*" if table != "facts" else "agent_id, id, text, first_seen, rev"
        mine, theirs = [await each.rows(f"SELECT {columns} FROM {table}") for each in (one, two)]
        assert [row[:-1] for row in sorted(mine)] == [row[:-1] for row in sorted(theirs)], table
        assert {row[-1] for row in theirs} == {0}
    assert await two.rows("SELECT count(*) FROM chunks") == [(0,)]
    assert one.sync.status.state == "ok"
    assert one.sync.status.pending_rows == 0
    assert one.sync.status.memory_hash


async def test_equal_hashes_mean_equal_memories(peer):
    """After both exchanged with each other, two devices show the same memory hash, and an unsent row hides it."""
    one, two = await peer("one"), await peer("two")
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    for each in (one, two, one, two):
        await each.sync.exchange()
    assert one.sync.status.memory_hash == two.sync.status.memory_hash

    await two.note("memory/2026-02-14.md", "The ibis came\n")
    await two.sync.count()
    assert two.sync.status.memory_hash is None
    assert two.sync.status.state == "pending"


async def test_an_exchange_without_changes_sends_nothing(peer, sqld):
    """A second exchange writes neither a segment nor the picture."""
    one = await peer()
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    await one.sync.exchange()
    again = await one.sync.exchange()
    assert (again.pushed, again.pulled, again.drawn) == (0, 0, 0)
    assert sqld.query("SELECT count(*) FROM segments") == [["1"]]


async def test_the_picture_has_the_seeds_columns_and_units(peer, sqld):
    """cold_memories holds each fact with epoch seconds and metadata, critical_state the agent's state."""
    one = await peer()
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    await one.sync.exchange()
    columns = "id, agent_id, text, category, importance, created_at, access_count, tier, metadata"
    (row,) = sqld.query(f"SELECT {columns} FROM cold_memories")
    fact = fact_id(AGENT, "The heron fishes")
    assert row[:8] == [fact, AGENT, "The heron fishes", "birds", 0.5, "1770940800", "0", "warm"]
    assert json.loads(row[8])["urls"] == ["https://a.example/1"]
    ((data, updated),) = sqld.query("SELECT data, updated_at FROM critical_state WHERE agent_id = 'default'")
    assert json.loads(data)["hot_state"] == {"facts": 1}
    assert int(updated) == one.clock.now_ms() // 1000


async def test_a_retracted_fact_says_so_in_the_picture(peer, sqld):
    """The tier column shows the state of a fact that is not live."""
    one = await peer()
    await one.note("memory/2026-02-13.md", "The heron fishes\nThe ibis came\n")
    await one.sync.exchange()
    await one.note("memory/2026-02-13.md", "The ibis came\n")
    done = await one.sync.exchange()
    assert done.drawn == 1 or done.drawn == 2
    assert sqld.query("SELECT tier FROM cold_memories WHERE text LIKE '%heron%'") == [["retracted"]]


async def test_forgetting_leaves_no_byte_of_the_words_in_the_cloud(peer, sqld):
    """The log becomes one snapshot without the words, the older segments and the picture row go."""
    one, two = await peer("one"), await peer("two")
    await one.note("memory/2026-02-13.md", "The code word is hyrax\nThe rest stays\n")
    await one.sync.exchange()
    await two.sync.exchange()
    await one.write(lambda tx: forget_fact(tx, AGENT, fact_id(AGENT, "The code word is hyrax")))
    await one.sync.exchange()

    assert not [each for each in payloads(sqld) if b"hyrax" in each]
    assert sqld.query("SELECT count(*) FROM segments WHERE device = '%s' AND first IS NULL" % await one.device()) == [
        ["0"]
    ]
    assert sqld.query("SELECT text FROM cold_memories") == [["The rest stays"]]
    assert await one.rows("SELECT count(*) FROM duties WHERE kind = 'snapshot'") == [(0,)]

    await two.sync.exchange()
    assert await two.texts() == {"The rest stays"}
    assert await two.rows("SELECT count(*) FROM facts WHERE text LIKE '%hyrax%'") == [(0,)]
    third = await peer("three")
    await third.sync.exchange()
    assert await third.texts() == {"The rest stays"}


async def test_a_forgotten_sentence_stays_forgotten_on_a_device_that_states_it_later(peer, sqld):
    """A second device that ingests the same line meets the tombstone and stays silent."""
    one, two = await peer("one"), await peer("two")
    await one.note("memory/2026-02-13.md", "The code word is hyrax\n")
    await one.write(lambda tx: forget_fact(tx, AGENT, fact_id(AGENT, "The code word is hyrax")))
    await one.sync.exchange()
    await two.note("memory/2026-02-13.md", "The code word is hyrax\n")
    await two.sync.exchange()
    await two.sync.exchange()
    assert await two.texts() == set()
    assert not [each for each in payloads(sqld) if b"hyrax" in each]

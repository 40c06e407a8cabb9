"""What goes wrong between a device and a real server: nothing is lost, nothing doubled, and status says so."""

import asyncio
import contextlib
import shutil

import httpx
import pytest
from memoryd.errors import AuthRequiredError, CloudStoppedError, ReadOnlyError, UnavailableError
from memoryd.model import fact_id
from memoryd.store.forget import forget_fact
from memoryd.store.rekey import take_over
from memoryd.sync.verify import verify

AGENT = "default"


class LosesReplies(httpx.AsyncBaseTransport):
    """Lets every write through to the server and then pretends that no answer came."""

    def __init__(self):
        self.real = httpx.AsyncHTTPTransport()
        self.active = True
        self.lost = 0

    async def handle_async_request(self, request):
        response = await self.real.handle_async_request(request)
        if self.active and b"INSERT INTO segments" in request.content:
            await response.aread()
            self.lost += 1
            raise httpx.ReadError("the connection was cut")
        return response

    async def aclose(self):
        await self.real.aclose()


async def test_a_lost_reply_is_no_lost_and_no_doubled_segment(peer, sqld):
    """The segment was committed, the answer never came: the next exchange counts it and goes on under the same id."""
    one = await peer()
    transport = LosesReplies()
    real, one.sync.client._http = (
        one.sync.client._http,
        httpx.AsyncClient(transport=transport, headers={"Authorization": f"Bearer {sqld.token()}"}),
    )
    await real.aclose()
    device = await one.device()
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    with pytest.raises(UnavailableError):
        await one.sync.exchange()
    assert one.sync.status.state == "backoff"
    assert one.sync.status.pending_rows > 0
    transport.active = False
    await one.note("memory/2026-02-13.md", "The heron fishes\nThe ibis came\n")
    await one.sync.exchange()

    assert transport.lost == 1
    assert await one.device() == device
    assert sqld.query("SELECT idx FROM segments ORDER BY idx") == [["1"], ["2"]]
    assert (one.sync.status.state, one.sync.status.pending_rows) == ("ok", 0)
    assert (await verify(one.sync, deep=True)).equal
    two = await peer("two")
    await two.sync.exchange()
    assert await two.texts() == {"The heron fishes", "The ibis came"}


async def test_a_server_that_is_killed_again_and_again_costs_only_time(peer, sqld):
    """After five power cuts in the middle of exchanges everything is there once."""
    one = await peer()
    for n in range(5):
        await one.note(f"memory/2026-02-0{n + 1}.md", f"Sighting {n}\n")
        running = asyncio.create_task(one.sync.exchange())
        await asyncio.sleep(0.01 * n)
        sqld.kill()
        with contextlib.suppress(UnavailableError):
            await running
        await asyncio.to_thread(sqld.start)
    await one.sync.exchange()
    assert sqld.query("SELECT count(DISTINCT device) FROM segments") == [["1"]]
    assert sqld.query("SELECT count(*), count(DISTINCT text) FROM cold_memories") == [["5", "5"]]
    assert (await verify(one.sync, deep=True)).equal


async def test_a_frozen_server_blocks_nothing_else(peer, sqld):
    """While an exchange waits for a server that never answers, the store serves everybody, and the wait ends."""
    one = await peer(read_timeout_s=0.4)
    sqld.freeze()
    await one.note("memory/2026-02-13.md", "The ibis came\n")
    running = asyncio.create_task(one.sync.exchange())
    await asyncio.sleep(0.05)
    assert await asyncio.wait_for(one.texts(), 0.2) == {"The ibis came"}
    with pytest.raises(UnavailableError):
        await running
    assert one.sync.status.state == "backoff"
    assert one.sync.status.pending_rows > 0
    sqld.thaw()
    await one.sync.exchange()
    assert one.sync.status.state == "ok"


async def test_an_expired_token_asks_for_a_new_one(peer, sqld):
    """The state is auth_required, local work goes on, nothing is lost."""
    one = await peer(token=sqld.token(lives_s=-3600))
    await one.note("memory/2026-02-13.md", "The otter remembers\n")
    with pytest.raises(AuthRequiredError) as caught:
        await one.sync.exchange()
    assert one.sync.status.state == "auth_required"
    assert sqld.token(lives_s=-3600)[:20] not in str(caught.value)
    assert await one.texts() == {"The otter remembers"}


async def test_a_read_only_token_still_pulls(peer, sqld):
    """A device that may only read takes in what others write, and says that it cannot send."""
    one = await peer("one")
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    await one.sync.exchange()
    two = await peer("two", token=sqld.token("ro"))
    with pytest.raises(ReadOnlyError):
        await two.sync.exchange()
    assert two.sync.status.state == "read_only"
    assert await two.texts() == {"The heron fishes"}


async def test_a_read_only_token_on_an_empty_cloud_makes_nothing(peer, sqld):
    """Only a push makes the schema."""
    one = await peer(token=sqld.token("ro"))
    with pytest.raises(ReadOnlyError):
        await one.sync.exchange()
    assert sqld.query("SELECT count(*) FROM sqlite_master WHERE name = 'segments'") == [["0"]]


async def test_a_wiped_cloud_stops_sync_and_keeps_the_memory(peer, sqld):
    """An emptied cloud is not filled again without asking, and nothing local is deleted."""
    one = await peer()
    await one.note("memory/2026-02-13.md", "The dotterel stays\n")
    await one.sync.exchange()
    sqld.stop()
    shutil.rmtree(sqld.folder / "db")
    sqld.start()
    await one.note("memory/2026-02-14.md", "Something new\n")
    with pytest.raises(CloudStoppedError):
        await one.sync.exchange()
    assert one.sync.status.state == "stopped"
    assert await one.texts() == {"The dotterel stays", "Something new"}
    assert sqld.query("SELECT count(*) FROM sqlite_master WHERE name = 'segments'") == [["0"]]
    assert not (await verify(one.sync)).equal


async def test_a_cloud_without_its_meta_row_is_stopped_and_written_no_more(peer, sqld):
    """Neither a segment nor the picture is written."""
    one = await peer()
    await one.note("memory/2026-02-13.md", "The twite sings\n")
    await one.sync.exchange()
    sqld.query("DELETE FROM meta")
    await one.note("memory/2026-02-14.md", "The linnet too\n")
    with pytest.raises(CloudStoppedError):
        await one.sync.exchange()
    assert sqld.query("SELECT count(*) FROM segments") == [["1"]]
    assert sqld.query("SELECT count(*) FROM cold_memories WHERE text LIKE '%linnet%'") == [["0"]]


async def test_a_cloud_that_was_set_back_stops_its_writer_and_its_readers(peer, sqld):
    """A log that lost its last segment is noticed by the device that wrote it and by the one that folded it."""
    one, two = await peer("one"), await peer("two")
    for n in range(3):
        await one.note("memory/2026-02-13.md", f"Line {n}\n")
        await one.sync.exchange()
    await two.sync.exchange()
    sqld.query("DELETE FROM segments WHERE idx = 3 AND device = '%s'" % await one.device())
    for each in (one, two):
        with pytest.raises(CloudStoppedError):
            await each.sync.exchange()
        assert each.sync.status.state == "stopped"
    assert await two.texts() == {"Line 2"}


async def test_a_copied_database_takes_a_new_id_and_loses_nothing(peer, sqld, tmp_path):
    """Two machines with one id: each becomes a device of its own that succeeds the shared one."""
    one = await peer("one")
    await one.note("memory/2026-02-13.md", "Both have this\n")
    await one.sync.exchange()
    await one.call(lambda store: store.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
    (tmp_path / "copy").mkdir()
    shutil.copy(one.path, tmp_path / "copy" / "memory.db")
    copy = await peer("copy")
    former = await one.device()
    assert await copy.device() == former

    await one.note("memory/2026-02-14.md", "Only on the first\n")
    await one.sync.exchange()
    await copy.note("memory/2026-02-15.md", "Only on the copy\n")
    await copy.sync.exchange()
    await one.sync.exchange()

    await copy.sync.exchange()

    for each in (one, copy):
        assert each.new_ids == [await each.device()]
        assert await each.rows(f"SELECT succeeds FROM devices WHERE device = '{each.new_ids[0]}'") == [
            (f'["{former}"]',)
        ]
    assert await copy.device() != await one.device()
    assert "another machine" in copy.sync.status.notices[0]
    everything = {"Both have this", "Only on the first", "Only on the copy"}
    assert await copy.texts() == everything
    assert (await one.rows("SELECT count(*) FROM facts")) == [(3,)]
    for each in (one, copy):
        assert (await verify(each.sync, deep=True)).differences == []


async def test_a_device_that_was_succeeded_takes_a_new_id(peer, sqld):
    """The old machine comes back to life after another one took over from it: it goes on as a device of its own."""
    one, two = await peer("one"), await peer("two")
    await one.note("memory/2026-02-13.md", "The ruff displays\n")
    await one.sync.exchange()
    former = await one.device()
    await two.sync.exchange()
    await two.write(lambda tx: take_over(tx, [former]))
    await two.sync.exchange()
    await one.sync.exchange()
    assert await one.device() != former
    await two.sync.exchange()
    await one.sync.exchange()
    assert (await verify(one.sync, deep=True)).differences == []
    assert (await verify(two.sync, deep=True)).differences == []
    assert one.sync.status.memory_hash == two.sync.status.memory_hash


async def test_a_damaged_segment_stops_only_its_own_log_until_a_snapshot_heals_it(peer, sqld):
    """The other logs go on, status names the damage, and the device's next snapshot is folded over it."""
    one, two, three = await peer("one"), await peer("two"), await peer("three")
    await one.note("memory/2026-02-13.md", "From one\nA secret word\n")
    await one.sync.exchange()
    broken = await one.device()
    sqld.query(f"UPDATE segments SET payload = zeroblob(9) WHERE device = '{broken}'")
    await two.note("memory/2026-02-13.md", "From two\n")
    await two.sync.exchange()
    await three.sync.exchange()
    assert await three.texts() == {"From two"}
    assert list(three.sync.status.faults) == [broken]
    assert "segment 1 is damaged" in three.sync.status.faults[broken]

    await one.write(lambda tx: forget_fact(tx, AGENT, fact_id(AGENT, "A secret word")))
    await one.sync.exchange()
    await three.sync.exchange()
    assert await three.texts() == {"From two", "From one"}
    assert three.sync.status.faults == {}


async def test_a_device_that_was_away_during_a_snapshot_folds_it_whole(peer, sqld):
    """Segments between its cursor and the snapshot are gone; what the snapshot lacks goes, the rest is there."""
    one, two = await peer("one"), await peer("two")
    await one.note("memory/2026-02-13.md", "Stays\nLeaves with its line\nForgotten word\n")
    await one.sync.exchange()
    await two.sync.exchange()
    await one.note("memory/2026-02-14.md", "Written while two was away\n")
    await one.sync.exchange()
    await one.note("memory/2026-02-13.md", "Stays\nForgotten word\n")
    await one.write(lambda tx: forget_fact(tx, AGENT, fact_id(AGENT, "Forgotten word")))
    await one.sync.exchange()
    assert sqld.query("SELECT min(idx) FROM segments WHERE device = '%s'" % await one.device()) == [["3"]]
    await two.sync.exchange()
    assert await two.texts() == {"Stays", "Written while two was away"}
    await one.sync.exchange()
    assert (await verify(two.sync, deep=True)).differences == []
    assert (await verify(one.sync, deep=True)).differences == []


async def test_a_wrong_address_is_an_error_with_a_sentence(peer):
    """Nobody listens there: unavailable, and the token is in no message."""
    one = await peer(url="http://127.0.0.1:9")
    with pytest.raises(UnavailableError) as caught:
        await one.sync.exchange()
    assert "does not answer" in caught.value.message
    assert one.sync.status.state == "backoff"


async def test_the_originals_first_table_is_kept_and_its_rows_copied(peer, sqld):
    """A cold_memories without agents is renamed, its rows belong to agent default, and drawing works."""
    sqld.query(
        "CREATE TABLE cold_memories (id TEXT PRIMARY KEY, text TEXT NOT NULL, category TEXT NOT NULL,"
        " importance REAL DEFAULT 0.5, created_at INTEGER NOT NULL, access_count INTEGER DEFAULT 0)"
    )
    sqld.query("INSERT INTO cold_memories VALUES ('old1', 'From the first version', 'misc', 0.4, 1700000000, 2)")
    one = await peer()
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    await one.sync.exchange()
    rows = sqld.query("SELECT agent_id, text, access_count FROM cold_memories ORDER BY text")
    assert rows == [["default", "From the first version", "2"], ["default", "The heron fishes", "0"]]
    assert sqld.query("SELECT count(*) FROM cold_memories_v1") == [["1"]]


async def test_the_originals_table_gets_its_missing_columns(peer, sqld):
    """The seed's seven columns stay as they are; tier and metadata are added."""
    sqld.query(
        "CREATE TABLE cold_memories (id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, text TEXT NOT NULL,"
        " category TEXT NOT NULL, importance REAL DEFAULT 0.5, created_at INTEGER NOT NULL,"
        " access_count INTEGER DEFAULT 0)"
    )
    one = await peer()
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    await one.sync.exchange()
    assert sqld.query("SELECT tier FROM cold_memories") == [["warm"]]


async def test_devices_that_start_on_an_empty_cloud_at_once_agree_on_it(peer, sqld):
    """Six first pushes at the same moment make one cloud."""
    peers = [await peer(f"p{n}") for n in range(6)]
    for n, each in enumerate(peers):
        await each.note("memory/2026-02-13.md", f"Line of {n}\n")
    await asyncio.gather(*(each.sync.exchange() for each in peers))
    assert sqld.query("SELECT count(*) FROM meta") == [["1"]]
    for each in [*peers, *peers]:
        await each.sync.exchange()
    assert len({each.sync.status.memory_hash for each in peers}) == 1
    assert await peers[0].texts() == {f"Line of {n}" for n in range(6)}

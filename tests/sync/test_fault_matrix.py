"""Every fault of a network or server against every thing that a device does with the cloud (docs/problems.md)."""

import shutil

import pytest
from memoryd.clock import ManualClock
from memoryd.errors import CloudStoppedError, UnavailableError
from memoryd.model import fact_id
from memoryd.store.versions import set_edit
from memoryd.sync import push
from memoryd.sync.drill import rehearse
from memoryd.sync.restore import finish_restore, write_notes
from memoryd.sync.restore_plan import plan_restore
from memoryd.sync.stewardship import adopt
from memoryd.sync.verify import verify
from memoryd.sync.waits import WaitAfterFailure
from tenacity import Future, RetryCallState

from .faulty import FaultProxy
from .test_restore import ingest, take_in

FAULTS = ("slow", "cut", "lost", "busy", "broken", "frozen", "garbage", "unreachable", "nowhere", "tls")
NOTES = {f"memory/2026-02-{n:02d}.md": f"- Sighting {n}\n".encode() for n in range(1, 7)}
TIMEOUT_S = 0.25
PATIENT_S = 20.0


@pytest.fixture
async def proxy(sqld):
    """A proxy before the cloud."""
    made = await FaultProxy(sqld.port).start()
    yield made
    await made.stop()


class Broken:
    """Breaks a device's way to the cloud and heals it again."""

    def __init__(self, one, proxy):
        self.client, self.proxy = one.sync.client, proxy
        self.url = self.client._url

    def begin(self, fault, times=None, *, only_writes=False):
        self.client._http.timeout = TIMEOUT_S
        if fault == "unreachable":
            self.client._url = "http://127.0.0.1:9/v2/pipeline"
        elif fault == "tls":
            self.client._url = self.url.replace("http:", "https:")  # the other side speaks no TLS
        elif fault == "nowhere":
            self.client._url = "http://no-such-host.invalid/v2/pipeline"
        else:
            self.proxy.break_next(fault, times, only_writes=only_writes)

    def heal(self):
        self.client._url = self.url
        self.client._http.timeout = PATIENT_S  # a busy machine is no fault
        self.proxy.break_next("")


async def breaks(one, fault, work):
    """`work` fails with a sentence for people; only a slow cloud just takes longer."""
    if fault == "slow":
        return await work()
    with pytest.raises(UnavailableError) as caught:
        await work()
    assert caught.value.message.endswith(".")
    return None


async def rehearsed(one):
    """What a drill finds different."""
    async with rehearse(one.sync, lambda _: None) as drill:
        assert drill.notes == len(NOTES)
        return drill.differences


async def whole(*peers):
    """Everybody agrees with everybody and with the cloud."""
    for each in [*peers, *peers]:
        await each.sync.exchange()
    hashes = {each.sync.status.memory_hash for each in peers}
    assert len(hashes) == 1
    assert None not in hashes
    for each in peers:
        assert (each.sync.status.state, each.sync.status.pending_rows) == ("ok", 0)
        assert (await verify(each.sync, deep=True)).differences == []


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_push_survives(peer, proxy, sqld, monkeypatch, fault):
    """In the middle of several segments: status says so meanwhile, afterwards everything is there once."""
    monkeypatch.setattr(push, "SEGMENT_ROWS", 4)
    monkeypatch.setattr("memoryd.store.lines.PAGE_ROWS", 4)
    one, two = await peer("one", url=proxy.url, read_timeout_s=PATIENT_S), await peer("two")
    for path, data in NOTES.items():
        await take_in(one, path, data)
    way = Broken(one, proxy)
    for only_writes in (True, False):
        way.begin(fault, only_writes=only_writes)
        await breaks(one, fault, one.sync.exchange)
        if fault != "slow":
            assert one.sync.status.state == "backoff"
            assert one.sync.status.pending_rows > 0
            assert one.sync.status.last_error
        way.heal()
    await whole(one, two)
    assert sqld.query("SELECT count(DISTINCT device) FROM segments") == [["2"]]
    assert await two.texts() == await one.texts()
    assert sqld.query("SELECT count(*), count(DISTINCT text) FROM cold_memories") == [[str(len(NOTES))] * 2]


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_pull_survives(peer, proxy, fault):
    """What the others sent comes in when the way is free again, and once."""
    one, two = await peer("one"), await peer("two", url=proxy.url, read_timeout_s=PATIENT_S)
    for path, data in NOTES.items():
        await take_in(one, path, data)
        await one.sync.exchange()
    way = Broken(two, proxy)
    way.begin(fault)
    await breaks(two, fault, two.sync.exchange)
    way.heal()
    way.begin(fault, 1)
    await breaks(two, fault, two.sync.pull)
    way.heal()
    await whole(one, two)
    assert await two.texts() == await one.texts()


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_restore_survives(peer, proxy, tmp_path, fault):
    """It fails before the first write, and run again it brings back every byte."""
    old = await peer("old")
    for path, data in NOTES.items():
        await take_in(old, path, data)
        await old.sync.exchange()
    new = await peer("new", url=proxy.url, read_timeout_s=PATIENT_S)
    root = tmp_path / "workspace"
    root.mkdir()
    way = Broken(new, proxy)
    way.begin(fault)
    await breaks(new, fault, lambda: plan_restore(new.sync, root))
    assert list(root.iterdir()) == []
    way.heal()

    plan = await plan_restore(new.sync, root)
    way.begin(fault)
    await ingest(new, root, await write_notes(new.sync, plan))
    done = await finish_restore(new.sync, plan)
    way.heal()

    assert done.verified
    assert {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*.md")} == NOTES
    await whole(new)


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_verification_survives(peer, proxy, fault):
    """It calls nothing equal that could not be read, and changes nothing."""
    one = await peer("one", url=proxy.url, read_timeout_s=PATIENT_S)
    for path, data in NOTES.items():
        await take_in(one, path, data)
    await one.sync.exchange()
    way = Broken(one, proxy)
    for deep in (False, True):
        way.begin(fault)
        report = await breaks(one, fault, lambda deep=deep: verify(one.sync, deep=deep))
        assert report is None or report.equal
        way.heal()
        assert (await verify(one.sync, deep=deep)).equal
    await whole(one)


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_drill_survives(peer, proxy, fault):
    """It proves nothing that could not be read, leaves no folder behind, and proves the restore afterwards."""
    one = await peer("one", url=proxy.url, read_timeout_s=PATIENT_S)
    for path, data in NOTES.items():
        await take_in(one, path, data)
    await one.sync.exchange()
    way = Broken(one, proxy)
    way.begin(fault)
    assert await breaks(one, fault, lambda: rehearsed(one)) in (None, [])
    way.heal()
    assert await rehearsed(one) == []
    assert list(one.path.parent.glob("scratch-*")) == []
    await whole(one)


async def test_a_busy_cloud_is_given_the_time_it_asks_for(peer, proxy):
    """429 with Retry-After: the error carries the seconds, and the wait is at least as long."""
    one = await peer("one", url=proxy.url)
    await take_in(one, "memory/2026-02-13.md", b"- A line\n")
    proxy.break_next("busy")
    with pytest.raises(UnavailableError) as caught:
        await one.sync.exchange()
    assert caught.value.retry_after_s == 7
    state = RetryCallState(None, None, (), {})
    state.outcome = Future.construct(1, caught.value, has_exception=True)
    assert WaitAfterFailure()(state) >= 7


@pytest.mark.parametrize("skew_s", [-86_400, 86_400])
async def test_clocks_a_day_apart_cost_nothing(peer, skew_s):
    """The later edit wins by the logical clock, whatever the wall clocks say."""
    one, two = await peer("one"), await peer("two")
    two.clock = ManualClock(one.clock.now_ms() + skew_s * 1000)
    fact = fact_id("default", "The heron fishes")
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    await one.write(lambda tx: set_edit(tx, "default", fact, "importance", "0.1"))
    await one.sync.exchange()
    for value, first, second in (("0.2", two, one), ("0.3", one, two)):
        await first.sync.exchange()
        await first.write(lambda tx, value=value: set_edit(tx, "default", fact, "importance", value))
        await first.sync.exchange()
        await second.sync.exchange()
        assert await second.rows("SELECT value FROM edits") == [(value,)]
    await whole(one, two)


@pytest.mark.parametrize("skew_s", [-86_400, 86_400])
async def test_a_machine_whose_clock_is_a_day_wrong_restores_and_drills(peer, tmp_path, skew_s):
    """Every byte comes back, and what is edited there afterwards wins, also on the device whose clock is ahead."""
    old = await peer("old")
    for path, data in NOTES.items():
        await take_in(old, path, data)
    fact = fact_id("default", "- Sighting 1")
    await old.write(lambda tx: set_edit(tx, "default", fact, "importance", "0.1"))
    await old.sync.exchange()
    new = await peer("new")
    new.clock = ManualClock(old.clock.now_ms() + skew_s * 1000)
    root = tmp_path / "workspace"
    root.mkdir()

    plan = await plan_restore(new.sync, root, copy=True)
    await ingest(new, root, await write_notes(new.sync, plan))

    assert (await finish_restore(new.sync, plan)).verified
    await new.sync.exchange()
    assert await rehearsed(new) == []
    await new.write(lambda tx: set_edit(tx, "default", fact, "importance", "0.2"))
    await whole(new, old)
    assert await old.rows("SELECT value FROM edits") == [("0.2",)]


async def test_a_cloud_that_is_set_back_to_an_earlier_day_stops_and_is_adopted(peer, sqld, tmp_path):
    """A point-in-time reset: everybody stops, nothing local goes, and after adopting all agree again."""
    one, two = await peer("one"), await peer("two")
    await one.note("memory/2026-02-01.md", "Early\n")
    await two.note("memory/2026-02-02.md", "Early too\n")
    for each in (one, two, one):
        await each.sync.exchange()
    sqld.stop()
    shutil.copytree(sqld.folder / "db", sqld.folder / "yesterday")
    sqld.start()
    await one.note("memory/2026-02-01.md", "Late\n")
    await two.note("memory/2026-02-02.md", "Late too\n")
    for each in (one, two, one):
        await each.sync.exchange()
    sqld.stop()
    shutil.rmtree(sqld.folder / "db")
    (sqld.folder / "yesterday").rename(sqld.folder / "db")
    sqld.start()

    for each in (one, two):
        with pytest.raises(CloudStoppedError):
            await each.sync.exchange()
        assert each.sync.status.state == "stopped"
        assert await each.texts() == {"Late", "Late too"}
        for deep in (False, True):
            assert any("lost segments" in each.what for each in (await verify(each.sync, deep=deep)).differences)
        async with rehearse(each.sync, lambda _: None) as drill:
            assert any("lost segments" in difference for difference in drill.differences)
    late = await peer("late")
    (tmp_path / "workspace").mkdir()
    plan = await plan_restore(late.sync, tmp_path / "workspace", from_=await one.device(), copy=True)
    assert [note.path for note in plan.missing] == ["memory/2026-02-01.md"]  # what the cloud holds can be had
    for each in (one, two):
        await adopt(each.sync)
    for each in (one, two, one, two, one):
        await each.sync.exchange()
    live = "SELECT DISTINCT f.text FROM facts f JOIN mentions m ON m.fact_id = f.id JOIN notes n ON n.path = m.path"
    for each in (one, two):
        assert {row[0] for row in await each.rows(f"{live} AND n.device = m.device")} >= {"Late", "Late too"}
        assert each.sync.status.state == "ok"
        assert (await verify(each.sync, deep=True)).differences == []

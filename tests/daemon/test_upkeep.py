"""What is done by the calendar, and that the deeper work does the shallower."""

import asyncio
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from memoryd.clock import ManualClock
from memoryd.config import ConsolidationSettings, Settings
from memoryd.daemon import upkeep as upkeep_module
from memoryd.daemon.calendar import AFTER_START_S
from memoryd.daemon.scheduler import Scheduler
from memoryd.daemon.upkeep import Upkeep
from memoryd.errors import StoreDamagedError

HOUR = 3600


class Bench:
    """An upkeep on a clock, with a memory that only remembers what was asked of it."""

    def __init__(self, monkeypatch, *, cloud: bool) -> None:
        self.clock, self.done, self.dreams = ManualClock(), [], []
        self.damaged, self.merges = False, 0
        snapshots = SimpleNamespace(last_ms=0, take=self.take)
        self.memory = SimpleNamespace(
            sync=object() if cloud else None,
            snapshots=snapshots,
            thread=SimpleNamespace(damage=None),
            settings=Settings(),
            is_idle=lambda for_s: self.idle,
        )
        self.idle, self.entries, self.dreamt = True, 0, {}
        self.scheduler = Scheduler(self.clock, lambda _: None)
        self.last: dict[str, float] = {}
        modes = {mode: (*when, self.work(f"consolidate {mode}")) for mode, (*when, _) in upkeep_module._MODES.items()}
        monkeypatch.setattr(upkeep_module, "_MODES", modes)
        monkeypatch.setattr(upkeep_module, "last_consolidated", self.last_consolidated)
        monkeypatch.setattr(upkeep_module, "merge_index", self.merge_index)
        monkeypatch.setattr(upkeep_module, "drill_when_due", self.work("drill"))
        monkeypatch.setattr(upkeep_module, "dream_all", self.dream_all)
        monkeypatch.setattr(upkeep_module, "last_dreamt", self.last_dreamt)
        monkeypatch.setattr(upkeep_module, "long_term_entries", self.long_term_entries)

    def work(self, name):
        async def work(memory) -> None:
            await asyncio.sleep(0)
            self.done.append(name)

        return work

    async def merge_index(self, memory) -> None:
        self.merges += 1

    async def dream_all(self, memory, *, deep) -> None:
        self.dreams.append((deep, self.clock.now_ms()))

    async def last_dreamt(self, memory, *, deep) -> int:
        return self.dreamt.get(deep, 0)

    async def long_term_entries(self, memory) -> int:
        return self.entries

    async def take(self) -> None:
        self.done.append("snapshot")
        if self.damaged:
            raise StoreDamagedError("memory.db is damaged", "")
        self.memory.snapshots.last_ms = self.clock.now_ms()

    async def last_consolidated(self, _, mode):
        return self.last.get(mode)

    async def live(self, seconds: float, step: float = 300) -> list[str]:
        """What was done within these seconds."""
        self.done.clear()
        for _ in range(round(seconds / step)):
            self.clock.advance(step)
            await self.scheduler.tick()
            for _ in range(10):
                await asyncio.sleep(0)
        return list(self.done)


@pytest.fixture
def bench(monkeypatch):
    return lambda *, cloud=False: Bench(monkeypatch, cloud=cloud)


async def test_the_first_consolidation_is_the_deepest_alone(bench):
    """A new memory is consolidated monthly once; daily and quick need not follow."""
    one = bench()
    await Upkeep(one.memory, one.clock).enter(one.scheduler)
    done = await one.live(AFTER_START_S + 600)
    assert sorted(done) == ["consolidate monthly", "snapshot"]


async def test_a_day_has_one_daily_and_quick_ones_between(bench):
    """Every two hours quick, after midnight daily in its place, snapshots once a day."""
    one = bench()
    one.last = dict.fromkeys(("monthly", "daily", "quick"), one.clock.now_ms() / 1000)
    one.memory.snapshots.last_ms = one.clock.now_ms()
    await Upkeep(one.memory, one.clock).enter(one.scheduler)
    done = await one.live(24 * HOUR)
    assert done.count("consolidate daily") == 1
    assert done.count("consolidate quick") in (11, 12)
    assert done.count("snapshot") == 1
    assert "consolidate monthly" not in done
    assert "drill" not in done
    assert one.merges in (3, 4)


async def test_what_a_restart_finds_done_is_not_done_again(bench):
    """The times of the last runs come from the store, so that ten restarts a day are no ten consolidations."""
    one = bench()
    one.last = dict.fromkeys(("monthly", "daily", "quick"), one.clock.now_ms() / 1000)
    one.memory.snapshots.last_ms = one.clock.now_ms()
    for _ in range(10):
        one.scheduler = Scheduler(one.clock, lambda _: None)
        await Upkeep(one.memory, one.clock).enter(one.scheduler)
        assert await one.live(300) == []


async def test_with_a_cloud_there_are_drills_and_no_snapshots(bench):
    """The cloud is the copy; each day it is asked whether a drill is due."""
    one = bench(cloud=True)
    await Upkeep(one.memory, one.clock).enter(one.scheduler)
    done = await one.live(48 * HOUR)
    assert "snapshot" not in done
    assert done.count("drill") in (2, 3)


async def test_a_snapshot_that_meets_damage_has_the_database_looked_at(bench):
    """A file that cannot be copied soundly is damaged: the daemon opens it anew (and repairs it)."""
    one = bench()
    one.damaged = True
    await Upkeep(one.memory, one.clock).enter(one.scheduler)
    await one.live(AFTER_START_S + 300)
    assert isinstance(one.memory.thread.damage, StoreDamagedError)


@pytest.mark.parametrize(
    ("frequency", "runs"), [("hourly", 24), ("2-hourly", 12), ("daily", 1), ("weekly", 0), ("never", 0)]
)
async def test_quick_consolidation_runs_as_often_as_configured(bench, frequency, runs):
    """`consolidation.warm_eviction`, also after the settings were read again; the deeper modes are off here."""
    one = bench()
    one.last = dict.fromkeys(("monthly", "daily", "quick"), one.clock.now_ms() / 1000)
    await Upkeep(one.memory, one.clock).enter(one.scheduler)
    one.memory.settings.consolidation = ConsolidationSettings(frequency, "never", "never")
    done = await one.live(24 * HOUR)
    assert abs(done.count("consolidate quick") - runs) <= (1 if runs > 1 else 0)
    assert not {"consolidate daily", "consolidate monthly"} & set(done)


async def test_a_rebuild_that_is_never_due_leaves_the_daily_one(bench):
    """`consolidation.tree_rebuild = "never"`: a new memory begins with the daily mode."""
    one = bench()
    one.memory.settings.consolidation = ConsolidationSettings(tree_rebuild="never", tree_prune="weekly")
    await Upkeep(one.memory, one.clock).enter(one.scheduler)
    done = await one.live(7 * 24 * HOUR, step=1800)
    assert "consolidate monthly" not in done
    assert done.count("consolidate daily") in (1, 2)


async def test_a_dream_comes_every_half_hour_and_a_deep_one_at_four(bench):
    """A deep one is one of what is new too; a day has no more than these."""
    one = bench()
    one.dreamt = {True: one.clock.now_ms(), False: one.clock.now_ms()}
    await Upkeep(one.memory, one.clock).enter(one.scheduler)

    await one.live(24 * HOUR, step=60)

    deep = [at for is_deep, at in one.dreams if is_deep]
    assert len(deep) == 1
    assert datetime.fromtimestamp(deep[0] / 1000, UTC).astimezone().hour == 4
    assert 47 <= len(one.dreams) <= 49


async def test_a_busy_memory_dreams_only_when_its_long_term_layer_is_full(bench):
    """Else the dream waits for an idle moment; the one at four comes anyway."""
    one = bench()
    one.idle, one.dreamt = False, {True: one.clock.now_ms(), False: one.clock.now_ms()}
    await Upkeep(one.memory, one.clock).enter(one.scheduler)
    await one.live(2 * HOUR)
    assert one.dreams == []

    one.entries = 1_001
    await one.live(HOUR)
    assert {deep for deep, _ in one.dreams} == {False}
    one.dreams.clear()
    one.entries, one.idle = 0, True
    await one.live(HOUR)
    assert one.dreams

"""Periodic work, sleep and clock jumps."""

import asyncio
import contextlib

import pytest
from memoryd.clock import ManualClock
from memoryd.daemon.daemon import SCAN_S, STATUS_S, TICK_S
from memoryd.daemon.pulse import LAST_RESORT_S
from memoryd.daemon.scheduler import Scheduler
from memoryd.errors import UnavailableError


class Bench:
    """A scheduler on a clock that sleeping moves."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.resumes: list[float] = []
        self.runs: list[float] = []
        self.scheduler = Scheduler(self.clock, self.resumes.append, self.sleep)
        self.began = self.clock.monotonic()
        self.until = 0.0

    async def sleep(self, seconds: float) -> None:
        if self.now() + seconds > self.until:
            raise asyncio.CancelledError
        self.clock.advance(seconds)

    async def work(self) -> None:
        self.runs.append(round(self.now(), 3))

    def now(self) -> float:
        return self.clock.monotonic() - self.began

    async def run(self, until: float) -> None:
        self.until = until
        with contextlib.suppress(asyncio.CancelledError):
            await self.scheduler.run()


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_a_job_runs_every_interval(bench):
    """The first run comes after one interval."""
    bench.scheduler.every(300, bench.work, "scan")
    await bench.run(1000)
    assert bench.runs == [300, 600, 900]
    assert bench.scheduler.next_run("scan") == bench.began + 1200


async def test_setting_the_clock_neither_skips_nor_repeats_a_job(bench):
    """Intervals are monotonic."""
    bench.scheduler.every(10, bench.work, "tick")
    bench.clock.jump(-3600)
    await bench.run(25)
    bench.clock.jump(-3600)
    await bench.run(45)
    assert bench.runs == [10, 20, 30, 40]
    assert bench.resumes == []


async def test_a_sleep_of_the_machine_is_noticed_once_and_missed_runs_are_one(bench):
    """After hours of sleep there is one resume and no burst."""
    bench.scheduler.every(10, bench.work, "tick")
    bench.clock.jump(4 * 3600)
    await bench.run(35)
    assert bench.resumes == [pytest.approx(4 * 3600)]
    assert bench.runs == [10, 20, 30]


async def test_a_small_correction_of_the_clock_is_no_resume(bench):
    """NTP may move the clock by some seconds."""
    bench.scheduler.every(10, bench.work, "tick")
    bench.clock.jump(9)
    await bench.run(35)
    assert bench.resumes == []


async def test_a_failing_job_stops_neither_itself_nor_others(bench, caplog):
    """A failure is logged once and tried again."""

    async def fails() -> None:
        bench.runs.append(-1)
        raise UnavailableError("Nobody is there.", "")

    bench.scheduler.every(10, fails, "failing")
    bench.scheduler.every(10, bench.work, "tick")
    await bench.run(25)
    assert bench.runs == [-1, 10, -1, 20]
    assert caplog.text.count("failing failed: Nobody is there.") == 1


async def test_an_interval_that_shrinks_counts_at_once(bench):
    """When file events stop coming, scans come each 30 s without waiting for the end of the long interval."""
    interval = [300.0]
    bench.scheduler.every(lambda: interval[0], bench.work, "scan")
    bench.scheduler.every(5, lambda: asyncio.sleep(0), "tick")
    await bench.run(12)
    interval[0] = 30.0
    await bench.run(80)
    assert bench.runs == [45, 75]


async def test_an_idle_daemon_wakes_less_than_once_a_second(bench):
    """All that the daemon does by the clock, together, over an hour (WA-8)."""
    wakes: list[float] = []

    async def sleep(seconds: float) -> None:
        wakes.append(seconds)
        await bench.sleep(seconds)

    bench.scheduler._sleep = sleep
    for interval in (TICK_S, SCAN_S, STATUS_S, LAST_RESORT_S / 4):
        bench.scheduler.every(interval, bench.work, f"every {interval} s")
    await bench.run(3600)

    assert len(wakes) < 3600

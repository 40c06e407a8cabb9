"""Daily work: at its time of day, made up once, whatever the clocks do."""

import asyncio
import time as real_time
from datetime import UTC, datetime, time

import pytest
from memoryd.clock import ManualClock
from memoryd.daemon.calendar import AFTER_FAILURE_S, AFTER_START_S, every_day, every_hours, every_month, every_week
from memoryd.daemon.scheduler import Scheduler
from memoryd.errors import UnavailableError

AT = time(3, 40)


@pytest.fixture(params=["Europe/Berlin", "Asia/Shanghai", "UTC"])
def zone(request, monkeypatch):
    """The machine's time zone."""
    monkeypatch.setenv("TZ", request.param)
    real_time.tzset()
    yield request.param
    monkeypatch.undo()
    real_time.tzset()


def ms(text: str) -> int:
    """A local time of the machine as milliseconds."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def local(now_ms: int) -> str:
    """The opposite of `ms`, to the minute."""
    return datetime.fromtimestamp(now_ms / 1000, UTC).astimezone().strftime("%Y-%m-%dT%H:%M")


class Bench:
    """A scheduler with one daily job that remembers when it ran, as a snapshot's name does."""

    def __init__(self, start: str, last: str = "") -> None:
        self.clock = ManualClock(ms(start))
        self.last = ms(last) if last else 0
        self.runs: list[str] = []
        self.error: Exception | None = None
        self.scheduler = Scheduler(self.clock, lambda _: None)
        self.scheduler.calendar(every_day(AT), self.work, "the daily job", lambda: self.last)

    async def work(self) -> None:
        self.runs.append(local(self.clock.now_ms()))
        if self.error is not None:
            raise self.error
        self.last = self.clock.now_ms()

    async def live(self, hours: float, step_s: float = 60.0) -> None:
        for _ in range(round(hours * 3600 / step_s)):
            self.clock.advance(step_s)
            await self.tick()

    async def tick(self) -> None:
        await self.scheduler.tick()
        await asyncio.sleep(0)
        await asyncio.sleep(0)


@pytest.mark.usefixtures("zone")
async def test_the_work_is_done_once_a_day_at_its_time():
    """Three days, three runs, each at 03:40 local time."""
    bench = Bench("2026-02-10T12:00", last="2026-02-10T03:40")
    await bench.live(72)
    assert bench.runs == ["2026-02-11T03:40", "2026-02-12T03:40", "2026-02-13T03:40"]


@pytest.mark.usefixtures("zone")
async def test_missed_days_are_made_up_once_after_a_sleep():
    """Four days of sleep are one run, at once when the machine is awake."""
    bench = Bench("2026-02-10T12:00", last="2026-02-10T03:40")
    await bench.live(1)
    bench.clock.jump(4 * 86_400)
    await bench.live(2)
    assert bench.runs == ["2026-02-14T13:01"]


@pytest.mark.usefixtures("zone")
async def test_what_was_missed_while_the_machine_was_off_waits_for_the_start_to_be_over():
    """The first scan goes first; then the missed run is made up."""
    bench = Bench("2026-02-10T12:00", last="2026-02-07T03:40")
    await bench.tick()
    assert bench.runs == []
    bench.clock.advance(AFTER_START_S)
    await bench.tick()
    await bench.live(3)
    assert len(bench.runs) == 1


@pytest.mark.usefixtures("zone")
async def test_what_fails_is_tried_again_after_a_quarter_of_an_hour(caplog):
    """A failure is said once and does not cost the day."""
    bench = Bench("2026-02-10T03:00", last="2026-02-09T03:40")
    bench.error = UnavailableError("The disk is full.", "")
    await bench.live(1.2)
    assert len(bench.runs) == 1 + (4.2 - 3 - 40 / 60) * 3600 // AFTER_FAILURE_S
    assert caplog.text.count("The disk is full.") == 1
    bench.error = None
    await bench.live(1)
    assert bench.runs[-1].startswith("2026-02-10T04:")
    count = len(bench.runs)
    await bench.live(20)
    assert len(bench.runs) == count


@pytest.mark.usefixtures("zone")
async def test_a_clock_that_is_set_back_neither_repeats_nor_stops_the_work():
    """An hour back does not run it again that day; a last time far in the future counts as never."""
    bench = Bench("2026-02-10T03:00", last="2026-02-09T03:40")
    await bench.live(0.75)
    bench.clock.jump(-1800)
    bench.last = bench.clock.now_ms()
    await bench.live(0.25)
    assert len(bench.runs) == 1

    wrong = Bench("2026-02-10T12:00", last="2031-01-01T00:00")
    await wrong.live(0.5)
    assert len(wrong.runs) == 1


async def test_a_day_of_25_hours_is_one_day(monkeypatch):
    """At the end of summer time the work is done once, and the next day at its time again."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    real_time.tzset()
    try:
        bench = Bench("2026-10-24T12:00", last="2026-10-24T03:40")
        await bench.live(49)
        assert bench.runs == ["2026-10-25T03:40", "2026-10-26T03:40"]
    finally:
        monkeypatch.undo()
        real_time.tzset()


async def test_long_work_does_not_hold_up_the_rest_and_ends_with_the_scheduler():
    """The pulse goes on beside a copy of many minutes; the end of the daemon ends the copy."""
    clock = ManualClock(ms("2026-02-10T12:00"))
    beats: list[float] = []
    enough, ended = asyncio.Event(), asyncio.Event()

    async def copy() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def beat() -> None:
        beats.append(clock.monotonic())
        if len(beats) == 20:
            enough.set()

    async def sleep(seconds: float) -> None:
        clock.advance(max(seconds, 1))
        await asyncio.sleep(0)

    scheduler = Scheduler(clock, lambda _: None, sleep)
    scheduler.every(20, beat, "the pulse")
    scheduler.calendar(every_day(AT), copy, "the copy", lambda: 0)
    task = asyncio.create_task(scheduler.run())
    await asyncio.wait_for(enough.wait(), 10)
    assert not ended.is_set()

    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert ended.is_set()


@pytest.mark.usefixtures("zone")
def test_the_latest_time_of_day_is_today_or_yesterday():
    """Just before, just at and just after it."""
    latest, at = every_day(AT), ms("2026-02-10T03:40")
    assert latest(at - 1) == ms("2026-02-09T03:40")
    assert latest(at) == at
    assert latest(at + 1) == at


@pytest.mark.usefixtures("zone")
def test_the_first_of_the_month_and_every_second_hour():
    """January is before February, also across the year; hours count from the epoch."""
    monthly, at = every_month(AT), ms("2026-02-01T03:40")
    assert monthly(at) == monthly(ms("2026-02-28T23:59")) == at
    assert monthly(at - 1) == ms("2026-01-01T03:40")
    assert monthly(ms("2026-01-01T03:39")) == ms("2025-12-01T03:40")
    hours = every_hours(2)
    assert hours(7_200_000) == hours(14_399_999) == 7_200_000


def test_a_week_begins_on_monday(zone):
    """The latest Monday at that time, on the day itself only once the time has come."""
    latest = every_week(AT)

    assert local(latest(ms("2026-02-18T12:00"))) == "2026-02-16T03:40"
    assert local(latest(ms("2026-02-16T03:39"))) == "2026-02-09T03:40"
    assert local(latest(ms("2026-02-16T03:41"))) == "2026-02-16T03:40"

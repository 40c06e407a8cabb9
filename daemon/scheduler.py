"""All periodic work of the daemon, on one timer that notices sleep and clock jumps."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ..clock import Clock
from ..errors import MemorydError, place_of
from .calendar import AFTER_FAILURE_S, AFTER_START_S, CalendarJob, Latest

log = logging.getLogger(__name__)

RESUME_S = 10.0
"""The wall clock gaining this much on the monotonic one means that the machine slept."""


@dataclass
class Job:
    """Work that is done every `interval_s()` seconds, first after one interval."""

    name: str
    interval_s: Callable[[], float]
    work: Callable[[], Awaitable[None]]
    due: float = 0.0
    failing: str = ""


class Scheduler:
    """Runs jobs one after another when they are due; a job that is late runs once, not once a missed time.

    Intervals are monotonic: setting the clock neither skips nor repeats anything. `resumed` is
    called once after the machine slept.
    """

    def __init__(
        self,
        clock: Clock,
        resumed: Callable[[float], None],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock, self._resumed, self._sleep = clock, resumed, sleep
        self._jobs: list[Job] = []
        self._calendar: list[CalendarJob] = []
        self._offset = self._wall_offset()

    def every(self, interval_s: float | Callable[[], float], work: Callable[[], Awaitable[None]], name: str) -> None:
        """Add a job. An interval that is a function is asked anew after each run."""
        interval = interval_s if callable(interval_s) else lambda: interval_s
        self._jobs.append(Job(name, interval, work, self._clock.monotonic() + interval()))

    def calendar(
        self, latest: Latest, work: Callable[[], Awaitable[None]], name: str, last_ms: Callable[[], int]
    ) -> None:
        """Add a job that is done at each moment of a calendar or, after sleep or a start, as soon as it can be."""
        self._calendar.append(CalendarJob(name, latest, work, last_ms, self._clock.monotonic() + AFTER_START_S))

    def next_run(self, name: str) -> float | None:
        """Monotonic time at which the job of that name is due; None if there is none."""
        return next((job.due for job in self._jobs if job.name == name), None)

    async def run(self) -> None:
        """Work until cancelled; calendar work that goes on then is cancelled too."""
        try:
            while True:
                await self._sleep(max(0.0, min(job.due for job in self._jobs) - self._clock.monotonic()))
                await self.tick()
        finally:
            running = [job.running for job in self._calendar if job.running is not None]
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def tick(self) -> None:
        """Notice a sleep, then run what is due now."""
        offset = self._wall_offset()
        slept, self._offset = offset - self._offset, offset
        if slept > RESUME_S:
            log.info("the machine slept or its clock was set forward by %.0f s", slept)
            self._resumed(slept)
        for job in self._jobs:
            # A shorter interval counts from now on, not after the long one has ended.
            job.due = min(job.due, self._clock.monotonic() + job.interval_s())
            if job.due <= self._clock.monotonic():
                await _run(job)
                job.due = self._clock.monotonic() + job.interval_s()
        for dated in self._calendar:
            if dated.is_due(self._clock.now_ms(), self._clock.monotonic()):
                dated.not_before = self._clock.monotonic() + AFTER_FAILURE_S
                dated.running = asyncio.create_task(_run(dated), name=dated.name)

    def _wall_offset(self) -> float:
        return self._clock.now_ms() / 1000 - self._clock.monotonic()


async def _run(job: Job | CalendarJob) -> None:
    problem = ""
    try:
        await job.work()
    except MemorydError as error:
        problem = error.message
    except Exception as error:  # noqa: BLE001 - one failing job must not end all the others; it is tried again
        problem = place_of(error)
    if problem and problem != job.failing:
        log.error("%s failed: %s", job.name, problem)
    job.failing = problem

"""Work that is due once a day at a time of day, and is made up once when the machine slept or was off."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, time, timedelta

AFTER_START_S = 120.0
"""What was missed while the machine was off waits so long, so that it is not in the way of the start [s]."""
AFTER_FAILURE_S = 900.0
"""What failed is tried again after so long [s]."""


@dataclass
class DailyJob:
    """Work that is done once a local day, at `at` or as soon after it as the machine is awake.

    `last_ms()` tells when it was done last [ms since the epoch, 0 if never]; it outlives the process, so that
    a run is neither missed nor repeated across restarts.
    """

    name: str
    at: time
    work: Callable[[], Awaitable[None]]
    last_ms: Callable[[], int]
    not_before: float
    """Monotonic seconds."""
    failing: str = ""
    running: "asyncio.Task[None] | None" = None
    """The run that goes on now, beside the scheduler: it may take minutes."""

    def is_due(self, now_ms: int, monotonic: float) -> bool:
        """Whether the latest time of day `at` has passed since the work was done last.

        A last time that lies in the future was written under a wrong clock, and counts as never.
        """
        if monotonic < self.not_before or (self.running is not None and not self.running.done()):
            return False
        last = self.last_ms()
        return last > now_ms or last < latest(self.at, now_ms)


def latest(at: time, now_ms: int) -> int:
    """The latest moment [ms] at which local clocks showed `at`, not later than `now_ms`."""
    now = datetime.fromtimestamp(now_ms / 1000).astimezone()
    # Naive local times, so that a day of 23 or 25 hours is still one day.
    moment = datetime.combine(now.date(), at)
    if moment.astimezone() > now:
        moment -= timedelta(days=1)
    return round(moment.timestamp() * 1000)

"""Work that is due by the calendar, and is made up once when the machine slept or was off."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from ..config import Frequency

AFTER_START_S = 120.0
"""What was missed while the machine was off waits so long, so that it is not in the way of the start [s]."""
AFTER_FAILURE_S = 900.0
"""What failed is tried again after so long [s]."""


Latest = Callable[[int], int]
"""The latest moment, not later than the given one, at which some work was due; both in ms since the epoch."""


@dataclass
class CalendarJob:
    """Work that is done once for each moment that `latest` names, then or as soon after it as the machine is awake.

    `last_ms()` tells when it was done last [ms since the epoch, 0 if never]; it outlives the process, so that
    a run is neither missed nor repeated across restarts.
    """

    name: str
    latest: Latest
    work: Callable[[], Awaitable[None]]
    last_ms: Callable[[], int]
    not_before: float
    """Monotonic seconds."""
    failing: str = ""
    running: "asyncio.Task[None] | None" = None
    """The run that goes on now, beside the scheduler: it may take minutes."""

    def is_due(self, now_ms: int, monotonic: float) -> bool:
        """Whether a moment has passed since the work was done last, and it does not run already."""
        if monotonic < self.not_before or (self.running is not None and not self.running.done()):
            return False
        return is_missing(self.last_ms(), self.latest, now_ms)


def is_missing(last_ms: int, latest: Latest, now_ms: int) -> bool:
    """Whether work that was done last at `last_ms` has to be done.

    A last time that lies in the future was written under a wrong clock, and counts as never.
    """
    return last_ms > now_ms or last_ms < latest(now_ms)


def every_day(at: time) -> Latest:
    """Each day when local clocks show `at`."""

    def latest(now_ms: int) -> int:
        now = datetime.fromtimestamp(now_ms / 1000).astimezone()
        # Naive local times, so that a day of 23 or 25 hours is still one day.
        moment = datetime.combine(now.date(), at)
        if moment.astimezone() > now:
            moment -= timedelta(days=1)
        return round(moment.timestamp() * 1000)

    return latest


def every_week(at: time) -> Latest:
    """Each Monday when local clocks show `at`."""

    def latest(now_ms: int) -> int:
        now = datetime.fromtimestamp(now_ms / 1000).astimezone()
        moment = datetime.combine(now.date() - timedelta(days=now.weekday()), at)
        if moment.astimezone() > now:
            moment -= timedelta(days=7)
        return round(moment.timestamp() * 1000)

    return latest


def every_month(at: time) -> Latest:
    """On the first of each month when local clocks show `at`."""

    def latest(now_ms: int) -> int:
        now = datetime.fromtimestamp(now_ms / 1000).astimezone()
        moment = datetime.combine(now.date().replace(day=1), at)
        if moment.astimezone() > now:
            moment = datetime.combine((moment.date() - timedelta(days=1)).replace(day=1), at)
        return round(moment.timestamp() * 1000)

    return latest


def every(frequency: Frequency, at: time) -> Latest:
    """As often as a setting says; `at` is the local time where it is a day's, a week's or a month's."""
    if frequency in ("hourly", "2-hourly"):
        return every_hours(1 if frequency == "hourly" else 2)
    if frequency == "never":
        return lambda _: 0
    return {"daily": every_day, "weekly": every_week, "monthly": every_month}[frequency](at)


def every_hours(hours: int) -> Latest:
    """Each time that so many hours have passed since the epoch."""
    return every_minutes(60 * hours)


def every_minutes(minutes: int) -> Latest:
    """Each time that so many minutes have passed since the epoch."""
    return lambda now_ms: now_ms - now_ms % (minutes * 60_000)

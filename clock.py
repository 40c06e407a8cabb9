"""Time, injected everywhere, and the hybrid logical clock that orders edits of several devices."""

import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

MS_PER_DAY = 86_400_000
_MAX_COUNTER = 999_999
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""The days since 1970 of the first and the last day that a date can be."""
MOST_DAYS = LAST_DAY - FIRST_DAY + 1
_FIRST_MS = -62_135_596_800_000  # 0001-01-01, the first day that a date can be
_LAST_MS = 253_402_300_799_999  # the end of 9999-12-31, the last one


class Clock:
    """The system's time. Tests inject a subclass; nothing else in memoryd asks the system."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch, UTC; for display and for versions, never for intervals."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """Seconds that never run backwards; for intervals."""
        return time.monotonic()

    def today(self) -> date:
        """The UTC day."""
        return datetime.fromtimestamp(self.now_ms() / 1000, UTC).date()


class ManualClock(Clock):
    """A clock that moves only when told; for tests and simulations."""

    def __init__(self, now_ms: int = 1_770_976_800_000) -> None:
        self._now_ms = now_ms
        self._monotonic = 1000.0

    def now_ms(self) -> int:
        """The set wall time [ms]."""
        return self._now_ms

    def monotonic(self) -> float:
        """The set monotonic time [s]."""
        return self._monotonic

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass on both clocks."""
        self._now_ms += round(seconds * 1000)
        self._monotonic += seconds

    def jump(self, seconds: float) -> None:
        """Set the wall clock forward or back, as a user or NTP does; monotonic time stands."""
        self._now_ms += round(seconds * 1000)


def day_number(day: date) -> int:
    """Whole days since 1970-01-01."""
    return (day - date(1970, 1, 1)).days


def day_start_ms(day: date) -> int:
    """Milliseconds of 00:00 UTC of `day`."""
    return day_number(day) * MS_PER_DAY


def day_of_ms(ms: int) -> date:
    """The UTC day of a time in milliseconds; the first or the last that a date can be for times beyond."""
    return date(1970, 1, 1) + timedelta(days=datable(ms) // MS_PER_DAY)


def datable(ms: float) -> int:
    """The nearest time in whole milliseconds that has a date: from the year 1 to the year 9999."""
    return round(max(_FIRST_MS, min(_LAST_MS, ms)))


def format_version(ms: int, counter: int, device: str) -> str:
    """`ms(13)-counter(6)-device(8)`: fixed width, so that versions compare as text (docs/data.md, 2)."""
    return f"{ms:013d}-{counter:06d}-{device}"


class LogicalClock:
    """A hybrid logical clock: versions that only grow, whatever the wall clock does.

    `last` is the greatest version made or seen, without its device (`ms-counter`); the store
    keeps it and writes it back in the transaction that used it. After Kulkarni et al., "Logical
    Physical Clocks" (2014), with the counter carried into the milliseconds when it is full.
    """

    def __init__(self, device: str, now_ms: Callable[[], int], last: str = "") -> None:
        self.device = device
        self._now_ms = now_ms
        self._ms, self._counter = _parse_stamp(last)

    @property
    def last(self) -> str:
        """The greatest `ms-counter` so far."""
        return f"{self._ms:013d}-{self._counter:06d}"

    def next(self) -> str:
        """A version greater than every one made or seen."""
        now = self._now_ms()
        if now > self._ms:
            self._ms, self._counter = now, 0
        elif self._counter < _MAX_COUNTER:
            self._counter += 1
        else:
            self._ms, self._counter = self._ms + 1, 0
        return format_version(self._ms, self._counter, self.device)

    def saw(self, version: str) -> None:
        """Take the maximum with a received version."""
        self._ms, self._counter = max((self._ms, self._counter), _parse_stamp(version))


def _parse_stamp(version: str) -> tuple[int, int]:
    if not version:
        return 0, 0
    ms, counter = version.split("-")[:2]
    return int(ms), int(counter)

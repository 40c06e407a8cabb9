"""How long to wait: after a failure by tenacity's strategies, after changes until it is quiet, between idle polls."""

from tenacity import RetryCallState, wait_exponential, wait_random
from tenacity.wait import wait_base

from ..errors import AuthRequiredError, CloudStoppedError, ReadOnlyError

FIRST_WAIT_S = 5.0
LONGEST_WAIT_S = 300.0
GENTLE_WAIT_S = 30.0
"""First wait where only a person can help: token, read-only token, another cloud."""
QUIET_S = 2.0
"""A push waits until nothing changed for so long …"""
LONGEST_DELAY_S = 30.0
"""… but not longer than this after the first change."""
FIRST_POLL_S = 30.0
"""Idle devices look for others' changes; the pauses double up to `LONGEST_WAIT_S`."""

_GENTLE = (AuthRequiredError, ReadOnlyError, CloudStoppedError)


class WaitAfterFailure(wait_base):
    """5, 10, 20, 40 s … 5 min with jitter; longer on Retry-After, gentler where only a person can help."""

    def __init__(self) -> None:
        jitter = wait_random(0, FIRST_WAIT_S / 2)
        self._usual = wait_exponential(multiplier=FIRST_WAIT_S, max=LONGEST_WAIT_S) + jitter
        self._gentle = wait_exponential(multiplier=GENTLE_WAIT_S, max=LONGEST_WAIT_S) + jitter

    def __call__(self, retry_state: RetryCallState) -> float:
        """Seconds to wait after the failure in `retry_state`."""
        error = retry_state.outcome.exception() if retry_state.outcome else None
        usual = (self._gentle if isinstance(error, _GENTLE) else self._usual)(retry_state)
        return max(min(usual, LONGEST_WAIT_S), float(getattr(error, "retry_after_s", 0.0)))


class Schedule:
    """When the next exchange is due; pure, times are monotonic seconds."""

    def __init__(self) -> None:
        self._first_change: float | None = None
        self._last_change = 0.0
        self._poll_s = FIRST_POLL_S
        self._idle_since = 0.0

    def changed(self, now: float) -> None:
        """Something was written here."""
        if self._first_change is None:
            self._first_change = now
        self._last_change = now
        self._poll_s = FIRST_POLL_S

    def exchanged(self, now: float, *, busy: bool) -> None:
        """An exchange ended; `busy` if anything was sent or came in. Changes up to its start are dealt with."""
        self._poll_s = FIRST_POLL_S if busy else min(self._poll_s * 2, LONGEST_WAIT_S)
        self._idle_since = now

    def started(self) -> None:
        """An exchange begins: it takes all changes so far."""
        self._first_change = None

    def due_in(self, now: float) -> float:
        """Seconds until the next exchange is due."""
        poll = self._idle_since + self._poll_s - now
        if self._first_change is None:
            return max(0.0, poll)
        quiet = min(self._last_change + QUIET_S, self._first_change + LONGEST_DELAY_S) - now
        return max(0.0, min(quiet, poll))

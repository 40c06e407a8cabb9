"""A canary without a write: a known note is opened for reading, and the watcher must hear it (docs/memory.md, 1)."""

import os
import sys
from pathlib import Path

from ..clock import Clock
from .inbox import Inbox

EVERY_S = 30.0
"""Without any event for so long, the watcher is asked whether it still hears."""
ANSWER_S = 2.0
"""A note that was opened must be heard within this."""

_HASTY = 2
"""After so many unheard openings in a row it is asked at leisure: each one costs a look at everything."""


class Canary:
    """Opens a note now and then while all is quiet. Only where opening is reported, which is on Linux."""

    def __init__(self, workspace: Path, inbox: Inbox, clock: Clock, platform: str = sys.platform) -> None:
        self._workspace, self._inbox, self._clock = workspace, inbox, clock
        self._works = platform.startswith("linux")
        self._events = 0
        self._quiet_since = clock.monotonic()
        self._sent: float | None = None
        self._unheard = 0
        self.heard = False
        """Whether the last note that was opened was heard."""

    def reset(self) -> None:
        """The watching was set up anew: it is asked at the next look, unless that did not help the last time."""
        self._inbox.canary = ""
        self._sent, self.heard = None, False
        self._quiet_since = self._clock.monotonic() - (EVERY_S if self._unheard < _HASTY else 0.0)

    def is_dead(self, note: str) -> bool:
        """Look for the answer, or ask; True when the watcher did not hear the opening of `note`."""
        now = self._clock.monotonic()
        if self._sent is not None:
            return self._unanswered(now)
        if self._inbox.events != self._events:
            self._events, self._quiet_since = self._inbox.events, now
        if self._works and note and now - self._quiet_since >= EVERY_S:
            self._ask(note, now)
        return False

    def _unanswered(self, now: float) -> bool:
        assert self._sent is not None
        if not self._inbox.canary:
            self._sent, self._quiet_since, self.heard = None, now, True
            self._unheard = 0
            return False
        if now - self._sent < ANSWER_S:
            return False
        self._inbox.canary, self._sent, self.heard = "", None, False
        self._unheard += 1
        return True

    def _ask(self, note: str, now: float) -> None:
        self._inbox.canary, self._sent = note, now
        if not opened(self._workspace / note):
            self._inbox.canary, self._sent = "", None  # gone or locked: nothing can be said


def opened(path: Path) -> bool:
    """Open for reading and close; nothing is read, so that not even the access time changes."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError:
        return False
    return True

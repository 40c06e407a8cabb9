"""The one worker that takes notes in: hinted paths, or everything. Triggers coalesce; nothing runs twice at once."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from ..clock import Clock
from ..errors import MemorydError, StoreFullError, place_of
from .debounce import Debouncer

log = logging.getLogger(__name__)

FAILED_PAUSE_S = (5.0, 60.0)
"""First and longest pause before a scan is tried again after one failed."""


class Worker:
    """Debounces hints and hands them on, one batch at a time.

    `take_in` gets relative paths; `scan` compares everything. Both are awaited before the next one
    starts, so a burst of triggers costs one scan.
    """

    def __init__(
        self,
        workspace: Path,
        take_in: Callable[[Iterable[str]], Awaitable[None]],
        scan: Callable[[], Awaitable[object]],
        clock: Clock,
    ) -> None:
        self._take_in, self._scan, self._clock = take_in, scan, clock
        self._debouncer = Debouncer(lambda path: os.path.lexists(workspace / path))
        self._changed = asyncio.Event()
        self._scan_wanted = ""
        self._scan_after = 0.0
        self._pause = FAILED_PAUSE_S[0]
        self._stopping = False
        self.scanning = False
        """Whether a scan runs now."""
        self.busy_since: float | None = None
        """Monotonic time at which the running batch or scan began; None when idle."""
        self.last_scan: float | None = None
        """Monotonic time at which the last scan that went through began."""
        self.problem: MemorydError | None = None
        """Why the last batch or scan failed; None once one went through."""

    @property
    def waiting(self) -> int:
        """How many hints and scans wait."""
        return len(self._debouncer) + bool(self._scan_wanted)

    @property
    def warning(self) -> tuple[str, str, str] | None:
        """Code, message and fix while taking in fails; None when all is well."""
        if self.problem is None:
            return None
        code = self.problem.code if isinstance(self.problem, StoreFullError) else "intake"
        fix = self.problem.hint or "The daemon's log says more."
        return (code, self.problem.message, f"{fix} It is tried again by itself.")

    def hint(self, paths: Iterable[str]) -> None:
        """Something happened to these paths."""
        now = self._clock.monotonic()
        for path in paths:
            self._debouncer.hint(path, now)
        self._changed.set()

    def suspect_everything(self) -> None:
        """Something happened that no path tells; a scan follows after the debounce."""
        self._debouncer.everything(self._clock.monotonic())
        self._changed.set()

    def request_scan(self, why: str) -> None:
        """Compare everything as soon as the running batch is done."""
        self._scan_wanted = self._scan_wanted or why
        self._changed.set()

    def stop(self) -> None:
        """End `run` after the running batch."""
        self._stopping = True
        self._changed.set()

    async def run(self) -> None:
        """Work until stopped."""
        while not self._stopping:
            self._changed.clear()
            now = self._clock.monotonic()
            due = self._debouncer.due(now)
            if due.everything:
                self._scan_wanted = self._scan_wanted or "many files changed"
            if self._scan_wanted and now >= self._scan_after:
                await self._do_scan()
            elif due.paths:
                await self._do(self._take_in(due.paths))
            else:
                await self._wait(now)

    async def _do_scan(self) -> None:
        why, self._scan_wanted = self._scan_wanted, ""
        began = self._clock.monotonic()
        self.scanning = True
        try:
            if await self._do(self._scan()):
                self.last_scan = began
                log.debug("everything was compared: %s", why)
        finally:
            self.scanning = False

    async def _do(self, work: Awaitable[object]) -> bool:
        self.busy_since = self._clock.monotonic()
        try:
            await work
        except MemorydError as error:
            self._failed(error)
            return False
        except Exception as error:  # noqa: BLE001 - one broken batch must not end all taking in; a scan repeats it
            self._failed(MemorydError(f"Taking notes in failed ({place_of(error)}).", "The daemon's log says more."))
            return False
        finally:
            self.busy_since = None
        if self.problem is not None:
            log.info("taking notes in works again")
        self.problem, self._pause = None, FAILED_PAUSE_S[0]
        return True

    def _failed(self, problem: MemorydError) -> None:
        if self.problem is None or problem.message != self.problem.message:
            log.error("%s", problem.message)
        self.problem = problem
        self._scan_wanted = "the last one failed"
        self._scan_after = self._clock.monotonic() + self._pause
        self._pause = min(self._pause * 2, FAILED_PAUSE_S[1])

    async def _wait(self, now: float) -> None:
        times = [self._debouncer.next_due(), self._scan_after if self._scan_wanted else None]
        soonest = min((each for each in times if each is not None), default=None)
        try:
            await asyncio.wait_for(self._changed.wait(), None if soonest is None else max(0.0, soonest - now))
        except TimeoutError:
            return

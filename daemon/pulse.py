"""Whether the daemon still lives: what the service manager's watchdog is told, and the last resort without one."""

import asyncio
import faulthandler
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from ..clock import Clock
from ..errors import place_of
from .notify import Notifier

log = logging.getLogger(__name__)

STORE_S = 30.0
"""A call to the store thread that ended so long ago, while others wait, means that it hangs."""
PUSH_S = 300.0
"""An exchange during which neither the cloud nor the store answered for so long hangs: each request has its own
limit, far below this."""
LAST_RESORT_S = 120
"""Without a turn of the loop for so long, all stacks are printed and the process ends with 1."""


class Busy(Protocol):
    """The worker, as far as its progress goes."""

    busy_since: float | None


class Exchanging(Busy, Protocol):
    """The push and pull, as far as their progress goes."""

    @property
    def progress(self) -> int:
        """Grows while the cloud answers or fails."""


class CallCounter(Protocol):
    """The store thread, as far as its progress goes."""

    @property
    def finished(self) -> int:
        """How many calls ended."""

    @property
    def waiting(self) -> int:
        """How many calls wait or run."""


class _Organ:
    """One part that must make progress while it is busy: for how long nothing of it has moved."""

    def __init__(self, now: float) -> None:
        self._progress: object = None
        self._moved = now

    def still_for(self, now: float, progress: object, *, busy: bool) -> float:
        """Seconds since it moved or was idle."""
        if progress != self._progress or not busy:
            self._progress, self._moved = progress, now
        return now - self._moved

    def resumed(self, now: float) -> None:
        self._moved = now


class Pulse:
    """Pings the service manager only while the loop, the store thread, the worker and the push make progress.

    A worker that is busy makes progress as long as calls of the store end, an exchange as long as the cloud
    answers or fails, or calls end.
    """

    def __init__(
        self, notifier: Notifier, thread: CallCounter, worker: Busy, clock: Clock, sync: Exchanging | None = None
    ) -> None:
        self._notifier, self._thread, self._worker, self._clock, self._sync = notifier, thread, worker, clock, sync
        self._store, self._push = _Organ(clock.monotonic()), _Organ(clock.monotonic())
        self._told = False

    @property
    def interval_s(self) -> float:
        """How often `beat` is to be called."""
        watchdog_s = self._notifier.watchdog_s
        return LAST_RESORT_S / 4 if watchdog_s is None else watchdog_s / 3

    async def beat(self) -> None:
        """Look at everybody's progress, and tell the service manager if there is some."""
        arm_last_resort()
        if who := self.stuck():
            if not self._told:
                log.error("%s makes no progress; the service manager is not told that we live", who)
            self._told = True
            return
        self._told = False
        self._notifier.alive()

    def stuck(self) -> str:
        """Who has work that does not move any more; '' when all is well."""
        now, finished = self._clock.monotonic(), self._thread.finished
        store_busy = self._thread.waiting > 0 or self._worker.busy_since is not None
        store_still = self._store.still_for(now, finished, busy=store_busy)
        exchanging = self._sync is not None and self._sync.busy_since is not None
        answers = self._sync.progress if self._sync is not None else 0
        push_still = self._push.still_for(now, (finished, answers), busy=exchanging)
        if store_still > STORE_S:
            return "the store"
        return "the push" if push_still > PUSH_S else ""

    def warning(self) -> tuple[str, str, str] | None:
        """What status says of whoever hangs: `(code, message, fix)`."""
        if not (who := self.stuck()):
            return None
        said = f"{who.capitalize()} makes no progress."
        return "stuck", said, "Start the daemon anew: memoryd service stop, then start."

    def resumed(self) -> None:
        """The machine slept: nobody could make progress meanwhile."""
        arm_last_resort()
        for organ in (self._store, self._push):
            organ.resumed(self._clock.monotonic())


def arm_last_resort(limit_s: float = LAST_RESORT_S) -> None:
    """Start the countdown anew, as the loop does while it turns. It fires under a held GIL too (docs/engine.md)."""
    faulthandler.dump_traceback_later(limit_s, exit=True)


def disarm_last_resort() -> None:
    """No countdown while the store is opened, which may take minutes."""
    faulthandler.cancel_dump_traceback_later()


async def kept_running(
    name: str,
    work: Callable[[], Awaitable[None]],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    pauses_s: tuple[float, float] = (1.0, 60.0),
) -> None:
    """Run `work` until it ends by itself; start it again with growing pauses when it fails."""
    pause = pauses_s[0]
    while True:
        try:
            await work()
            return
        except Exception as error:  # noqa: BLE001 - said, and tried again; the other parts go on
            log.error("%s ended unexpectedly (%s); it starts again in %.0f s", name, place_of(error), pause)  # noqa: TRY400 - a traceback may show words of a note
        await sleep(pause)
        pause = min(pause * 2, pauses_s[1])

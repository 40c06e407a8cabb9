"""Who waits for an answer at this moment, and since when nobody does: work of our own gives way to them."""

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager

from ..clock import Clock


class Turn:
    """Work that is done by one at a time; use it as an asynchronous context manager."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._wanted = 0

    @property
    def is_taken(self) -> bool:
        """Whether anybody has it or waits for it, also while it goes from one to the next: taking it may last."""
        return self._wanted > 0

    async def __aenter__(self) -> None:
        self._wanted += 1
        try:
            await self._lock.acquire()
        except BaseException:
            self._wanted -= 1
            raise

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()
        self._wanted -= 1


class Asking:
    """Requests that are being answered; `status` does not count, since it disturbs nothing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = -math.inf
        """Monotonic time at which the last request came or was answered."""
        self._open = 0
        self._nobody = asyncio.Event()
        self._nobody.set()

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Somebody waits for an answer meanwhile."""
        self._open += 1
        self._last = self._clock.monotonic()
        self._nobody.clear()
        try:
            yield
        finally:
            self._open -= 1
            self._last = self._clock.monotonic()
            if not self._open:
                self._nobody.set()

    async def undisturbed(self) -> bool:
        """Return when nobody waits for an answer; whether that took a pause."""
        paused = not self._nobody.is_set()
        await self._nobody.wait()
        return paused

    def is_quiet(self, for_s: float) -> bool:
        """Whether nobody waits, and nobody has asked anything for so many seconds."""
        return not self._open and self._clock.monotonic() - self._last >= for_s

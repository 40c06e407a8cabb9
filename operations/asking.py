"""Who waits for an answer at this moment, and since when nobody does: work of our own gives way to them."""

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager

from ..clock import Clock


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

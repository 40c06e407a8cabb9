"""What the daemon tells its memory about the watching of notes, for `status` and for whoever has to be sure."""

from collections.abc import Awaitable, Callable

import msgspec


async def _nobody_watches() -> bool:
    return True


class WatchReport(msgspec.Struct):
    """What the daemon's watcher says of itself. Times are monotonic seconds, None if it never happened."""

    state: str = "degraded"
    alive: bool = False
    events: int = 0
    rebuilds: int = 0
    pending: int = 0
    last_event: float | None = None
    next_scan: float | None = None
    warnings: list[tuple[str, str, str]] = []
    """`(code, message, fix)`."""
    caught_up: Callable[[], Awaitable[bool]] = _nobody_watches
    """Whether the watcher has told of everything that happened to notes before the call."""

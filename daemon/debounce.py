"""When to look at a path that something happened to: after quiet, but never later than a bound. Pure; time is given."""

from collections.abc import Callable
from dataclasses import dataclass

QUIET_S = 0.3
"""A path is looked at when nothing happened to it for so long."""
BOUND_S = 2.0
"""Under constant writing it is looked at this long after the first event; a vanished file is looked at not sooner."""
BURST = 200
"""More paths than this in one window are not looked at one by one: everything is compared."""


@dataclass
class _Waiting:
    first: float
    last: float


@dataclass
class Due:
    """What is to be looked at now."""

    paths: list[str]
    everything: bool = False


class Debouncer:
    """Collects hints and gives them back when they are due. `exists` tells whether a path is there at the moment.

    A path that vanished is held for `BOUND_S`: many editors save by moving the old file away and
    writing a new one (WA-14), and a note must not be taken for deleted in between.
    """

    def __init__(self, exists: Callable[[str], bool]) -> None:
        self._exists = exists
        self._paths: dict[str, _Waiting] = {}
        self._everything: _Waiting | None = None

    def __len__(self) -> int:
        """How many hints wait."""
        return len(self._paths) + (self._everything is not None)

    def hint(self, path: str, now: float) -> None:
        """Something happened to `path`."""
        if self._everything is not None:
            self._everything.last = now
            return
        self._paths.setdefault(path, _Waiting(now, now)).last = now
        if len(self._paths) > BURST:
            self.everything(now)

    def everything(self, now: float) -> None:
        """Something happened that no single path tells."""
        first = self._everything.first if self._everything else now
        self._everything = _Waiting(first, now)
        self._paths.clear()

    def next_due(self) -> float | None:
        """When `due` has something to give, if nothing more happens; None when nothing waits."""
        waiting = [*self._paths.values(), *([self._everything] if self._everything else [])]
        return min((_due_at(each) for each in waiting), default=None)

    def due(self, now: float) -> Due:
        """Take out what is due at `now`."""
        if self._everything is not None:
            if _due_at(self._everything) > now:
                return Due([])
            self._everything = None
            return Due([], everything=True)
        ripe = [path for path, waiting in self._paths.items() if _due_at(waiting) <= now and self._settled(path, now)]
        for path in ripe:
            del self._paths[path]
        return Due(ripe)

    def _settled(self, path: str, now: float) -> bool:
        waiting = self._paths[path]
        if now >= waiting.first + BOUND_S or self._exists(path):
            return True
        waiting.last = waiting.first + BOUND_S - QUIET_S
        return False


def _due_at(waiting: _Waiting) -> float:
    return min(waiting.last + QUIET_S, waiting.first + BOUND_S)

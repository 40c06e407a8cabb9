"""The deletion hold: many notes gone at once is more likely an accident than a wish (docs/memory.md, 1)."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from ..clock import Clock
from ..store.files import FileRecord

log = logging.getLogger(__name__)

HOLD_S = 600.0
"""A second look after this long believes what the first did not [s]."""
_RECENT_S = 60.0
_AT_LEAST = 5


class Held(msgspec.Struct):
    """One note that is held: since when (monotonic seconds), and why."""

    since: float
    reason: str


class Hold:
    """Which notes are held, and which were deleted a moment ago."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.paths: dict[str, Held] = {}
        self._deleted: list[tuple[float, FileRecord]] = []
        self._told = False

    def tell(self) -> None:
        """Log that the hold begins or ends, once each."""
        if bool(self.paths) == self._told:
            return
        self._told = not self._told
        if self._told:
            log.warning("%d notes vanished or became empty at once; their facts are kept for now", len(self.paths))
        else:
            log.info("no vanished notes are held any more")

    def add(self, path: str, reason: str) -> None:
        """Hold a note; holding it again does not start anew."""
        self.paths.setdefault(path, Held(self._clock.monotonic(), reason))

    def release(self, path: str) -> None:
        """The note is there again."""
        self.paths.pop(path, None)

    def release_all(self, paths: Iterable[str]) -> None:
        """These notes are there again."""
        for path in self.paths.keys() & set(paths):
            self.release(path)

    def is_due(self, path: str) -> bool:
        """Whether the note was held long enough to believe it."""
        held = self.paths.get(path)
        return held is not None and self._clock.monotonic() - held.since >= HOLD_S

    def all_due(self, paths: Collection[str]) -> bool:
        """Whether each of these was held long enough."""
        return all(self.is_due(path) for path in paths)

    def deleted(self, record: FileRecord) -> None:
        """A note was let go; it still counts as known for a moment, so that a slow mass deletion is seen too."""
        self.release(record.path)
        self._deleted.append((self._clock.monotonic(), record))

    def recently_deleted(self) -> list[FileRecord]:
        """What was let go within the last minute."""
        limit = self._clock.monotonic() - _RECENT_S
        self._deleted = [each for each in self._deleted if each[0] >= limit]
        return [record for _, record in self._deleted]


def is_suspicious(known: Mapping[str, FileRecord], absent: Sequence[str], before: Sequence[FileRecord]) -> bool:
    """More than half of at least five known notes vanished, or all notes of an agent that had several."""
    notes = [record for record in known.values() if record.agent_id]
    gone = [known[path] for path in absent if known[path].agent_id]
    total, missing = len(notes) + len(before), len(gone) + len(before)
    if total >= _AT_LEAST and missing * 2 > total:
        return True
    left = {record.agent_id for record in notes if record.path not in set(absent)}
    return any(record.agent_id not in left for record in gone)

"""What was compared of each watched file, and sums over all of them that a question does not have to make anew."""

from collections import Counter
from collections.abc import Iterator, Mapping, MutableMapping
from types import MappingProxyType

from ..model import RULES
from ..store.files import FileRecord
from .walk import Found

_FAULTS = ("unreadable", "too_large")
_TRUST_AFTER_NS = 2_000_000_000
"""A stamp younger than this when it was read may hide a second write within its granule (borg#3536)."""


def may_differ(record: FileRecord | None, found: Found) -> bool:
    """Whether a file may say something else than what was compared last, None if it never was."""
    stat = found.stat
    if record is None or record.state in ("unreadable", "vanished") or record.rules != RULES:
        return True
    if record.agent_id != found.name.agent_id:
        return True
    seen = (record.size, record.mtime_ns, record.ctime_ns, record.ino)
    if seen != (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino):
        return True
    return max(stat.st_mtime_ns, stat.st_ctime_ns) > record.seen_at * 1_000_000 - _TRUST_AFTER_NS


class Records(MutableMapping[str, FileRecord]):
    """Records by path. One that was put in is replaced, never changed: it was counted as it is."""

    def __init__(self, records: Mapping[str, FileRecord] = MappingProxyType({})) -> None:
        self._records: dict[str, FileRecord] = {}
        self._notes: Counter[str] = Counter()
        self._faults: dict[str, dict[str, str]] = {state: {} for state in _FAULTS}
        self.with_findings = 0
        """How many notes and pages have findings."""
        self.masked = 0
        """How many lines hold something masked."""
        self.update(records)

    @property
    def agents(self) -> set[str]:
        """Everybody who has a note or a page."""
        return set(self._notes)

    @property
    def notes(self) -> int:
        """How many notes and pages there are."""
        return self._notes.total()

    @property
    def unreadable(self) -> Mapping[str, str]:
        """The files that could not be read, with the reason."""
        return self._faults["unreadable"]

    @property
    def too_large(self) -> Mapping[str, str]:
        """The files that are not parsed for their size, with the reason."""
        return self._faults["too_large"]

    def __getitem__(self, path: str) -> FileRecord:
        return self._records[path]

    def __setitem__(self, path: str, record: FileRecord) -> None:
        self.pop(path, None)
        self._records[path] = record
        self._count(record, 1)
        if record.state in self._faults:
            self._faults[record.state][path] = record.reason

    def __delitem__(self, path: str) -> None:
        record = self._records.pop(path)
        self._count(record, -1)
        if record.state in self._faults:
            del self._faults[record.state][path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, path: object) -> bool:
        return path in self._records

    def _count(self, record: FileRecord, one: int) -> None:
        self.masked += one * record.masked
        if record.agent_id:
            self.with_findings += one * bool(record.findings)
            self._notes[record.agent_id] += one
            if not self._notes[record.agent_id]:
                del self._notes[record.agent_id]

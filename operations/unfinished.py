"""Which notes this process reads and parses itself, written down beforehand, so that one that ends it is known.

A thread cannot be ended, and a regular expression, or a library in C, keeps the whole process still: then the daemon's
last resort, or the service manager, ends it in the middle of a note. Who starts after that finds the note's
name, and has a process read it that can be ended (docs/memory.md, 1: a huge note).
"""

import logging
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..crash import crash_point
from ..errors import place_of

log = logging.getLogger(__name__)

_MOST_BYTES = 1 << 20
"""A file with more than this was not written here."""


class Unfinished:
    """The names of the notes that are being read, in a small file which is there only as long as that lasts.

    Nothing is synced to the disk: what is to be known is the end of a process, not of the machine.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._reading: Counter[str] = Counter()
        self.suspects: frozenset[str] = frozenset()
        """Paths that an earlier process had begun to read when it ended."""

    def load(self) -> None:
        """Read what an earlier process left behind."""
        try:
            with self._file.open("rb") as left:
                names = left.read(_MOST_BYTES).split(b"\0")
        except FileNotFoundError:
            return
        except OSError as error:
            log.warning("%s cannot be read: %s", self._file.name, error.strerror)
            return
        self.suspects = frozenset(os.fsdecode(name) for name in names if name)
        if self.suspects:
            log.warning(
                "An earlier process ended while it read %s: read now under a time limit.", ", ".join(self.told())
            )

    def told(self) -> list[str]:
        """The names of the suspects, at most five, as a log can hold them."""
        names = [os.fsencode(path).decode("utf-8", "replace") for path in sorted(self.suspects)]
        return names if len(names) <= 5 else [*names[:5], f"{len(names) - 5} more"]

    def acquit(self) -> None:
        """What is suspected has its state now, and no process ended on the way."""
        if self.suspects:
            self.suspects = frozenset()
            self._write()

    @contextmanager
    def reading(self, paths: Sequence[str]) -> Iterator[None]:
        """While these notes are read."""
        self._reading.update(paths)
        self._write()
        crash_point("reading written down")
        try:
            yield
        finally:
            self._reading -= Counter(paths)
            self._write()

    def _write(self) -> None:
        names = sorted({*self._reading, *self.suspects})
        try:
            if names:
                self._file.write_bytes(b"\0".join(map(os.fsencode, names)))
            else:
                self._file.unlink(missing_ok=True)
        except OSError as error:  # a full disk: the notes are read all the same
            log.debug("%s is not written: %s", self._file.name, place_of(error))

"""Reads one note without being fooled: no link is followed, a torn read is tried again."""

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ..errors import NoteError

RETRY_S = (0.05, 0.2, 1.0)
"""Waits before a read is tried again because the file changed under it [s]."""
_PIECE = 1 << 20
_GONE = (FileNotFoundError, NotADirectoryError)


class UnreadableError(NoteError):
    """The note is there, but it cannot be read now; nothing is concluded from that."""


class VanishedError(NoteError):
    """The note is not there: its folder could be opened and has no such name."""


class FileRead(msgspec.Struct):
    """A whole file as one moment saw it. A larger one than the limit is not read: no `data`, `sha256` is ''."""

    data: bytes | None
    size: int
    mtime_ns: int
    ctime_ns: int
    ino: int
    sha256: str


class _TornReadError(Exception):
    """The file changed while it was read."""


def read_note(root: Path, path: str, limit: int, sleep: Callable[[float], None] = time.sleep) -> FileRead:
    """Read the file at `path` (relative, `/` between parts) below `root`; `limit` in bytes.

    Raises:
        VanishedError: it does not exist.
        UnreadableError: it is no regular file, a link, forbidden, or never stands still.
    """
    for wait in (*RETRY_S, None):
        try:
            with _opened(root, path) as fd:
                return _read(fd, limit)
        except _GONE as error:
            raise VanishedError(path, f"{path} does not exist.") from error
        except (OSError, ValueError) as error:
            raise UnreadableError(path, f"{path} cannot be read: {_why(error)}.", "Check its permissions.") from error
        except _TornReadError as error:
            if wait is None:
                raise UnreadableError(path, f"{path} changes while it is read.", "It is tried again.") from error
            sleep(wait)
    raise AssertionError("unreachable")


@contextmanager
def _opened(root: Path, path: str) -> Iterator[int]:
    """Open part by part, so that no folder on the way can be a link to elsewhere (except `memory/` itself)."""
    parts = path.split("/")
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for depth, part in enumerate(parts[:-1]):
            follow = 0 if depth == 0 else os.O_NOFOLLOW
            try:
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | follow, dir_fd=folder)
            except NotADirectoryError as error:  # Linux says so of a link too, and a link is not gone
                if stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode):
                    raise ValueError("a folder on the way is a link") from error
                raise
            os.close(folder)
            folder = below
        fd = os.open(parts[-1], os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        yield fd
    finally:
        os.close(fd)


def _read(fd: int, limit: int) -> FileRead:
    before = os.fstat(fd)
    if not stat.S_ISREG(before.st_mode):
        raise ValueError("it is not a regular file")
    if before.st_size > limit:
        return FileRead(None, before.st_size, before.st_mtime_ns, before.st_ctime_ns, before.st_ino, "")
    digest = hashlib.sha256()
    pieces: list[bytes] = []
    size = 0
    while size <= limit and (piece := os.read(fd, _PIECE)):
        digest.update(piece)
        size += len(piece)
        pieces.append(piece)
    after = os.fstat(fd)
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or size != after.st_size:
        raise _TornReadError
    return FileRead(b"".join(pieces), size, after.st_mtime_ns, after.st_ctime_ns, after.st_ino, digest.hexdigest())


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)

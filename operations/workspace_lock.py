"""One daemon a workspace: an flock on the folder itself, so that nothing of ours lies among the notes.

Two memories on one workspace would write over each other's block in MEMORY.md for ever. The kernel frees the lock
when its holder dies, however it dies. Where a network file system knows no such locks, work goes on without.
"""

import fcntl
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

from ..errors import TryLaterError

log = logging.getLogger(__name__)

_LOCKS = Path("/proc/locks")
_PATIENCE_S, _PAUSE_S = 1.0, 0.05
"""A command looks for a moment whether the lock is free: so long a daemon tries again."""
HINT = "Stop it first, or give this memory a workspace of its own: --workspace FOLDER --instance NAME"


class WorkspaceLock:
    """The lock of one workspace; `take` it, `check` it now and then, `release` it."""

    def __init__(self, folder: Path, sleep: Callable[[float], None] = time.sleep) -> None:
        self._folder, self._sleep = folder, sleep
        self._fd: int | None = None
        self._deaf = False
        self.warning: tuple[str, str, str] | None = None
        """`(code, message, fix)` while another daemon has the folder that stands here now."""

    def take(self) -> None:
        """Take the lock; raises `TryLaterError` naming its holder, where that can be told."""
        for _ in range(round(_PATIENCE_S / _PAUSE_S)):
            if self._try():
                return
            self._sleep(_PAUSE_S)
        raise TryLaterError(served(self._folder), HINT)

    def check(self) -> None:
        """After the folder was replaced: take the lock of the one that stands there now, or warn."""
        try:
            now = self._folder.stat()
        except OSError:
            return  # there is none at this moment; the watcher says so
        held = None if self._fd is None else os.fstat(self._fd)
        if held is not None and (held.st_dev, held.st_ino) == (now.st_dev, now.st_ino):
            return
        self.release()
        self.warning = None if self._try() else ("second_daemon", served(self._folder), HINT)

    def release(self) -> None:
        """Give the lock up."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _try(self) -> bool:
        """Whether nobody else has it; it is ours then, unless the file system has no such locks."""
        fd = _locked(self._folder, fcntl.LOCK_EX, self._without)
        if fd is None:
            return False
        self._fd = fd or None
        return True

    def _without(self, error: OSError) -> None:
        if not self._deaf:
            log.warning(
                "%s cannot be locked (%s): a second daemon there would go unnoticed", self._folder, error.strerror
            )
        self._deaf = True


def refuse_if_served(folder: Path) -> None:
    """Raise `TryLaterError` where a daemon serves the workspace; who asks holds the lock of their own memory."""
    fd = _locked(folder, fcntl.LOCK_SH, lambda _: None)
    if fd is None:
        raise TryLaterError(served(folder), HINT)
    if fd:
        os.close(fd)


def served(folder: Path) -> str:
    """The sentence that says who has the workspace."""
    pid = _holder(folder)
    who = f" (pid {pid})" if pid else ""
    return f"A daemon with another memory serves the workspace {folder}{who}; both would write its MEMORY.md."


def _locked(folder: Path, how: int, without: Callable[[OSError], None]) -> int | None:
    """A descriptor that holds the lock, 0 where there is none to be had, None where somebody else holds it."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return 0  # whoever reads the notes says it better
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    except OSError as error:
        os.close(fd)
        without(error)
        return 0
    return fd


def _holder(folder: Path) -> int:
    """The process that holds the lock, as Linux tells; 0 if it is not known."""
    try:
        found = folder.stat()
        lines = _LOCKS.read_text("ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return 0
    place = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    for line in lines:
        words = line.split()
        if len(words) > 5 and words[1:4] == ["FLOCK", "ADVISORY", "WRITE"] and words[5] == place:
            return max(0, int(words[4]))
    return 0

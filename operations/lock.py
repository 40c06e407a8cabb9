"""One memoryd a memory: an flock that is held for life. What the file says only informs; the kernel's lock decides.

The file is never unlinked: a lock on a removed file would guard nothing. The kernel frees the lock
when its holder dies, however it dies, so that no stale lock can outlive a process.
"""

import errno
import fcntl
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import msgspec

from ..clock import Clock
from ..errors import AccessError, TryLaterError

DAEMON = "run"
"""The command that holds the lock until it is stopped; waiting for it is no use to a second one."""

_PAUSE_S = 0.05


class Holder(msgspec.Struct):
    """Who holds the lock: process id, since when (ISO 8601, UTC), and with which command."""

    pid: int
    since: str
    command: str


class InstanceLock:
    """The lock of one instance. `with InstanceLock(path) as lock:` takes it at once or raises `TryLaterError`."""

    def __init__(
        self,
        path: Path,
        command: str = "command",
        *,
        clock: Clock | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.path = path
        self._command = command
        self._clock = clock or Clock()
        self._sleep = sleep
        self._fd: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._fd is not None

    def acquire(self, wait_s: float = 0.0) -> None:
        """Take the lock, waiting up to `wait_s` seconds for another command to end.

        A daemon does not wait for another daemon. Raises `TryLaterError` naming the holder, and
        `AccessError` where the lock file cannot be made.
        """
        deadline = self._clock.monotonic() + wait_s
        while not self._try():
            holder = self.holder()
            two_daemons = self._command == DAEMON and holder is not None and holder.command == DAEMON
            if two_daemons or self._clock.monotonic() >= deadline:
                raise _taken(holder)
            self._sleep(_PAUSE_S)
        self._write_holder()

    def release(self) -> None:
        """Give the lock up; the file stays."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def holder(self) -> Holder | None:
        """What the lock's holder wrote about itself; None when nothing readable stands there."""
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=Holder)
        except (OSError, msgspec.DecodeError):
            return None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _try(self) -> bool:
        fd = self._open()
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not _is_file_at(fd, self.path):  # replaced between open and lock
                os.close(fd)
                return False
        except BlockingIOError:
            os.close(fd)
            return False
        except OSError as error:
            os.close(fd)
            raise AccessError(
                f"{self.path} cannot be locked: {os.strerror(error.errno or errno.EIO)}.",
                "Put the state folder on a local disk (MEMORYD_STATE_DIR).",
            ) from None
        self._fd = fd
        return True

    def _open(self) -> int:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise AccessError(
                f"The lock {self.path} cannot be opened: {error.strerror}.",
                "Check the owner and mode of the state folder.",
            ) from None

    def _write_holder(self) -> None:
        assert self._fd is not None
        since = datetime.fromtimestamp(self._clock.now_ms() // 1000, UTC).isoformat().replace("+00:00", "Z")
        text = msgspec.json.encode(Holder(os.getpid(), since, self._command))
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, text, 0)


def held_by(path: Path) -> Holder | None:
    """Who holds the lock at `path` now; None when nobody does. Takes nothing and writes nothing."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return InstanceLock(path).holder()
    except OSError:
        return None
    finally:
        os.close(fd)
    return None


def _is_file_at(fd: int, path: Path) -> bool:
    ours = os.fstat(fd)
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    return (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)


def _taken(holder: Holder | None) -> TryLaterError:
    who = f"pid {holder.pid}, since {holder.since}" if holder else "its pid is not known"
    if holder and holder.command == DAEMON:
        return TryLaterError(f"A memoryd daemon is already running here ({who}).", "See it with: memoryd status")
    return TryLaterError(f"Another memoryd command is at work here ({who}).", "Try again when it has ended.")

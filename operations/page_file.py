"""Replacing a MEMORY page without ever losing what a person saved at the same moment (docs/memory.md, 3)."""

import contextlib
import ctypes
import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

from ..crash import crash_point
from ..foreign import read_regular

_AT_FDCWD = -100
_EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2), RENAME_SWAP of renamex_np(2)
_ATTEMPTS = 5


def read_page(path: Path) -> bytes | None:
    """The page's bytes, None if there is none; raises `OSError` for anything else."""
    try:
        return read_regular(path)
    except FileNotFoundError:
        return None


def rewrite_page(
    path: Path,
    change: Callable[[bytes | None], bytes | None],
    is_no_loss: Callable[[bytes, bytes], bool] = lambda left, page: left == page,
) -> bool:
    """Write `change(what stands there)`; returns whether the file changed. `change` gives None to leave it.

    The new page is exchanged with the old one, then what came out is looked at: if somebody saved in
    between, their page goes back and `change` is asked again with it. A link is never written through, and a
    read-only page raises `PermissionError`.
    `is_no_loss(left, page)` judges a file that a crash left: whether the page says everything that it says.
    """
    if path.is_symlink():
        return False
    _rescue(_temporary(path), path, is_no_loss)
    for _ in range(_ATTEMPTS):
        read = read_page(path)
        wanted = change(read)
        if wanted is None or wanted == read:
            return False
        _refuse_read_only(path)
        if _put(path, read, wanted):
            return True
    return False  # a page that is saved faster than we look is rewritten after the next change


def _refuse_read_only(path: Path) -> None:
    """A page that its owner made read-only is not replaced either, though the folder would allow it."""
    with contextlib.suppress(FileNotFoundError):
        if not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
            raise PermissionError(errno.EACCES, "it is read-only", str(path))


def _put(path: Path, read: bytes | None, wanted: bytes) -> bool:
    temporary = _temporary(path)
    _write(temporary, wanted, path)
    crash_point("page temporary")
    try:
        if read is None:
            return _link(temporary, path)
        if not _exchange(temporary, path):
            return _replace_if_unchanged(temporary, path, read)
        crash_point("page exchanged")
        if temporary.read_bytes() != read:
            _exchange(temporary, path)
            return False
        return True
    finally:
        temporary.unlink(missing_ok=True)
        _sync_folder(path.parent)


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.memoryd")


def _rescue(temporary: Path, path: Path, is_no_loss: Callable[[bytes, bytes], bool]) -> None:
    """A file that a crash left may be a person's page that had just come out: it is kept unless nothing is lost."""
    with contextlib.suppress(FileNotFoundError):
        left, page = temporary.read_bytes(), read_page(path)
        if is_no_loss(left, page or b""):
            temporary.unlink()
        else:
            temporary.rename(temporary.with_name(f"{temporary.name}-rescued-{temporary.stat().st_mtime_ns}"))


def _write(temporary: Path, data: bytes, like: Path) -> None:
    mode = like.stat().st_mode & 0o777 if like.exists() else 0o644
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(fd, "wb") as file:
            if like.exists():
                os.fchmod(fd, mode)  # the umask is not asked: the page stays as open as it was
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        temporary.unlink()  # a full disk: half of our own page is worth nothing
        raise


def _link(temporary: Path, path: Path) -> bool:
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        return False  # a person made the page meanwhile
    crash_point("page linked")
    return True


def _replace_if_unchanged(temporary: Path, path: Path, read: bytes) -> bool:
    """Where files cannot be exchanged, the gap between look and rename is as small as we can make it."""
    if read_page(path) != read:
        return False
    temporary.replace(path)
    return True


def _exchange(one: Path, two: Path) -> bool:
    """Exchange two files in one step; False where the system or file system cannot."""
    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(two)
    try:
        if sys.platform == "darwin":
            failed = libc.renamex_np(*names, _EXCHANGE)
        else:
            failed = libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _EXCHANGE)
    except AttributeError:
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), str(two))


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)

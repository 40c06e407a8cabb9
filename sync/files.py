"""Putting notes into a workspace without ever following a link, writing over a file, or leaving half of one."""

import errno
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, TypeAlias

from ..crash import crash_point
from ..errors import AccessError, MemorydError

TEXT_FILES = ("memory/custom_dict.txt", "memory/aliases.txt")
"""The only files without `.md` that are backed up."""
MAX_NAME_BYTES = 255
_TEMPORARY = ".memoryd-restore-"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NOT_A_FOLDER = (errno.ELOOP, errno.ENOTDIR)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")
_FORGOTTEN = b"[forgotten]"
_MASK = re.compile(rb"\[masked:[^\]\s]+\]|" + re.escape(_FORGOTTEN))

Local: TypeAlias = Literal["missing", "same", "differs"]


def is_safe(path: str) -> bool:
    """Whether a path from a log may be written: inside the workspace, nothing hidden, a note or a known text file."""
    parts = path.split("/")
    if _CONTROL.search(path) or any(part in ("", "..") or part.startswith(".") for part in parts):
        return False
    try:
        fits = all(len(part.encode()) <= MAX_NAME_BYTES for part in parts)
    except UnicodeEncodeError:
        return False
    return fits and (path.endswith(".md") or path in TEXT_FILES)


def look(root: Path, path: str, data: bytes) -> Local:
    """What stands at `path` now, compared with `data`. Links and folders in its place differ."""
    try:
        with _parent(root, path, make=False) as folder:
            return "same" if _read(folder, path) == data else "differs"
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        if error.errno in _NOT_A_FOLDER or error.errno == errno.EISDIR:
            return "differs"
        raise AccessError(f"{path} cannot be read: {error.strerror}.", "Check its owner and mode.") from None


def stamp(root: Path, path: str, data: bytes) -> os.stat_result | None:
    """The stat of the file at `path` if it holds `data` and stayed the same while it was read, else None."""
    try:
        with _parent(root, path, make=False) as folder, _opened(folder, path) as file:
            before = os.fstat(file.fileno())
            same = file.read() == data and _marks(os.fstat(file.fileno())) == _marks(before)
            return before if same else None
    except OSError:
        return None  # it went, or something else stands there: the scan tells


def write_all(root: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write new files: temporary file, fsync, link, and after each folder its own fsync.

    A file that is already there with these bytes is left (an earlier run was cut off). Raises
    `MemorydError` for one that appeared meanwhile with others, `AccessError` where the system refuses.
    """
    by_folder: dict[str, list[tuple[str, bytes]]] = {}
    for path, data in files:
        by_folder.setdefault(path.rpartition("/")[0], []).append((path, data))
    try:
        for some in by_folder.values():
            with _parent(root, some[0][0], make=True) as folder:
                for path, data in some:
                    _write_one(folder, path, data)
                    crash_point("restore file")
                os.fsync(folder)
    except OSError as error:
        raise AccessError(
            f"The workspace refused a file: {error.strerror}.", "Check its owner, mode and space."
        ) from None


def sweep(root: Path, paths: Iterable[str]) -> None:
    """Remove what an earlier run left in the folders of `paths` when it was cut off; before anything is written."""
    for parent in {path.rpartition("/")[0] for path in paths}:
        try:
            with _parent(root, f"{parent}/x" if parent else "x", make=False) as folder:
                for name in os.listdir(folder):  # noqa: PTH208 - a descriptor, so that no link is followed
                    if name.startswith(_TEMPORARY):
                        os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise AccessError(f"{parent} cannot be tidied: {error.strerror}.", "Check its owner and mode.") from None


class Masked(NamedTuple):
    """Lines that hold the mask of a secret or of a forgotten sentence, and how many of them that of a sentence."""

    lines: int
    forgotten: int


def masked_lines(data: bytes) -> Masked:
    """The lines of a note that are not as its person wrote them."""
    found = [line for line in data.split(b"\n") if _MASK.search(line)]
    return Masked(len(found), sum(_FORGOTTEN in line for line in found))


@contextmanager
def _parent(root: Path, path: str, *, make: bool) -> Iterator[int]:
    """The open folder of `path`, reached part by part without following a link."""
    folder = os.open(root, _FOLDER & ~os.O_NOFOLLOW)
    try:
        for part in path.split("/")[:-1]:
            if make:
                _make_folder(folder, part)
            below = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def _make_folder(folder: int, name: str) -> None:
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        return
    os.fsync(folder)


def _marks(found: os.stat_result) -> tuple[int, ...]:
    """What tells that a file was written to; its time of access moves with our own reading."""
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _read(folder: int, path: str) -> bytes:
    with _opened(folder, path) as file:
        return file.read()


def _opened(folder: int, path: str) -> BinaryIO:
    # Not blocking: a pipe in a note's place would never answer.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.fdopen(os.open(path.rpartition("/")[2], flags, dir_fd=folder), "rb")


def _write_one(folder: int, path: str, data: bytes) -> None:
    name, temporary = path.rpartition("/")[2], _TEMPORARY + secrets.token_hex(4)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(temporary, flags, 0o666, dir_fd=folder), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    try:
        # A link, not a rename: a rename would replace a file that appeared meanwhile.
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        if _read(folder, path) != data:
            raise MemorydError(
                f"{path} appeared while it was restored.", "Nothing was overwritten; run it again."
            ) from None
    finally:
        os.unlink(temporary, dir_fd=folder)

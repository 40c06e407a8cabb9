"""What others wrote: JSON of any depth, and files that may be pipes.

msgspec raises `RecursionError` for JSON that is nested deeper than the interpreter's stack, and whoever walks a
value that was just shallow enough to be read falls over it later. Opening a pipe without a writer never returns,
and what hangs in a thread cannot be ended.
"""

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

MAX_DEPTH = 100
"""Levels of lists and objects; far more than anybody writes, far less than the stack holds."""


def decoded_json(data: bytes | str) -> Any:
    """The value of a JSON text; raises `msgspec.DecodeError` for everything else, also for one above `MAX_DEPTH`."""
    try:
        value = msgspec.json.decode(data)
    except UnicodeError as error:
        raise msgspec.DecodeError(str(error)) from None
    except RecursionError:
        raise _too_deep() from None
    return checked_depth(value)


def checked_depth(value: Any) -> Any:
    """The value itself; raises `msgspec.DecodeError` for one above `MAX_DEPTH`."""
    level = _containers([value])
    for _ in range(MAX_DEPTH):
        if not level:
            return value
        level = [inner for each in level for inner in _containers(each.values() if isinstance(each, dict) else each)]
    if level:
        raise _too_deep()
    return value


def _containers(values: Iterable[Any]) -> list[Any]:
    return [each for each in values if isinstance(each, dict | list)]


def _too_deep() -> msgspec.DecodeError:
    return msgspec.DecodeError(f"it is nested deeper than {MAX_DEPTH} levels")


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; raises `OSError` as `open` does, and for pipes, devices and sockets."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "it is no regular file", str(path))


def read_regular(path: Path) -> bytes:
    """The bytes of a file, with the errors of `open_regular`."""
    with open_regular(path) as file:
        return file.read()

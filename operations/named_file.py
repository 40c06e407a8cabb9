"""A file that a command names: found, read and parsed, with the errors a person understands."""

import asyncio
import os
import stat as stat_module
from datetime import date
from pathlib import Path
from typing import BinaryIO

import msgspec

from ..errors import AccessError, NoInputError
from ..ingest.names import classify
from ..ingest.parse import parse_note
from ..model import DEFAULT_AGENT, ParsedNote
from .memory import Memory
from .prepare import with_year

_PIECE = 1 << 20


class NamedFile(msgspec.Struct):
    """One parsed file. `path` is relative to the workspace where the file lies in it, else absolute."""

    path: str
    agent_id: str
    data: bytes
    parsed: ParsedNote


async def named_file(memory: Memory, file: str, agent_id: str) -> NamedFile:
    """Read and parse the file as ingest would; raises `NoInputError`, `AccessError`."""
    return await asyncio.to_thread(_read_and_parse, memory, memory.workspace / file, agent_id)


def todays_note(day: date, agent_id: str) -> str:
    """The path of an agent's daily note."""
    folder = "memory" if agent_id == DEFAULT_AGENT else f"memory/{agent_id}"
    return f"{folder}/{day.isoformat()}.md"


def _read_and_parse(memory: Memory, path: Path, agent_id: str) -> NamedFile:
    try:
        with open_regular(path, memory.workspace) as opened:
            stat = os.fstat(opened.fileno())
            whole = stat.st_size <= memory.settings.notes.max_backup_bytes
            data = opened.read() if whole else b""
            count = 0 if whole else lines_of(opened)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise NoInputError(f"{path} is no file.", "Name an existing Markdown file.") from None
    except OSError as error:
        raise AccessError(f"{path} cannot be read: {error.strerror}.", "Check its owner and mode.") from None
    relative = _within(memory.workspace, path)
    name = classify(relative or path.name, memory.settings.notes.extra)
    owner = name.agent_id if relative and name.agent_id else agent_id
    if count:
        return NamedFile(relative or str(path), owner, b"", ParsedNote(b"", [], [], [], "too_large", whole=count))
    parsed = parse_note(
        data,
        path=relative or path.name,
        agent_id=owner,
        date=name.date,
        is_page=name.kind == "page",
        max_bytes=memory.settings.notes.max_ingest_bytes,
    )
    return NamedFile(relative or str(path), owner, data, with_year(parsed, name, stat.st_mtime_ns))


def open_regular(path: Path, workspace: Path) -> BinaryIO:
    """Open a regular file for reading; a device, a pipe or a link within the workspace is no input.

    A pipe without a writer would hold its thread for ever, a device would never end.
    """
    if path.is_symlink() and path.parent.resolve().is_relative_to(workspace):
        raise NoInputError(f"{path} is a link, which memoryd does not follow.", "Name the file itself.")
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat_module.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NoInputError(f"{path} is no regular file.", "Name an existing Markdown file.")
    return os.fdopen(descriptor, "rb")


def lines_of(opened: BinaryIO) -> int:
    r"""How many lines a file of any size has, counted piece by piece: `\n` bytes, and a last line without one."""
    count, last = 0, b"\n"
    while piece := opened.read(_PIECE):
        count += piece.count(b"\n")
        last = piece[-1:]
    return count + (last != b"\n")


def _within(workspace: Path, path: Path) -> str:
    try:
        return path.resolve().relative_to(workspace).as_posix()
    except ValueError:
        return ""

"""A file that a command names: found, read and parsed, with the errors a person understands."""

import asyncio
import errno
import os
from datetime import date
from pathlib import Path
from typing import BinaryIO

import msgspec

from .. import foreign
from ..errors import AccessError, NoInputError
from ..ingest.encoding import count_lines
from ..ingest.names import classify
from ..model import DEFAULT_AGENT, ParsedNote
from .memory import Memory
from .prepare import with_year
from .preparing import Preparer
from .reading import Job

_PIECE = 1 << 20


class NamedFile(msgspec.Struct):
    """One parsed file. `path` is relative to the workspace where the file lies in it, else absolute."""

    path: str
    agent_id: str
    data: bytes
    parsed: ParsedNote


async def named_file(memory: Memory, file: str, agent_id: str) -> NamedFile:
    """Read and parse the file as ingest would; raises `NoInputError`, `AccessError`."""
    path = memory.workspace / file
    data, lines, mtime_ns = await asyncio.to_thread(_read, memory, path)
    relative = _within(memory.workspace, path)
    name = classify(relative or path.name, memory.settings.notes.extra)
    owner = name.agent_id if relative and name.agent_id else agent_id
    if data is None:
        return NamedFile(relative or str(path), owner, b"", ParsedNote(b"", [], [], [], "too_large", whole=lines))
    parsed = await parse_in_time(memory, relative or path.name, data)
    return NamedFile(relative or str(path), owner, data, with_year(parsed, name, mtime_ns))


async def parse_in_time(memory: Memory, path: str, data: bytes) -> ParsedNote:
    """Parse the bytes of the note `path`; one that takes longer than ingest allows is `too_large`."""
    settings = memory.settings.notes
    name = classify(path, settings.extra)
    name = name if name.kind == "page" else msgspec.structs.replace(name, kind="note")
    known = memory.intake.records.get(path)
    slow = known if known is not None and known.state == "too_large" else None  # it is not tried with the same bytes
    async with Preparer(memory.workspace, settings, 1, memory.intake.unfinished) as preparer:
        prepared = await preparer.one(Job(path, name, slow, len(data), data), memory.clock.now_ms())
    return prepared.parsed or ParsedNote(b"", [], [], [], "too_large", whole=count_lines(data))


def todays_note(day: date, agent_id: str) -> str:
    """The path of an agent's daily note."""
    folder = "memory" if agent_id == DEFAULT_AGENT else f"memory/{agent_id}"
    return f"{folder}/{day.isoformat()}.md"


def _read(memory: Memory, path: Path) -> tuple[bytes | None, int, int]:
    """Bytes (None when there are too many even to keep), lines in that case, and the time of the last writing [ns]."""
    try:
        with open_regular(path, memory.workspace) as opened:
            stat = os.fstat(opened.fileno())
            if stat.st_size <= memory.settings.notes.max_backup_bytes:
                return opened.read(), 0, stat.st_mtime_ns
            return None, lines_of(opened), stat.st_mtime_ns
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise NoInputError(f"{path} is no file.", "Name an existing Markdown file.") from None
    except OSError as error:
        raise AccessError(f"{path} cannot be read: {error.strerror}.", "Check its owner and mode.") from None


def open_regular(path: Path, workspace: Path) -> BinaryIO:
    """Open a regular file for reading; a device, a pipe or a link within the workspace is no input.

    A pipe without a writer would hold its thread for ever, a device would never end.
    """
    if path.is_symlink() and path.parent.resolve().is_relative_to(workspace):
        raise NoInputError(f"{path} is a link, which memoryd does not follow.", "Name the file itself.")
    try:
        return foreign.open_regular(path)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise NoInputError(f"{path} is no regular file.", "Name an existing Markdown file.") from None
        raise


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

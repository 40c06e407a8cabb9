"""Files of working tasks, `memory/working/<task>.json`: the one place in `memory/` that memoryd writes.

A file is a JSON object of at most 10 KB that people and agents may edit too. It is replaced as a MEMORY page
is, by exchange, so that an edit at the same moment is not lost; keys that memoryd does not know stay.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from ..errors import AccessError, MemorydError, NoInputError, TryLaterError, UsageError
from ..foreign import MAX_DEPTH, decoded_json
from ..ingest.mask import mask_text
from ..model import DEFAULT_AGENT
from .page_file import read_page, rewrite_page

MAX_BYTES = 10_240
_NAME_BYTES = 200
"""File names end at 255 bytes; the temporary one is longer than the task's."""
_REFUSED = frozenset('/\\:*?"<>|')
_SUFFIX = ".json"

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')

Task: TypeAlias = dict[str, Any]


class DamagedTaskError(MemorydError):
    """A working task's file cannot be read as one; it is left alone."""

    code = "damaged_task"


def checked_task(name: str) -> str:
    """The name in one spelling (NFC); raises `UsageError` for one that cannot safely be a file's name."""
    name = unicodedata.normalize("NFC", name)
    if not name:
        raise UsageError("The task is not named.", "For example: memoryd task show NAME")
    fine = name.isprintable() and not _REFUSED & set(name) and name == name.strip() and name[0] not in ".~#-"
    if not fine or name[-1] in ".~" or len(name.encode()) > _NAME_BYTES or mask_text(name)[1]:
        raise UsageError(
            "This cannot be a task's name.",
            f"Letters, digits, blanks, - and _ of any script, at most {_NAME_BYTES} bytes, no / and no dot in front.",
        )
    return name


def folder_of(workspace: Path, agent_id: str) -> Path:
    """Where an agent's tasks lie; raises `AccessError` where that leads out of the workspace through a link."""
    folder = workspace / "memory" / "working"
    steps = [folder] if agent_id == DEFAULT_AGENT else [folder, folder / agent_id]
    for each in steps:
        if each.is_symlink():
            raise AccessError(f"{each} is a link.", "Tasks are kept in a real folder: put one in its place.")
    return steps[-1]


def task_files(folder: Path) -> Iterator[Path]:
    """The files of tasks, damaged ones too."""
    if folder.is_dir():
        yield from (file for file in sorted(folder.glob(f"*{_SUFFIX}")) if not file.name.startswith("."))


def task_path(folder: Path, name: str) -> Path:
    """The file of a task; raises `UsageError` where another task differs by case only."""
    wanted = f"{name}{_SUFFIX}"
    for file in task_files(folder):
        found = unicodedata.normalize("NFC", file.name)
        if found == wanted:
            return file
        if found.lower() == wanted.lower():
            raise UsageError(f"There is a task {found.removesuffix(_SUFFIX)!r}.", "Names that differ by case are one.")
    return folder / wanted


def read_task(path: Path) -> Task:
    """The task in a file; raises `NoInputError`, `DamagedTaskError`, `AccessError`."""
    _refuse_what_is_no_file(path)
    try:
        data = read_page(path)
    except OSError as error:
        raise AccessError(f"{path} cannot be read: {error.strerror}.", "Check its owner and mode.") from None
    return decoded(path, data)


def _refuse_what_is_no_file(path: Path) -> None:
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise DamagedTaskError(f"{path} is no plain file; a link is never followed.", "Put a file in its place.")


def decoded(path: Path, data: bytes | None) -> Task:
    """The task in a file's bytes, None where there is no file."""
    if data is None:
        raise NoInputError(f"There is no task {path.stem!r}.", "memoryd task list shows the tasks.")
    try:
        task = decoded_json(data)
    except msgspec.DecodeError:
        task = None
    if not isinstance(task, dict) or not isinstance(task.get("notes", []), list):
        raise DamagedTaskError(
            f"{path} is no task: it is not a JSON object (at most {MAX_DEPTH} levels deep) with a list of notes.",
            "Mend or move it; nothing was changed.",
        )
    return task


def change_task(path: Path, change: Callable[[bytes | None], Task]) -> bytes:
    """Replace a task's file by `change(its bytes)`; returns the bytes now. Nothing is written where that raises."""
    written = b""

    def replaced(old: bytes | None) -> bytes:
        nonlocal written
        written = encoded(change(old))
        return written

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _refuse_what_is_no_file(path)
        if not rewrite_page(path, replaced) and read_page(path) != written:
            raise TryLaterError(f"{path} is being changed by somebody else.", "Try again.")
    except OSError as error:
        raise AccessError(f"{path} cannot be written: {error.strerror}.", "Check its owner and mode.") from None
    return written


def encoded(task: Task) -> bytes:
    """The bytes of a task; raises `UsageError` above 10 KB."""
    data = msgspec.json.format(msgspec.json.encode(task), indent=2) + b"\n"
    if len(data) > MAX_BYTES:
        raise UsageError(
            f"The task would have {len(data):,} bytes, and {MAX_BYTES:,} are the limit; nothing was changed.",
            "Shorten the checkpoint, or finish the task: its notes then become facts.",
        )
    return data


def masked(value: Any, key: str = "") -> tuple[Any, int]:
    """A JSON value with secrets masked in texts and names, and how many spans were; `key` tells what a text is."""
    if isinstance(value, dict):
        pairs = {name: (*mask_text(name), *masked(each, name)) for name, each in value.items()}
        spans = sum(in_name + in_value for _, in_name, _, in_value in pairs.values())
        return {name: each for name, _, each, _ in pairs.values()}, spans
    if isinstance(value, list):
        items = [masked(each, key) for each in value]
        return [each for each, _ in items], sum(count for _, count in items)
    if not isinstance(value, str):
        return value, 0
    text, count = mask_text(value)
    label = f"{key}: " if key else ""
    whole, more = mask_text(label + text)
    return (whole.removeprefix(label), count + more) if more and whole.startswith(label) else (text, count)


def says(path: Path, texts: Sequence[str]) -> list[int]:
    """The lines of a task's file that hold one of the texts, from 1."""
    try:
        lines = (read_page(path) or b"").decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    return [number for number, line in enumerate(lines, 1) if any(text in _said(line) for text in texts)]


def _said(line: str) -> str:
    """A line of JSON with what its strings say: there a quote has a backslash, and a letter may be a number."""
    return _STRING.sub(lambda found: f'"{_unescaped(found[0])}"', line)


def _unescaped(string: str) -> str:
    try:
        return msgspec.json.decode(string, type=str)
    except msgspec.DecodeError:
        return string  # the file is damaged: as it stands

"""What a workspace of the original holds that is left where it is, and what to do with it: settings, notes, pages.

Settings are read where they lie, in this workspace's `config.json`, and notes belong to the workspace that they stand
in: an import that copied either would leave two that differ one day.
"""

import os
import re
from pathlib import Path

from ..seed_config import NAME

SETTINGS = (NAME, f"skills/tiered-memory/{NAME}")
"""Where the original keeps its settings: in the workspace, or in the skill's own folder."""
_NOTES = ("MEMORY*.md", "memory/????-??-??*.md", "memory/[!._]*/????-??-??*.md")

_GENERATED = re.compile(rb"^[*_]Generated: \d{4}-\d\d-\d\d \d\d:\d\d[*_]\s*$", re.MULTILINE)
"""The last line of a page that the original wrote."""


def left_there(folder: Path, workspace: Path) -> list[str]:
    """A sentence each, for what `workspace` does not hold."""
    told = [
        f"{folder / name} {_what(folder / name)}: copy it to {workspace / NAME}."
        for name in SETTINGS
        if not _is_copied(folder / name, workspace / NAME)
    ]
    notes = [each for pattern in _NOTES for each in sorted(folder.glob(pattern))]
    left = [each for each in notes if not _is_copied(each, workspace / each.relative_to(folder))]
    if left:
        told.append(
            f"{len(left)} notes and pages of {folder} were not taken in, e.g. {left[0].name}:"
            f" copy them into {workspace}, or make that folder the workspace."
        )
    told += [
        f"{page.name} was written by the original, and its lines are read as yours. What they say is in hot state now:"
        " delete them, and the block of memoryd stays."
        for page in sorted(workspace.glob("MEMORY*.md"))
        if _GENERATED.search(_read(page))
    ]
    return told


def _is_copied(file: Path, copy: Path) -> bool:
    """Whether there is nothing to copy, or it was copied already; what cannot be read was not."""
    try:
        if not file.is_file() or os.path.realpath(file) == os.path.realpath(copy):
            return True
        # A page has our block too by then.
        return copy.is_file() and file.read_bytes().strip() in _read(copy)
    except OSError:
        return False


def _what(settings: Path) -> str:
    try:
        settings.read_bytes()
    except OSError:
        return "cannot be read. If it holds settings, they are not in force"
    return "holds settings that are not in force"


def _read(file: Path) -> bytes:
    """The bytes of a file; none of what is no file, or cannot be read, which status and doctor tell of."""
    try:
        return file.read_bytes() if file.is_file() else b""
    except OSError:
        return b""

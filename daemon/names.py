"""Which file names are worth a second look, decided on the watcher's thread before anything else is done."""

import os
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from ..ingest.names import is_claimed, is_left_out

NOTES = "memory"
"""The folder of daily notes inside the workspace."""
TEXT_FILES = ("memory/custom_dict.txt", "memory/aliases.txt")


class Extra(NamedTuple):
    """What `notes.extra` adds to the watching: its globs, and where their files lie.

    `folders` are watched with all below them, beside `memory/`; `everything`: some glob begins with a
    wildcard and reaches into folders, so that the whole workspace is watched.
    """

    globs: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    everything: bool = False

    @classmethod
    def of(cls, globs: Sequence[str]) -> "Extra":
        """Each glob's parts before a wildcard name the folder to watch."""
        roots = {glob: _literal_folder(glob) for glob in globs}
        deep = any(not root and "/" in glob for glob, root in roots.items())
        named = sorted({root for root in roots.values() if root and not _is_below(root, NOTES)})
        outer = [root for root in named if not any(root != each and _is_below(root, each) for each in named)]
        return cls(tuple(globs), tuple(outer), deep)


NOTHING_EXTRA = Extra()


def is_hint(path: str, extra: Extra = NOTHING_EXTRA) -> bool:
    """Whether an event on `path` (relative to the workspace, posix) can concern memory.

    Hidden files and folders, and anything that is not Markdown, never pass: other programs may write
    there as often as they like.
    """
    parts = path.split("/")
    if any(part.startswith(".") for part in parts):
        return False
    if path in TEXT_FILES:
        return True
    if not path.endswith(".md"):
        return False
    if parts[0] == NOTES or (len(parts) == 1 and path.startswith("MEMORY")):
        return True
    return is_claimed(path, extra.globs)


def is_folder_hint(path: str, extra: Extra = NOTHING_EXTRA) -> bool:
    """Whether a folder that came, went or moved can hold notes."""
    if is_left_out(path):
        return False
    return extra.everything or any(_is_below(path, folder) for folder in (NOTES, *extra.folders))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _literal_folder(glob: str) -> str:
    parts: list[str] = []
    for part in PurePosixPath(glob).parts[:-1]:
        if any(sign in part for sign in "*?["):
            break
        parts.append(part)
    return "/".join(parts)


def relative_path(path: str, root: str, prefix: str) -> str | None:
    """`path` below the watched folder `root`, as a path relative to the workspace; None when it is not below it."""
    if path == root:
        return prefix
    if not path.startswith(root.rstrip("/") + "/"):
        return None
    below = path[len(root.rstrip("/")) + 1 :].replace(os.sep, "/")
    return f"{prefix}/{below}" if prefix else below

"""Which file names are worth a second look, decided on the watcher's thread before anything else is done."""

import os
from collections.abc import Iterable
from pathlib import PurePosixPath

NOTES = "memory"
"""The folder of daily notes inside the workspace."""
TEXT_FILES = ("memory/custom_dict.txt", "memory/aliases.txt")


def is_hint(path: str, folders: Iterable[str] = ()) -> bool:
    """Whether an event on `path` (relative to the workspace, posix) can concern memory.

    `folders` are watched beside `memory/` for the sake of `notes.extra`. Hidden files and folders,
    and anything that is not Markdown, never pass: other programs may write there as often as they like.
    """
    parts = path.split("/")
    if any(part.startswith(".") for part in parts):
        return False
    if path in TEXT_FILES:
        return True
    if not path.endswith(".md"):
        return False
    if len(parts) == 1:
        return parts[0].startswith("MEMORY") or "" in folders
    return parts[0] == NOTES or any(path.startswith(f"{folder}/") for folder in folders if folder)


def is_folder_hint(path: str, folders: Iterable[str] = ()) -> bool:
    """Whether a folder that came, went or moved can hold notes."""
    parts = path.split("/")
    if any(part.startswith(".") for part in parts):
        return False
    return parts[0] == NOTES or any(path == folder or path.startswith(f"{folder}/") for folder in folders if folder)


def extra_folders(globs: Iterable[str]) -> list[str]:
    """The folders to watch for `notes.extra`: each glob's parts before a wildcard; '' is the workspace itself."""
    found = {_literal_folder(each) for each in globs}
    return sorted(folder for folder in found if folder != NOTES and not folder.startswith(f"{NOTES}/"))


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

"""Which files of a workspace are notes: one walk that never follows links and never enters what is none of ours."""

import os
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from pathlib import Path

import msgspec

from ..ingest.names import Name, classify, is_claimed, is_left_out

_ROOT_ENTRIES = ("memory",)


class Found(msgspec.Struct):
    """One file that ingest wants, with the stat that was seen."""

    name: Name
    stat: os.stat_result


class Walk(msgspec.Struct):
    """What stands in the workspace now.

    `unknown` holds folders that could not be listed: nothing below them counts as gone.
    """

    files: dict[str, Found] = {}
    skipped: dict[str, str] = {}
    conflicts: dict[str, str] = {}
    unmatched: set[str] = set()
    unknown: dict[str, str] = {}
    twins: dict[str, str] = {}


def walk(root: Path, extra: Sequence[str]) -> Walk:
    """Walk `memory/`, the MEMORY pages and the globs of `notes.extra`; paths are relative, with `/`."""
    found = Walk({}, {}, {}, set(), {})
    for path, entry in _entries(root, found):
        _sort_in(path, entry, classify(path, extra), found)
    for pattern in extra:
        for path, entry in _below_pattern(root, pattern, found):
            if path not in found.files and is_claimed(path, [pattern]):
                _sort_in(path, entry, classify(path, extra), found)
    _refuse_case_twins(found)
    return found


def is_below_unknown(path: str, unknown: dict[str, str]) -> bool:
    """Whether a folder above `path` could not be listed, so that nobody knows whether the file is there."""
    return any(folder in ("", ".") or path.startswith(f"{folder}/") for folder in unknown)


def _entries(root: Path, found: Walk) -> Iterator[tuple[str, os.DirEntry[str]]]:
    for entry in _listed(root, "", found):
        if entry.name in _ROOT_ENTRIES and entry.is_dir():
            # memory/ itself may be a link to a vault elsewhere; links inside are listed, not followed.
            yield from _below(Path(entry.path), entry.name, found)
        elif entry.name.startswith("MEMORY") and entry.name.endswith(".md"):
            yield entry.name, entry


def _below(folder: Path, prefix: str, found: Walk) -> Iterator[tuple[str, os.DirEntry[str]]]:
    for entry in _listed(folder, prefix, found):
        path = f"{prefix}/{entry.name}"
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path), path, found)
        else:
            yield path, entry


def _below_pattern(root: Path, pattern: str, found: Walk) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Every file that a glob can match: its leading folders as named, then no deeper than it reaches."""
    parts = pattern.split("/")
    literal = list(takewhile(lambda part: not set("*?[") & set(part), parts[:-1]))
    depth = None if any("**" in part for part in parts) else len(parts) - len(literal) - 1
    yield from _down(root.joinpath(*literal), "/".join(literal), depth, frozenset(parts), found)


def _down(
    folder: Path, prefix: str, depth: int | None, named: Collection[str], found: Walk
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    for entry in _listed(folder, prefix, found):
        path = f"{prefix}/{entry.name}" if prefix else entry.name
        if not entry.is_dir(follow_symlinks=False):
            yield path, entry
        elif depth != 0 and (entry.name in named or not is_left_out(entry.name)):
            yield from _down(Path(entry.path), path, None if depth is None else depth - 1, named, found)


def _listed(folder: Path, prefix: str, found: Walk) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        found.unknown[prefix] = error.strerror or str(error)
        return []


def _sort_in(path: str, entry: os.DirEntry[str], name: Name, found: Walk) -> None:
    if name.kind == "ignored" and not _is_linked_folder(entry):
        return
    if entry.is_symlink():
        found.skipped[path] = "a link inside the notes is not followed"
        return
    if not entry.is_file(follow_symlinks=False):
        found.skipped[path] = "not a regular file"
        return
    if name.kind == "skipped":
        found.skipped[path] = name.reason
    elif name.kind == "conflict_copy":
        found.conflicts[path] = name.reason
    elif name.kind == "unmatched":
        found.unmatched.add(path)
    else:
        try:
            found.files[path] = Found(name, entry.stat(follow_symlinks=False))
        except FileNotFoundError:
            return
        except OSError as error:
            found.unknown[path] = error.strerror or str(error)


def _is_linked_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a link to a folder: notes may stand behind it that nobody reads."""
    try:
        return entry.is_symlink() and entry.is_dir()
    except OSError:
        return True  # it leads in a circle, or nobody may look


def is_behind_link(root: Path, path: str) -> bool:
    """Whether a folder on the way to `path` is a link, which the walk does not follow; the first one it does."""
    parts = path.split("/")[:-1]
    return any(root.joinpath(*parts[:depth]).is_symlink() for depth in range(2, len(parts) + 1))


def _refuse_case_twins(found: Walk) -> None:
    """Agent ids that differ by case only are refused: on some file systems they are one folder."""
    owner: dict[str, str] = {}
    for path in sorted(found.files):
        agent = found.files[path].name.agent_id
        if owner.setdefault(agent.lower(), agent) != agent:
            found.skipped[path] = f"agent {agent!r} differs from {owner[agent.lower()]!r} by case only"
            del found.files[path]

"""What a workspace of the original holds that an import does not take in: settings and notes, and where they belong.

Settings are read where they lie, in this workspace's `config.json`, and notes belong to the workspace that they stand
in: an import that copied either would leave two that differ one day.
"""

from pathlib import Path

from ..seed_config import NAME

SETTINGS = (NAME, f"skills/tiered-memory/{NAME}")
"""Where the original keeps its settings: in the workspace, or in the skill's own folder."""
_NOTES = ("MEMORY*.md", "memory/????-??-??*.md", "memory/[!._]*/????-??-??*.md")


def left_there(folder: Path, workspace: Path) -> list[str]:
    """A sentence each, for what `workspace` does not hold."""
    told = [
        f"{folder / name} holds settings that are not in force: copy it to {workspace / NAME}."
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
    return told


def _is_copied(file: Path, copy: Path) -> bool:
    """Whether there is nothing to copy, or it was copied already."""
    if not file.is_file() or file.resolve() == copy.resolve():
        return True
    # A page has our block too by then.
    return copy.is_file() and file.read_bytes().strip() in copy.read_bytes()

"""A restless person: edits notes in every style that editors have, with words of all the kinds that ingest knows."""

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from styles import (
    Style,
    append,
    rename_from_outside,
    rename_over,
    truncate_and_write,
    vim_backup,
)

_SUBJECTS = ("The heron", "Our parser", "浏览器自动化", "The billing job", "Robin", "The 部署 script", "A grey wagtail")
_VERBS = ("waits for", "replaced", "decided against", "需要", "prefers", "broke", "was moved to")
_OBJECTS = ("the old pier", "port {n}", "`make step-{n}`", "缓存 {n}", "https://h{n}.example/a", "~/notes/{n}.txt")
_HEADINGS = ("Plans", "Decisions", "项目", "Later")


PLANTED = ("heron", "Our parser", "浏览器", "billing", "wagtail", "部署", "hunter")
"""Words of notes that stand nowhere else: none may come into a log."""


def sentence(chance: random.Random) -> str:
    """One statement; a small vocabulary, so that many notes say the same."""
    thing = chance.choice(_OBJECTS).format(n=chance.randrange(60))
    return f"{chance.choice(_SUBJECTS)} {chance.choice(_VERBS)} {thing}"


def block(chance: random.Random) -> str:
    """One block of a note, with its line end."""
    said = sentence(chance)
    return chance.choice((
        f"- {said}\n",
        f"- {said}\n",
        f"- 10:{chance.randrange(60):02d} {said} #birds\n  and goes on\n",
        f"- [{chance.choice(' x')}] {said}\n",
        f"\n{said}. (importance: 0.{chance.randrange(1, 10)})\n",
        f"\n## {chance.choice(_HEADINGS)}\n\n",
        f"\n> {said}\n\n",
        f"\n| what | how |\n|---|---|\n| {said} | slowly |\n\n",
        f"- {said}\n\n```sh\necho {chance.randrange(9)}\n```\n\n",
        f"- the password: hunter{chance.randrange(100, 999)}secret of {said}\n",
    ))  # fmt: skip


def text(chance: random.Random, blocks: int) -> str:
    """A whole note."""
    return f"# Day {chance.randrange(30)}\n\n" + "".join(block(chance) for _ in range(blocks))


def _changed(old: str, chance: random.Random) -> str:
    """The note after somebody thought again: a line gone, one in, one reworded, or a tail."""
    lines = old.splitlines(keepends=True)
    at = chance.randrange(len(lines) + 1)
    kind = chance.randrange(4)
    if kind == 0 and len(lines) > 3:
        del lines[min(at, len(lines) - 1)]
    elif kind == 1 and at < len(lines):
        lines[at] = lines[at].replace("the ", "every ", 1)
    else:
        lines.insert(at, block(chance))
    return "".join(lines)


def _edited(save: Style) -> Callable[[Path, random.Random], None]:
    """A change of the text, saved in that style."""
    return lambda path, chance: save(path, _changed(path.read_text("utf-8"), chance))


def add(path: Path, chance: random.Random) -> None:
    """Add a block at the end."""
    append(path, path.read_text("utf-8") + block(chance))


def same_stamp(path: Path, chance: random.Random) -> None:
    """Swap two letters in place and put size and time back: only the bytes tell (borg#3536)."""
    found = path.stat()
    data = bytearray(path.read_bytes())
    at = chance.randrange(max(1, len(data) - 1))
    if data[at : at + 1].isalpha() and data[at] < 128:
        data[at] = ord("q")
    path.write_bytes(bytes(data))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def remove_and_write_again(path: Path, chance: random.Random) -> None:
    """Delete a note and write another of that day."""
    path.unlink()
    path.write_text(text(chance, chance.randrange(1, 12)), "utf-8")


def touch(path: Path, chance: random.Random) -> None:
    """Only the time changes."""
    os.utime(path)


Edit = Callable[[Path, random.Random], None]
EDITS: tuple[Edit, ...] = (
    add, _edited(truncate_and_write), _edited(rename_over), _edited(rename_from_outside), _edited(vim_backup),
    same_stamp, remove_and_write_again, touch,
)  # fmt: skip

GONE_AT_ONCE = 4
"""Notes that may be deleted at any time: more would look like an accident, and be held."""


class Editor:
    """Edits the notes below `workspace`, at random but repeatable for one seed."""

    def __init__(self, workspace: Path, notes: int, chance: random.Random) -> None:
        self._chance = chance
        days = [f"2026-{1 + n // 28:02d}-{1 + n % 28:02d}.md" for n in range(notes)]
        self.paths = [workspace / "memory" / ("robin" if n % 5 == 4 else "") / day for n, day in enumerate(days)]
        self.paths.append(workspace / "MEMORY.md")
        for path in self.paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text(chance, chance.randrange(5, 40)), "utf-8")

    def edit(self) -> None:
        """One edit of one note. MEMORY.md is only appended to: the daemon writes there too."""
        path = self._chance.choice(self.paths)
        if not path.exists():
            path.write_text(text(self._chance, 5), "utf-8")
            return
        if self._chance.random() < 0.04 and self._may_go(path):
            path.unlink()
            return
        edit = add if path.name == "MEMORY.md" else self._chance.choice(EDITS)
        edit(path, self._chance)

    def _may_go(self, path: Path) -> bool:
        gone = sum(not each.exists() for each in self.paths)
        return path.name != "MEMORY.md" and path.parent.name == "memory" and gone < GONE_AT_ONCE

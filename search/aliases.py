"""Groups of words that mean the same here, from `memory/aliases.txt`: what is asked by one is found by the others."""

import re
from collections.abc import Sequence
from pathlib import Path

from ..foreign import open_regular
from .tokens import index_tokens

SIZE_LIMIT = 256 * 1024
"""Bytes of the file that are read."""
MEMBERS = 8
"""How many further words one question may bring in."""

_BETWEEN = re.compile(r"[,，、;；=|\t]")


class Aliases:
    """The groups of one file, read anew when it changed; a file that is missing or unreadable has none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int, int] | None = None
        self._groups: list[list[str]] = []

    def of(self, query: str) -> list[str]:
        """The other members of each group of which a member stands in `query`."""
        asked = _spelled(query)
        found: dict[str, None] = {}
        for group in self._current():
            if any(_stands_in(_spelled(member), asked) for member in group):
                found |= dict.fromkeys(member for member in group if not _stands_in(_spelled(member), asked))
        return list(found)[:MEMBERS]

    def _current(self) -> list[list[str]]:
        try:
            now = self._path.stat()
            stamp = now.st_mtime_ns, now.st_size, now.st_ino
            if stamp != self._stamp:
                with open_regular(self._path) as file:
                    self._groups = groups_of(file.read(SIZE_LIMIT).decode("utf-8-sig", "replace"))
                self._stamp = stamp
        except OSError:
            self._stamp, self._groups = None, []
        return self._groups


def groups_of(text: str) -> list[list[str]]:
    """One group a line, its members between commas (also `、`, `;`, `=`, `|`, tab); `#` begins a remark."""
    lines = [line.partition("#")[0] for line in text.splitlines()]
    groups = [[member.strip() for member in _BETWEEN.split(line) if member.strip()] for line in lines]
    return [group for group in groups if len(group) > 1]


def _spelled(text: str) -> list[str]:
    # five-factor and five factor are the same words.
    return index_tokens(text.replace("-", " ").replace("_", " "))


def _stands_in(part: Sequence[str], whole: Sequence[str]) -> bool:
    return bool(part) and any(whole[at : at + len(part)] == part for at in range(len(whole) - len(part) + 1))

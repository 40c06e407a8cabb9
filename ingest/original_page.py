"""A MEMORY.md of the original skill: its entries say what its hot state says, in the same words (docs/original.md)."""

import re

from .category import normalised

_TITLE = "# MEMORY.md - Long-Term Context"
_GENERATED = re.compile(r"[*_]Generated: \d{4}-\d\d-\d\d \d\d:\d\d[*_]\s*")
_ITALIC = re.compile(r"[*_][^*_\n]+[*_]\s*")
_EVENT = re.compile(r"([-*] )\[[A-Z][a-z]{2} \d{1,2}\] +")
_LESSON = re.compile(r"([-*] )\*\*\[([^\]\n]{0,200})\]\*\* +")
_HEAD_LINES = 4
"""The title, a blank, the sentence about the file, a blank."""


def read_original(lines: list[str]) -> tuple[list[str], list[int]]:
    """The lines without the marks that the original puts before an event or a lesson, and those that are no memory.

    A lesson's category becomes a tag. A page that the original did not write comes back as it is.
    """
    own = _own_lines(lines)
    if not own:
        return lines, []
    not_memory = {*own}
    plain = ["" if number in not_memory else _without_mark(line) for number, line in enumerate(lines)]
    return plain, own


def _own_lines(lines: list[str]) -> list[int]:
    """Its title, the sentence below it and the time at its end; none unless both ends are the original's."""
    title = next((number for number, line in enumerate(lines) if line.strip()), 0)
    ends = [number for number, line in enumerate(lines) if _GENERATED.fullmatch(line)]
    if not ends or not lines[title].startswith(_TITLE):
        return []
    about = [n for n in range(title + 1, min(title + _HEAD_LINES, len(lines))) if _ITALIC.fullmatch(lines[n])]
    return [title, *about[:1], *(number for number in ends if number not in about[:1])]


def _without_mark(line: str) -> str:
    if found := _EVENT.match(line):
        return found[1] + line[found.end() :]
    if found := _LESSON.match(line):
        category = normalised(found[2])
        return f"{found[1]}{line[found.end() :]}" + (f" #{category}" if category else "")
    return line

"""Which sentences stand in a text: asked by a guard that knows ids alone of what must not be said."""

import re
from collections.abc import Iterator
from functools import lru_cache

from .mask import mask_text
from .words import fact_text, has_words

_LINE_MARK = re.compile(r"[ \t]*(?:[-*+>]|[0-9]{1,9}[.)])[ \t]+")
_BLANK_LINES = re.compile(r"\n[ \t]*\n")
_BEGINS = re.compile(r"(?:[.!?…;:](?=\s)|[。！？；：(（\[{「『【\"“‘«/|\n]|\s[-*•–—](?=\s))\s*")
_ENDS = re.compile(r"[.!?…;](?=\s|\Z)|[。！？；)）\]}」』】\"”’»/|\n]|\s[-*•–—](?=\s)")
_AROUND = ' \t\n.!?…;:。！？；：()（）[]{}「」『』【】"“”‘’«»/|-*•–—'
_MOST_PARTS = 8
"""Sentences of which one that must not be said may consist, where others stand around it."""
_LEAST_WORDS, _LEAST_CHARACTERS = 2, 4
"""A part of a text counts from so many words, or characters without blanks, on: a lone word is no sentence."""


@lru_cache(maxsize=1024)
def standing_in(text: str) -> frozenset[str]:
    """The fact texts that stand in a text: itself, its paragraphs and lines, runs of its sentences, what it repeats.

    With and without the marks around them. Words within a sentence are no sentence of their own.
    """
    masked = mask_text(text.replace("\0", "\ufffd"))[0]
    units = {masked, *_BLANK_LINES.split(masked), *masked.splitlines()}
    said = {fact_text(_without_mark(unit)) for unit in units} | {fact_text(masked)}
    whole = {each for unit in said for each in (unit, unit.strip(_AROUND), *_repeated(unit))}
    parts = {part for unit in said for part in _parts(unit)}
    return frozenset(each for each in whole | parts if has_words(each))


def _without_mark(line: str) -> str:
    mark = _LINE_MARK.match(line)
    return line[mark.end() :] if mark else line


def _parts(unit: str) -> Iterator[str]:
    starts = [0, *(match.end() for match in _BEGINS.finditer(unit))]
    ends = [*(match.end() for match in _ENDS.finditer(unit)), len(unit)]
    first = 0
    for start in starts:
        while first < len(ends) and ends[first] <= start:
            first += 1
        for end in ends[first : first + _MOST_PARTS]:
            run = unit[start:end].strip()
            for each in {run, run.strip(_AROUND)}:
                if _is_sentence(each):
                    yield each


def _repeated(unit: str) -> Iterator[str]:
    """What a text says several times over, and nothing else."""
    for cycle in (unit, f"{unit} "):
        at = (cycle + cycle).find(cycle, 1)
        if at < len(cycle):
            yield from (cycle[:at].strip(), cycle[:at].strip(_AROUND))


def _is_sentence(part: str) -> bool:
    return len(part.split()) >= _LEAST_WORDS or (len(part) >= _LEAST_CHARACTERS and not part.isascii())

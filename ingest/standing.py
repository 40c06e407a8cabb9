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
_LONGEST = 2_000
"""Characters of such a run."""
_LEAST_WORDS, _LEAST_CHARACTERS = 2, 4
"""A part of a text counts from so many words, or characters without blanks, on: a lone word is no sentence."""


_REMEMBERED = 500
"""Characters of a text that is remembered with many others: what stands in a text may be 150 times as long."""


def standing_in(text: str) -> frozenset[str]:
    """The fact texts that stand in a text: itself, its paragraphs and lines, runs of its sentences, what it repeats.

    With and without the marks around them. Words within a sentence are no sentence of their own.
    """
    return _of_short(text) if len(text) <= _REMEMBERED else _of_long(text)


def _found(text: str) -> frozenset[str]:
    given = text.replace("\0", "\ufffd")
    # What is a secret depends on what stands around it: a sentence alone may have none.
    said = {each for kind in {given, mask_text(given)[0]} for each in _units(kind)}
    whole = {each for unit in said for each in (unit, unit.strip(_AROUND), *_repeated(unit))}
    parts = {part for unit in said for part in _parts(unit)}
    return frozenset(each for each in whole | parts if has_words(each))


_of_short = lru_cache(maxsize=512)(_found)
# A command asks of the same text twice: before it runs, and within its transaction.
_of_long = lru_cache(maxsize=2)(_found)


def _units(text: str) -> set[str]:
    units = {text, *_BLANK_LINES.split(text), *text.splitlines()}
    return {fact_text(_without_mark(unit)) for unit in units} | {fact_text(text)}


def _without_mark(line: str) -> str:
    mark = _LINE_MARK.match(line)
    return line[mark.end() :] if mark else line


def _parts(unit: str) -> Iterator[str]:
    starts = _apart(unit, [0, *(match.end() for match in _BEGINS.finditer(unit))])
    ends = _apart(unit, [*(match.end() for match in _ENDS.finditer(unit)), len(unit)])
    first = 0
    for start in starts:
        while first < len(ends) and ends[first] <= start:
            first += 1
        for end in ends[first : first + _MOST_PARTS]:
            if end - start > _LONGEST:
                break
            run = unit[start:end].strip()
            for each in {run, run.strip(_AROUND)}:
                if _is_sentence(each):
                    yield each


def _apart(unit: str, places: list[int]) -> list[int]:
    """The places between which there are words: of `((((` one is enough."""
    kept, last = places[:1], places[0]
    for place in places[1:]:
        if has_words(unit[last:place]):
            kept.append(place)
        last = place
    return kept


def _repeated(unit: str) -> Iterator[str]:
    """What a text says several times over, and nothing else."""
    for cycle in (unit, f"{unit} "):
        at = (cycle + cycle).find(cycle, 1)
        if at < len(cycle):
            yield from (cycle[:at].strip(), cycle[:at].strip(_AROUND))


def _is_sentence(part: str) -> bool:
    return len(part.split()) >= _LEAST_WORDS or (len(part) >= _LEAST_CHARACTERS and not part.isascii())

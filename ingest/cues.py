"""Bilingual word patterns that cost nothing where their words do not occur.

A pattern of forty alternatives takes Python some 20 µs a sentence, and a block is asked two dozen of them.
So each is split at its top level into an English and a Chinese half; the English half runs only if
the text has a word that begins like one of the pattern's, the Chinese half only if the text is not ASCII.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Generic, TypeVar

T = TypeVar("T")

_WORD = re.compile(r"[a-z]{3,}")
_HAN = re.compile("[\u3400-\u9fff]")


def word_set(text: str) -> frozenset[str]:
    """The words of a text, white space between them."""
    return frozenset(text.split())


_COMMON = word_set(
    """
    the and for not was are has hav tha but you all ing ied ted ped ged thi fro wer any its our out han sec aft
    bef nam ope clo
    """
)


class Cue:
    """A compiled pattern with its two halves; use `search` like that of `re.Pattern`, case is ignored."""

    def __init__(self, pattern: str, flags: re.RegexFlag = re.IGNORECASE) -> None:
        parts = _alternatives(pattern)
        english = "|".join(part for part in parts if not _HAN.search(part))
        han = "|".join(part for part in parts if _HAN.search(part))
        self._english = re.compile(english, flags) if english else None
        self._han = re.compile(han, flags) if han else None
        plain = re.sub(r"\\[a-zA-Z]|\(\?P<\w+>", " ", english).lower()
        self.begins = frozenset(word[:3] for word in _WORD.findall(plain)) - _COMMON

    def search(self, text: str) -> re.Match[str] | None:
        """The first match of the English half, else of the Chinese one."""
        if self._english is not None and not self.begins.isdisjoint(_begins(text)):
            match = self._english.search(text)
            if match is not None:
                return match
        return self._han.search(text) if self._han is not None and not text.isascii() else None

    def findall(self, text: str) -> list[re.Match[str]]:
        """All matches of both halves, the English ones first."""
        found: list[re.Match[str]] = []
        if self._english is not None and not self.begins.isdisjoint(_begins(text)):
            found += self._english.finditer(text)
        if self._han is not None and not text.isascii():
            found += self._han.finditer(text)
        return found


class CueGroup(Generic[T]):
    """Named cues that are asked in order; for most texts one look at the words rules out all of them."""

    def __init__(self, cues: Iterable[tuple[T, Cue]]) -> None:
        self._cues = tuple(cues)
        self._begins: frozenset[str] = frozenset().union(*(cue.begins for _, cue in self._cues))

    def matches(self, text: str) -> Iterator[tuple[T, re.Match[str]]]:
        """Name and match of each cue that fits, in order."""
        if text.isascii() and self._begins.isdisjoint(_begins(text)):
            return
        for name, cue in self._cues:
            match = cue.search(text)
            if match is not None:
                yield name, match

    def first(self, text: str) -> T | None:
        """The name of the first cue that fits."""
        return next((name for name, _ in self.matches(text)), None)


@lru_cache(maxsize=16)
def _begins(text: str) -> frozenset[str]:
    return frozenset([word[:3] for word in _WORD.findall(text.lower())])


def _alternatives(pattern: str) -> list[str]:
    """The top-level alternatives of a regular expression."""
    parts, depth, bracket, start, at = [], 0, False, 0, 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 2
            continue
        if bracket:
            bracket = char != "]"
        elif char == "[":
            bracket = True
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and depth == 0:
            parts.append(pattern[start:at])
            start = at + 1
        at += 1
    return [*parts, pattern[start:]]

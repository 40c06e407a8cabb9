"""Bilingual word patterns that cost nothing where their words do not occur.

A pattern of forty alternatives takes Python some 20 µs a sentence, and a block is asked two dozen of them.
So each has two bits, one for its English and one for its Chinese half. A sentence is looked at once:
the beginnings of its words and its Chinese characters say which bits are set, and so which halves
can match at all (`signs`).
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Generic, TypeVar

T = TypeVar("T")

_WORD = re.compile(r"[a-z]{3,}")
_HAN = re.compile("[\u3400-\u9fff]")
_LETTERS = re.compile(r"\\.|\(\?P<\w+>|[A-Z]+")
_OPTIONAL = re.compile(r"[a-z]\?(?![:!=P<i])")


def word_set(text: str) -> frozenset[str]:
    """The words of a text, white space between them."""
    return frozenset(text.split())


_COMMON = word_set(
    """
    the and for not was are has you all any its our out that than this have from were they them then with
    ied ted ped ged ing ies
    """
)
"""Words that say nothing, and endings that patterns write as parts of their own."""

_by_four: dict[str, int] = {}
_by_three: dict[str, int] = {}
_by_han: dict[str, int] = {}
_next_bit = iter(1 << n for n in range(10_000))


class Cue:
    """A compiled pattern with its two halves.

    Where case is ignored (the default), matches are of the text in lower case: Python looks for the
    beginnings of words only when case counts, which is three times as quick. Spans fit the text itself.
    """

    def __init__(self, pattern: str, *, ignore_case: bool = True) -> None:
        self._ignores = ignore_case
        parts = _alternatives(_LETTERS.sub(_lower_letter, pattern) if ignore_case else pattern)
        english = [part for part in parts if not _HAN.search(part)]
        han = [part for part in parts if _HAN.search(part)]
        self._english = re.compile("|".join(english)) if english else None
        self._han = re.compile("|".join(han)) if han else None
        self._english_bit, self._han_bit = next(_next_bit), next(_next_bit)
        self.bits = self._english_bit | self._han_bit
        _enter_words("|".join(english), self._english_bit)
        for char in _HAN.findall("".join(_telling(part) for part in han)):
            _by_han[char] = _by_han.get(char, 0) | self._han_bit
        signs.cache_clear()
        _bits_of.cache_clear()

    def search(self, text: str) -> re.Match[str] | None:
        """The first match of the English half, else of the Chinese one."""
        found = signs(text) & self.bits
        if not found:
            return None
        text = lowered(text) if self._ignores else text
        match = None
        if self._english is not None and found & self._english_bit:
            match = self._english.search(text)
        if match is None and self._han is not None and found & self._han_bit:
            match = self._han.search(text)
        return match

    def findall(self, text: str) -> list[re.Match[str]]:
        """All matches of both halves, the English ones first."""
        found = signs(text) & self.bits
        text = lowered(text) if found and self._ignores else text
        matches: list[re.Match[str]] = []
        if self._english is not None and found & self._english_bit:
            matches += self._english.finditer(text)
        if self._han is not None and found & self._han_bit:
            matches += self._han.finditer(text)
        return matches


class CueGroup(Generic[T]):
    """Named cues that are asked in order; for most texts one look at the words rules out all of them."""

    def __init__(self, cues: Iterable[tuple[T, Cue]]) -> None:
        self._cues = tuple(cues)
        self._bits = 0
        for _, cue in self._cues:
            self._bits |= cue.bits

    def matches(self, text: str) -> Iterator[tuple[T, re.Match[str]]]:
        """Name and match of each cue that fits, in order."""
        found = signs(text) & self._bits
        if not found:
            return
        for name, cue in self._cues:
            if found & cue.bits and (match := cue.search(text)) is not None:
                yield name, match

    def first(self, text: str) -> T | None:
        """The name of the first cue that fits."""
        if not signs(text) & self._bits:
            return None
        return next((name for name, _ in self.matches(text)), None)


@lru_cache(maxsize=16)
def lowered(text: str) -> str:
    """`text` in lower case and of the same length: a few capitals grow when they are lowered, and stay."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join([small if len(small := char.lower()) == 1 else char for char in text])
    return lower


@lru_cache(maxsize=256)
def signs(text: str) -> int:
    """The bits of all halves of cues that can match in `text`."""
    found = 0
    for word in _WORD.findall(lowered(text)):
        found |= _bits_of(word)
    if not text.isascii():
        for char in set(text):
            found |= _by_han.get(char, 0)
    return found


@lru_cache(maxsize=1 << 14)
def _bits_of(word: str) -> int:
    return _by_four.get(word[:4], 0) | _by_three.get(word[:3], 0)


def _enter_words(english: str, bit: int) -> None:
    """Enter the beginnings of the pattern's words: four letters where it writes so many in a row, else three."""
    plain = re.sub(r"\\[a-zA-Z]|\(\?P<\w+>", " ", english).lower()
    for word in _WORD.findall(_OPTIONAL.sub(" ", plain)):
        if word in _COMMON:
            continue
        table, start = (_by_four, word[:4]) if len(word) >= 4 else (_by_three, word)
        table[start] = table.get(start, 0) | bit


def _lower_letter(match: re.Match[str]) -> str:
    return match[0] if match[0][0] in "\\(" else match[0].lower()


def _telling(part: str) -> str:
    """Of a Chinese alternative what a match cannot do without: its first character, if it begins with one."""
    return part[0] if _HAN.match(part) and part[1:2] not in ("?", "*", "{") else part


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

"""A question as the ranking sees it: its terms and their worth, the days it names, the kind of answer it wants."""

import math
import re
from collections.abc import Iterable, Sequence

import msgspec

from .candidates import Weighed
from .dates import DayRange
from .tokens import QueryTokens, index_tokens

_WANTS_NUMBER = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:day|date|year|month|time)\b|\bhow (?:many|much|long|old|often|far|big|tall|late)\b"
    r"|什么时候|何时|哪一?[天年月日]|几[月日号点年天个]|多少|多[长久大高]|时间"
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million|yesterday|today|tonight|tomorrow"
    r"|ago|last|next|week|weekend|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february"
    r"|march|april|may|june|july|august|september|october|november|december)s?\b"
    r"|[一二三四五六七八九十百千万两半][年月日天号个次人岁米名]|[昨今明]天|[上下]周",
    re.IGNORECASE,
)

FULL_DAYS = 31
"""A named span of so many days tells as much as a single day, a longer one the less the longer it is."""
SOON_DAYS = 14
SOON_AFTER = 0.2
"""What happened is often written down later: what a day so soon behind a named span tells beside one within it."""


class Question(msgspec.Struct, frozen=True):
    """What the ranking knows of one question."""

    worth: dict[str, float]
    """Each term's inverse document frequency, weighed by how much of the asked word it stands for."""
    prefixes: tuple[str, ...]
    sequence: list[str]
    """All its tokens, in order."""
    days: list[DayRange]
    written_days: frozenset[str]
    """Those days as tokens, as a fact that writes them out holds them."""
    today: int
    wants_number: bool
    """When, how many, how long: an answer holds a number or a time."""
    most: float
    """The sum of all terms' worth."""
    alone: str = ""
    """The character, where it is all that is asked."""
    told: dict[int, float] = {}
    """What `tells` found already."""

    def begun(self, token: str) -> str:
        """The term that a token of a fact stands for: itself, or a single character that it begins with."""
        return next((prefix for prefix in self.prefixes if token.startswith(prefix)), token)

    def terms_in(self, tokens: Sequence[str]) -> list[str]:
        """The terms that stand there, in the question's order: sums of the same numbers stay the same."""
        present = self.worth.keys() & ({self.begun(token) for token in tokens} if self.prefixes else tokens)
        return [term for term in self.worth if term in present] if len(present) > 1 else list(present)

    def tells(self, day: int) -> float:
        """How much it says, 0 to 1, that the question names this day or one shortly before."""
        if day not in self.told:
            self.told[day] = max((_telling(first, last, day) for first, last in self.days), default=0.0)
        return self.told[day]

    def share(self, terms: Iterable[str]) -> float:
        """How much of the question these terms are, 0 to 1."""
        return sum([self.worth[term] for term in terms]) / self.most


def question_of(
    asked: QueryTokens,
    terms: Sequence[Weighed],
    size: int,
    days: list[DayRange],
    written_days: Sequence[str],
    today: int,
) -> Question:
    """The question over a memory of about `size` facts, the days that it names apart; `today` in days since 1970."""
    worth: dict[str, float] = {}
    for each in terms:
        worth[each.term.text] = max(worth.get(each.term.text, 0.0), _worth(each, size))
    return Question(
        worth,
        tuple(each.term.text for each in terms if each.term.prefix),
        index_tokens(asked.phrase),
        days,
        frozenset(written_days),
        today,
        _WANTS_NUMBER.search(asked.phrase) is not None,
        sum(worth.values()) or 1.0,
        next((each.term.text for each in terms if each.term.alone), ""),
    )


def _telling(first: int, last: int, day: int) -> float:
    near = 1.0 if first <= day <= last else SOON_AFTER if last < day <= last + SOON_DAYS else 0.0
    return near * min(1.0, FULL_DAYS / (last - first + 1))


def has_number(text: str) -> bool:
    """Whether a text holds a number, a date or a word of time."""
    return _NUMBER.search(text) is not None


def _worth(each: Weighed, size: int) -> float:
    return each.term.weight * math.log1p((max(size, each.count) - each.count + 0.5) / (each.count + 0.5))

"""What the forms of both languages mean: each reader gives the spans of days that the groups of its match name."""

import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import TypeAlias

from ..numerals import rank_of
from .date_words import HAN_WEEKDAYS, PARTS, holiday, month_number, unit_of, weekday_number
from .spans import (
    Span,
    day,
    iso_week,
    latest_over,
    month_of,
    months,
    part_of,
    ranked,
    recent_years,
    season,
    year_of,
)

Read: TypeAlias = Callable[[re.Match[str], date], Iterable[Span]]
"""Takes a match and today. What gives no span was no date, and its text stays for looser forms."""
Form: TypeAlias = tuple[re.Pattern[str], Read]
OfYear: TypeAlias = Callable[[int], Iterable[Span]]

_LOOK_BEHIND = 20
_ALSO_WORDS = {"may", "march", "mar"}
_WORD_FOLLOWS = re.compile(r" [a-z]", re.IGNORECASE)
_SUBJECT_FOLLOWS = re.compile(r" (?!(?:of|the|and|or|to|till|until|last|this|did|was|were)\b)[a-z]", re.IGNORECASE)
_LEADS_TO_DAY = re.compile(
    r"\b(?:on|of|since|from|to|until|till|by|before|after|between|and) (?:the )?$", re.IGNORECASE
)
_BETWEEN = re.compile(r"\b(?:between|from) (?:the )?$|介于$", re.IGNORECASE)


def form(pattern: str, read: Read, flags: re.RegexFlag = re.IGNORECASE) -> Form:
    """A form whose letters may be of either case."""
    return re.compile(pattern, flags), read


def han_form(pattern: str, read: Read) -> Form:
    """A form without letters: so it compiles in half the time."""
    return form(pattern, read, re.NOFLAG)


def _each_year(match: re.Match[str], today: date, of_year: OfYear) -> list[Span]:
    """The spans of the year that the match names, else of each recent one."""
    year = match.groupdict().get("year")
    years: Iterable[int] = [int(year) + (2000 if len(year) == 2 else 0)] if year else recent_years(today)
    return [span for each in years for span in of_year(each)]


def _before(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - _LOOK_BEHIND) : match.start()]


def _is_a_verb(match: re.Match[str]) -> bool:
    """A small `may` or `march` with a word behind it, and nothing of a date beside its number."""
    groups = match.groupdict()
    if match["month"] not in _ALSO_WORDS or groups.get("year") or groups.get("th"):
        return False
    return bool(_WORD_FOLLOWS.match(match.string, match.end())) and not _LEADS_TO_DAY.search(_before(match))


def _is_modal(match: re.Match[str]) -> bool:
    """`in may i ask`: a small `may` with a subject behind it is no month."""
    return match["month"] == "may" and bool(_SUBJECT_FOLLOWS.match(match.string, match.end()))


def day_of_month(match: re.Match[str], today: date) -> Iterable[Span]:
    """`March 5`, `2025-03-05`, `5–7 March 2025`, `3月5日到7日`."""
    if _is_a_verb(match):
        return []
    groups, month = match.groupdict(), month_number(match["month"])
    first = int(groups["day"]) if groups.get("day") else rank_of(match["nth"])
    if (to := groups.get("to")) is None:
        return _each_year(match, today, lambda year: day(year, month, first))
    if groups["joint"].casefold() == "and" and not _BETWEEN.search(_before(match)):
        return _each_year(match, today, lambda year: day(year, month, first) + day(year, month, int(to)))
    return _each_year(match, today, lambda year: _from_to(day(year, month, first), day(year, month, int(to))))


def _from_to(first: list[Span], last: list[Span]) -> list[Span]:
    return [(first[0][0], last[0][1])] if first and last and first[0][0] <= last[0][1] else []


def day_month_year(match: re.Match[str], _today: date) -> Iterable[Span]:
    """`5/3/2025` may be the fifth of March and the third of May; with full stops it is day, month, year."""
    one, two, year = int(match["one"]), int(match["two"]), int(match["year"])
    year += 2000 if year < 100 else 0
    return dict.fromkeys(day(year, two, one) + (day(year, one, two) if match["sep"] != "." else []))


def whole_month(match: re.Match[str], today: date) -> Iterable[Span]:
    """`March 2025`, `2025-03`, `3月份`."""
    if _is_modal(match):
        return []
    month = month_number(match["month"])
    return _each_year(match, today, lambda year: month_of(year, month))


def month_to_month(match: re.Match[str], today: date) -> Iterable[Span]:
    """`between January and March`, `3月到5月`."""
    first, last = month_number(match["month"]), month_number(match["to_month"])
    count = (last - first) % 12 + 1
    return _each_year(match, today, lambda year: months(year, first, count) if max(first, last) <= 12 else [])


def whole_year(match: re.Match[str], _today: date) -> Iterable[Span]:
    """`in 2024`, `2024年`, `between 2019 and 2021`."""
    first, last = int(match["year"]), int(match.groupdict().get("to_year") or match["year"])
    return months(first, 1, 12 * (last - first + 1)) if first <= last else []


def _periods(match: re.Match[str], today: date) -> list[Span]:
    """The months of the name that the match holds, or where there is none the years."""
    name = match.groupdict().get("month")
    return _each_year(match, today, lambda year: month_of(year, month_number(name)) if name else year_of(year))


def part(match: re.Match[str], today: date) -> Iterable[Span]:
    """`early March`, `去年底`."""
    name = PARTS.get(match["part"].casefold(), match["part"].casefold())
    return [each for span in _periods(match, today) for each in part_of(span, name)]


def part_begun(unit: str) -> Read:
    """`年底`, `月初` alone: the latest that has begun."""

    def read(match: re.Match[str], today: date) -> Iterable[Span]:
        name = PARTS[match["part"]]
        spans = year_of(today.year) if unit == "year" else months(today.year, today.month)
        earlier = year_of(today.year - 1) if unit == "year" else months(today.year, today.month - 1)
        return next(([each] for span in spans + earlier for each in part_of(span, name) if each[0] <= today), [])

    return read


def rank(match: re.Match[str], today: date) -> Iterable[Span]:
    """`the last Monday in March`, `3月的第1个周末`."""
    word, number = match["unit"] or "week", rank_of(match["which"])
    unit = str(weekday_number(word)) if word in HAN_WEEKDAYS and match["week"] else unit_of(word)
    return [each for span in _periods(match, today) for each in ranked(span, number, unit)]


def quarter(match: re.Match[str], today: date) -> Iterable[Span]:
    """`Q1 2025`, `第1季度`."""
    number = rank_of(match["nth"])
    return _each_year(match, today, lambda year: months(year, 3 * number - 2, 3))


def half_year(match: re.Match[str], today: date) -> Iterable[Span]:
    """`H1 2025`."""
    return _each_year(match, today, lambda year: months(year, 6 * int(match["nth"]) - 5, 6))


def of_week(match: re.Match[str], _today: date) -> Iterable[Span]:
    """`2025-W12`, `2025年第12周`."""
    return iso_week(int(match["year"]), int(match["week"]))


def of_season(match: re.Match[str], today: date) -> Iterable[Span]:
    """`spring 2025`, `去年夏天`."""
    return _each_year(match, today, lambda year: season(year, match["season"].casefold()))


def of_holiday(match: re.Match[str], today: date) -> Iterable[Span]:
    """`Christmas`, `2025年元旦`."""
    return _each_year(match, today, lambda year: day(year, *holiday(match["holiday"])))


def this_day(match: re.Match[str], today: date) -> Iterable[Span]:
    """`a year ago today`, `去年今天`."""
    return day(int(match["year"]), today.month, today.day) or day(int(match["year"]), 2, 28)


def this_month(match: re.Match[str], today: date) -> Iterable[Span]:
    """`this time last year`, `去年同期`."""
    return months(int(match["year"]), today.month)


def nearest(match: re.Match[str], today: date) -> Iterable[Span]:
    """`last March`, `this summer`, `next Christmas`: the latest that is over, this year's, the next to begin."""
    of_year, which = _named(match.groupdict()), match["which"].casefold()
    if "month" in match.groupdict() and _is_modal(match):
        return []
    if which == "last":
        return latest_over(today, of_year)
    if which == "this":
        return of_year(today.year)
    return next(([span] for year in (today.year, today.year + 1) for span in of_year(year) if span[0] > today), [])


def _named(groups: dict[str, str]) -> Callable[[int], list[Span]]:
    if groups.get("month"):
        return lambda year: month_of(year, month_number(groups["month"]))
    if groups.get("season"):
        return lambda year: season(year, groups["season"].casefold())
    return lambda year: day(year, *holiday(groups["holiday"]))

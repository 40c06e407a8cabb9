"""What the forms of a date mean (`dates` has the forms): each reader gives the spans of days that its match names."""

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import TypeAlias

Span: TypeAlias = tuple[date, date]
"""First and last day, both included."""
Read: TypeAlias = Callable[[re.Match[str], date], Iterator[Span]]
"""Takes a match and today."""

YEARS_BACK = 12
"""How many years a day without a year may lie back."""

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10,
}  # fmt: skip
RANKS = {
    "first": 0, "第一": 0, "second": 1, "第二": 1, "third": 2, "第三": 2, "fourth": 3, "第四": 3,
    "last": -1, "最后一": -1,
}  # fmt: skip


def month_number(match: re.Match[str]) -> int:
    """The month that a match names, in words or digits; a number above 12 is none."""
    name = match["month"]
    return int(name) if name.isdigit() else 1 + next(i for i, full in enumerate(MONTHS) if full.startswith(name[:3]))


def day_of_year(match: re.Match[str], today: date) -> Iterator[Span]:
    """A day; without a year that day of each recent year."""
    year = match.groupdict().get("year")
    for each in [int(year)] if year else range(today.year - YEARS_BACK, today.year + 2):
        try:
            day = date(each, month_number(match), int(match["day"]))
        except ValueError:
            continue
        yield day, day


def month_of_year(match: re.Match[str], _today: date) -> Iterator[Span]:
    """A month of a year."""
    if 1 <= month_number(match) <= 12:
        yield from _month_with(int(match["year"]), month_number(match))


def month_of_years(match: re.Match[str], today: date) -> Iterator[Span]:
    """A month without a year: that month of each recent year."""
    if 1 <= (month := month_number(match)) <= 12:
        for year in range(today.year - YEARS_BACK, today.year + 1):
            yield from _month_with(year, month)


def days_ago(count: int) -> Read:
    """The day so many days ago."""

    def read(_match: re.Match[str], today: date) -> Iterator[Span]:
        yield today - timedelta(count), today - timedelta(count)

    return read


def counted(match: re.Match[str], today: date) -> Iterator[Span]:
    """A day so many days ago, or the whole week, month or year so many ago."""
    count, unit = int(COUNTS.get(match["count"], match["count"])), match["unit"]
    if unit in ("day", "天"):
        yield _back(today, count), _back(today, count)
    elif unit in ("week", "周", "星期", "礼拜"):
        yield from _week(_back(today, 7 * count))
    elif unit in ("month", "月"):
        yield from _month_ago(today, count)
    else:
        yield from _year_with(today.year - count)


def half_a_year(_match: re.Match[str], today: date) -> Iterator[Span]:
    """The month half a year ago, with the one before and the one after it."""
    yield next(_month_ago(today, 7))[0], next(_month_ago(today, 5))[1]


def _month_ago(today: date, count: int) -> Iterator[Span]:
    months = 12 * today.year + today.month - 1 - count
    yield from _month_with(months // 12, months % 12 + 1)


def _back(today: date, days: int) -> date:
    return today - timedelta(min(days, 36_500))


def _week(day: date) -> Iterator[Span]:
    monday = day - timedelta(day.weekday())
    yield monday, monday + timedelta(6)


def _month_with(year: int, month: int) -> Iterator[Span]:
    if year >= 1900:
        yield date(year, month, 1), date(year + month // 12, month % 12 + 1, 1) - timedelta(1)


def _year_with(year: int) -> Iterator[Span]:
    if year >= 1900:
        yield date(year, 1, 1), date(year, 12, 31)


def calendar_unit(unit: str, back: int = 0) -> Read:
    """The week, month or year of today, or one so many of them earlier."""

    def read(_match: re.Match[str], today: date) -> Iterator[Span]:
        if unit == "week":
            yield from _week(today - timedelta(7 * back))
        elif unit == "month":
            yield from _month_ago(today, back)
        else:
            yield from _year_with(today.year - back)

    return read


def weekend(back: int) -> Read:
    """The weekend of so many weeks ago."""

    def read(_match: re.Match[str], today: date) -> Iterator[Span]:
        sunday = today - timedelta(today.weekday() + 1 + 7 * (back - 1))
        yield sunday - timedelta(1), sunday

    return read


def within_month(match: re.Match[str], today: date) -> Iterator[Span]:
    """`the last Monday in March`, `3月的第一个周末`: of each recent year where none is named."""
    rank, unit = RANKS[match["which"]], match["unit"] or "week"
    for first, last in (month_of_year if match["year"] else month_of_years)(match, today):
        if unit == "week":
            start = last - timedelta(6) if rank < 0 else first + timedelta(7 * rank)
            yield start, start + timedelta(6)
        elif unit == "day":
            day = last if rank < 0 else first + timedelta(rank)
            yield day, day
        else:
            day = _ranked_weekday(first, last, 5 if unit in ("weekend", "末") else _weekday_number(unit), rank)
            yield day, day + timedelta(unit in ("weekend", "末"))


def _ranked_weekday(first: date, last: date, weekday: int, rank: int) -> date:
    if rank < 0:
        return last - timedelta((last.weekday() - weekday) % 7)
    return first + timedelta((weekday - first.weekday()) % 7 + 7 * rank)


def _weekday_number(name: str) -> int:
    return WEEKDAYS.index(name) if name in WEEKDAYS else min("一二三四五六日天".index(name), 6)


def last_named_month(match: re.Match[str], today: date) -> Iterator[Span]:
    """`last November`: the latest one that is over."""
    month = month_number(match)
    yield from _month_with(today.year - (month >= today.month), month)


def weekday(match: re.Match[str], today: date) -> Iterator[Span]:
    """`last Friday` is the latest one before today; `上周五` that of the week before, `上上周五` one week earlier."""
    if (name := match.groupdict().get("name")) is not None:
        back = (today.weekday() - WEEKDAYS.index(name)) % 7 or 7
        day = today - timedelta(back)
    else:
        monday = today - timedelta(today.weekday() + 7 * match["which"].count("上"))
        day = monday + timedelta(_weekday_number(match["han"]))
    yield day, day

"""Spans of the calendar: weeks, months, quarters, seasons and parts of them, as first and last days.

Nothing here raises for a day that does not exist or a year that nobody remembers: such a span is left out.
"""

from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from typing import TypeAlias

from .date_words import SEASONS

Span: TypeAlias = tuple[date, date]
"""First and last day, both included."""

FIRST_YEAR, LAST_YEAR = 1900, 2199
YEARS_BACK = 12
"""How many years a day without a year may lie back."""
AGO_SLACK = 3
"""Days on either side of a time that a question gives in halves: `half a month ago`."""


def day(year: int, month: int, day_: int) -> list[Span]:
    """One day, if it exists."""
    if not (FIRST_YEAR <= year <= LAST_YEAR and 1 <= month <= 12 and 1 <= day_ <= monthrange(year, month)[1]):
        return []
    return [(date(year, month, day_), date(year, month, day_))]


def months(year: int, month: int, count: int = 1) -> list[Span]:
    """So many months from that one on; `month` may lie outside of 1 to 12 and then counts on in other years."""
    first, last = 12 * year + month - 1, 12 * year + month + count - 2
    if first // 12 < FIRST_YEAR or last // 12 > LAST_YEAR:
        return []
    end_year, end_month = last // 12, last % 12 + 1
    return [(date(first // 12, first % 12 + 1, 1), date(end_year, end_month, monthrange(end_year, end_month)[1]))]


def month_of(year: int, month: int) -> list[Span]:
    """A whole month, if it exists."""
    return months(year, month) if 1 <= month <= 12 else []


def year_of(year: int) -> list[Span]:
    """A whole year."""
    return months(year, 1, 12)


def season(year: int, name: str) -> list[Span]:
    """A season of three months."""
    return months(year, SEASONS[name], 3)


def week_of(day_: date) -> list[Span]:
    """The week of a day, Monday to Sunday."""
    monday = day_ - timedelta(day_.weekday())
    return [(monday, monday + timedelta(6))]


def iso_week(year: int, week: int) -> list[Span]:
    """The week of that number by ISO 8601, if the year has it."""
    try:
        return week_of(date.fromisocalendar(year, week, 1))
    except ValueError:
        return []


def days_from(today: date, days: int) -> date:
    """The day so many days after today, or before it; at most a century away."""
    return today + timedelta(max(-36_500, min(days, 36_500)))


def month_back(today: date, count: int) -> date:
    """The same day of the month so many months ago, or the last of that month; none before the first year."""
    spans = months(today.year, today.month - count)
    if not spans:
        return date(FIRST_YEAR, 1, 1)
    first, last = spans[0]
    return first + timedelta(min(today.day, last.day) - 1)


def recent_years(today: date) -> range:
    """The years that a day without one may mean, the coming one first, then back."""
    return range(today.year + 1, today.year - YEARS_BACK - 1, -1)


def latest_over(today: date, of_year: Callable[[int], list[Span]]) -> list[Span]:
    """The latest span of `of_year` that is over."""
    return next(([span] for year in recent_years(today) for span in of_year(year) if span[1] < today), [])


def weekday_back(today: date, weekday: int) -> date:
    """The latest such weekday (0 = Monday) before today."""
    return today - timedelta((today.weekday() - weekday) % 7 or 7)


def part_of(span: Span, part: str) -> list[Span]:
    """`early`, `mid`, `late`: a third; `1/2`, `2/2`: a half; `start`, `end`: a third of a month, 2 months of 12."""
    first, last = span
    if last - first < timedelta(31):
        starts = {"early": 1, "start": 1, "mid": 11, "late": 21, "end": 21, "1/2": 1, "2/2": 16}[part]
        ends = {"early": 10, "start": 10, "mid": 20, "1/2": 15}.get(part, last.day)
        return [(first.replace(day=starts), first.replace(day=ends))]
    of_twelve = {"early": (0, 4), "mid": (4, 4), "late": (8, 4), "start": (0, 2), "end": (10, 2), "1/2": (0, 6)}
    number = (last.year - first.year) * 12 + last.month - first.month + 1
    begin, count = of_twelve.get(part, (6, 6))
    if number == 12:
        return months(first.year, first.month + begin, count)
    return [span]


def ranked(span: Span, rank: int, unit: str) -> list[Span]:
    """The day, week, weekend or weekday of that rank in a span, -1 = its last; `unit` may be a weekday's number."""
    first, last = span
    if unit == "day":
        only = last if rank < 0 else first + timedelta(rank - 1)
        return [(only, only)] if only <= last else []
    if unit == "week":
        start = last - timedelta(6) if rank < 0 else first + timedelta(7 * (rank - 1))
        return [(start, start + timedelta(6))] if start <= last else []
    weekday = 5 if unit == "weekend" else int(unit)
    if rank < 0:
        only = last - timedelta((last.weekday() - weekday) % 7)
    else:
        only = first + timedelta((weekday - first.weekday()) % 7 + 7 * (rank - 1))
    return [(only, only + timedelta(unit == "weekend"))] if only <= last else []


def ago(today: date, least: int, most: int, unit: str, half: bool) -> list[Span]:
    """So many units ago: that day, or all of that calendar week, month or year; a half is taken roughly."""
    if unit in ("hour", "minute"):
        back = days_from(today, -(most // 24 if unit == "hour" else 0))
        return [(back, back)]
    if unit == "day":
        return [(days_from(today, -most), days_from(today, -least))]
    if half:
        return _halves_ago(today, least, unit)
    if unit == "weekend":
        _, sunday = week_of(days_from(today, -7 * most))[0]
        return [(sunday - timedelta(1), sunday)]
    if unit == "week":
        return _around(week_of(days_from(today, -7 * most)), week_of(days_from(today, -7 * least)))
    if unit == "month":
        return _around(months(today.year, today.month - most), months(today.year, today.month - least))
    return _around(year_of(today.year - most), year_of(today.year - least))


def past(today: date, most: int, unit: str) -> list[Span]:
    """From so many units ago until today; of weekends the last of them is the latest."""
    if unit == "weekend":
        return [(ago(today, most, most, unit, half=False)[0][0], ago(today, 1, 1, unit, half=False)[0][1])]
    days = {"hour": -(-most // 24), "minute": 0, "day": most, "week": 7 * most}
    since = days_from(today, -days[unit]) if unit in days else month_back(today, most * (12 if unit == "year" else 1))
    return [(since, today)]


def _halves_ago(today: date, count: int, unit: str) -> list[Span]:
    if unit == "year":
        return _around(
            months(today.year, today.month - 12 * count - 7), months(today.year, today.month - 12 * count - 5)
        )
    middle = days_from(today, -7 * count - 3) if unit == "week" else days_from(month_back(today, count), -15)
    return [(middle - timedelta(AGO_SLACK), middle + timedelta(AGO_SLACK))]


def _around(early: list[Span], late: list[Span]) -> list[Span]:
    return [(early[0][0], late[0][1])] if early and late else []

"""Readers of what counts from today: so long ago, the past days, last Friday, the week after next."""

import re
from collections.abc import Iterable
from datetime import date, timedelta

from ..numerals import counted
from .date_readers import Read
from .date_words import unit_of, weekday_number
from .spans import Span, ago, days_from, months, past, week_of, weekday_back


def so_long_ago(match: re.Match[str], today: date) -> Iterable[Span]:
    """`three weeks ago`, `半年前`."""
    count = match.groupdict().get("count")
    least, most = counted(count) if count else (0, 0)
    half = count is None or any(match.groupdict().get(name) for name in ("half", "and_half"))
    return ago(today, *_in_weeks(least, most, match["unit"]), half)


def past_days(match: re.Match[str], today: date) -> Iterable[Span]:
    """`the past three days`, `最近一个月`."""
    count = match.groupdict().get("count")
    _, most, unit = _in_weeks(*(counted(count) if count else (1, 1)), match["unit"])
    return past(today, most, unit)


def past_half(match: re.Match[str], today: date) -> Iterable[Span]:
    """`最近半年`."""
    return past(today, 6, "month") if match["unit"] == "年" else past(today, 15, "day")


def _in_weeks(least: int, most: int, word: str) -> tuple[int, int, str]:
    unit = unit_of(word)
    return (2 * least, 2 * most, "week") if unit == "fortnight" else (least, most, unit)


def days_away(offset: int) -> Read:
    """The day so many days from today."""
    return lambda _match, today: [(days_from(today, offset),) * 2]


def weekday(match: re.Match[str], today: date) -> Iterable[Span]:
    """`last` and `on` Friday: the latest before today; `this`: of this week; `next`: the coming one and next week's."""
    number, which, to = weekday_number(match["name"]), match["which"].casefold(), match.groupdict().get("to")
    last, monday = weekday_back(today, number), today - timedelta(today.weekday())
    if which == "this":
        found = [monday + timedelta(number)]
    elif which == "next":
        coming = last + timedelta(7 if last + timedelta(7) > today else 14)
        found = list(dict.fromkeys([coming, monday + timedelta(number + 7)]))
    else:
        found = [last]
    further = timedelta((weekday_number(to) - number) % 7 if to else 0)
    return [(first, first + further) for first in found]


def day_of_week(match: re.Match[str], today: date) -> Iterable[Span]:
    """`上周五`, `下下周一`, `上周一到周三`: counted from Monday."""
    first = today + timedelta(7 * _away(match) - today.weekday() + weekday_number(match["name"]))
    last = first + timedelta((weekday_number(match["to"]) - first.weekday()) % 7) if match["to"] else first
    return [(first, last)]


def han_week(match: re.Match[str], today: date) -> Iterable[Span]:
    """`上周`, `下下周末`."""
    return (weekends if match["end"] else weeks)(_away(match))(match, today)


def han_quarter(match: re.Match[str], today: date) -> Iterable[Span]:
    """`上个季度`."""
    return quarters(_away(match))(match, today)


def _away(match: re.Match[str]) -> int:
    return match["which"].count("下") - match["which"].count("上")


def days_far(base: int) -> Read:
    """`前天`, and with each `大` before it one more day away."""
    return lambda match, today: [(days_from(today, base + len(match["far"]) * (1 if base > 0 else -1)),) * 2]


def weekday_away(weeks_: int) -> Read:
    """`the Friday before last`, `Friday week`: so many weeks from the latest one before today."""

    def read(match: re.Match[str], today: date) -> Iterable[Span]:
        only = weekday_back(today, weekday_number(match["name"])) + timedelta(7 * weeks_)
        return [(only, only)]

    return read


def weekdays_ago(match: re.Match[str], today: date) -> Iterable[Span]:
    """`three Fridays ago`."""
    _, most = counted(match["count"])
    return weekday_away(1 - min(most, 999))(match, today)


def weeks(offset: int) -> Read:
    """The week so many weeks from this one."""
    return lambda _match, today: week_of(days_from(today, 7 * offset))


def weekends(*offsets: int) -> Read:
    """The weekends of the weeks so many weeks from this one."""
    return lambda _match, today: [
        (last - timedelta(1), last) for offset in offsets for _, last in week_of(days_from(today, 7 * offset))
    ]


def latest_weekend(match: re.Match[str], today: date) -> Iterable[Span]:
    """`over the weekend`: the one that has begun last."""
    return weekends(0 if today.weekday() > 4 else -1)(match, today)


def quarters(offset: int) -> Read:
    """The quarter so many quarters from this one."""
    return lambda _match, today: months(today.year, (today.month - 1) // 3 * 3 + 1 + 3 * offset, 3)

"""Dates and clock times as people write them, in English and Chinese."""

import datetime as dt
import re

import msgspec

from ..numerals import plain_letters, with_digits

_PARTS = "凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|深夜|夜里|半夜|午夜"
_EVENING = frozenset({"下午", "傍晚", "晚上", "夜里"})
_NIGHT = frozenset({"凌晨", "深夜", "半夜", "午夜", "夜里", "晚上"})
_ZONES = r"(?:UTC|GMT|Z|ET|EST|EDT|CT|CST|CDT|MT|MST|MDT|PT|PST|PDT|CET|CEST|BST|IST|JST|KST|SGT|AEST|AEDT)"

_DIGITS = r"(?<!\d)(?P<hour>[01]?\d|2[0-3])[:：](?P<minute>[0-5]\d)(?:[:：][0-5]\d)?(?!\d)"
_HAN = r"(?<!\d)(?P<hour_han>[01]?\d|2[0-3])\s?点(?:钟|整)?(?:(?P<half>半)|(?P<minute_han>[0-5]?\d)分?)?"
_AM_PM = r"(?:\s?(?P<half_day>[AaPp])\.?[Mm]\b\.?)"
_BARE = r"(?<!\d)(?P<hour_bare>1[0-2]|0?[1-9])(?=\s?[AaPp]\.?[Mm]\b)"
_RANGE = r"(?:\s?(?:[-–—~～]|to|至|到)\s?(?:[01]?\d|2[0-4])[:：][0-5]\d(?:\s?[AaPp]\.?[Mm]\b)?)?"
_TAIL = rf"{_RANGE}(?:\s?{_ZONES}\b(?:[+-]\d{{1,2}}(?::?\d\d)?)?)?"

_LEADING = re.compile(
    rf"(?P<open>[\[(（【]?)[~≈约]?\s?(?:(?P<part>{_PARTS})\s?)?(?:{_DIGITS}|{_BARE}|{_HAN})"
    rf"{_AM_PM}?{_TAIL}(?P<close>[\])）】]?)(?=$|[\s\-–—:：,，、|·•]|[\u3400-\u9fff])[\s\-–—:：,，、|·•]*"
)
_MAY_LEAD = frozenset("[(（【~≈约" + "".join(part[0] for part in _PARTS.split("|")))
"""With one of these, a digit or a blank begins whatever `_LEADING` matches."""
_ANYWHERE = re.compile(rf"(?:(?P<part>{_PARTS})\s?)?(?:{_DIGITS}|{_BARE}|{_HAN}){_AM_PM}?")

_YEAR, _DAY = r"(?P<year>\d{4})(?!\d)", r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH = "(?P<month>" + "|".join(dict.fromkeys(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS)) + r"|sept)\b\.?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<![\d.])(?P<year>\d{4})(?:[-_./]| ?年 ?)(?P<month>\d{1,2})(?:[-_./]| ?月 ?)(?P<day>\d{1,2})(?!\d|\.\d)",
        rf"\b{_MONTH} {_DAY},? {_YEAR}",
        rf"\b{_DAY} (?:of )?{_MONTH},? {_YEAR}",
        r"(?<![\d./-])(?P<day>\d{1,2})(?P<sep>[-./])(?P<month>\d{1,2})(?P=sep)(?P<year>\d{4})(?![\d/-]|\.\d)",
    )
)
_HAS_YEAR = re.compile(r"\d{4}|年")
_NAME_DATE = re.compile(r"(?<!\d)(\d{4})([-_.])(\d{2})\2(\d{2})(?!\d)")


class LeadingTime(msgspec.Struct):
    """A clock time (`HH:MM`) in front of a block, and the words behind it."""

    clock: str
    rest: str


def leading_time(text: str) -> LeadingTime | None:
    """The clock time that `text` starts with, or None. `5 点` counts only with a day part: 点 also means point."""
    first = text[:1]
    match = _LEADING.match(text) if first in _MAY_LEAD or first.isdecimal() or first.isspace() else None
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    if match["hour_han"] and not match["part"]:
        return None
    clock = _clock(match)
    rest = text[match.end() :]
    return LeadingTime(clock, rest) if clock and rest.strip() else None


def heading_time(text: str) -> str:
    """The first clock time of a heading as `HH:MM`, or ''."""
    match = _ANYWHERE.search(text)
    return _clock(match) if match else ""


def first_date(text: str) -> str:
    """The first real date in `text` as `YYYY-MM-DD`, or ''. `5/3/2026`, of which nobody can say the month, is none."""
    if _HAS_YEAR.search(text) is None:
        return ""
    plain = " ".join(with_digits(plain_letters(text)).split())
    found = [(match.start(), _read(match)) for pattern in _DATES for match in pattern.finditer(plain)]
    return min(((start, date) for start, date in found if date), default=(0, ""))[1]


def _read(match: re.Match[str]) -> str:
    name, year, day = match["month"], int(match["year"]), int(match["day"])
    if not name.isdigit():
        return _date(year, 1 + [each[:3] for each in _MONTHS].index(name[:3].lower()), day)
    month = int(name)
    if match.groupdict().get("sep", ".") == "." or month == day or day > 12:
        return _date(year, month, day)
    return _date(year, day, month) if month > 12 and match["sep"] == "/" else ""


def date_in_name(name: str) -> str:
    """The first real date in a file name, with `-`, `_` or `.` between its parts, or ''."""
    for match in _NAME_DATE.finditer(name):
        if found := _date(int(match[1]), int(match[3]), int(match[4])):
            return found
    return ""


def false_date_in_name(name: str) -> str:
    """What looks like a date in a file name but is none (`2026-02-30`), or ''."""
    match = _NAME_DATE.search(name)
    return match[0] if match and not date_in_name(name) else ""


def real_date(text: str) -> str:
    """`text` if it is a date that exists, else ''."""
    try:
        return dt.date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


def _date(year: int, month: int, day: int) -> str:
    try:
        return dt.date(year, month, day).isoformat()
    except ValueError:
        return ""


def _clock(match: re.Match[str]) -> str:
    hour = int(match["hour"] or match["hour_bare"] or match["hour_han"])
    minute = 30 if match["half"] else int(match["minute"] or match["minute_han"] or 0)
    half_day, part = (match["half_day"] or "").lower(), match["part"] or ""
    if half_day and hour > 12:
        return ""
    if half_day:
        hour = hour % 12 + (12 if half_day == "p" else 0)
    elif part in _NIGHT and hour == 12:
        hour = 0
    elif (
        hour < 12 and ((part in _EVENING and hour > 4) or part in ("下午", "傍晚") or (part == "中午" and hour < 4))
    ) or (hour < 12 and part in ("深夜", "半夜") and hour > 8):
        hour += 12
    return f"{hour:02}:{minute:02}"

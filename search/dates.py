"""Finds the days that a question names, in English and Chinese, as ranges of day numbers."""

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import TypeAlias

from ..clock import day_number

DayRange: TypeAlias = tuple[int, int]
"""First and last day, both included, in days since 1970."""

YEARS_BACK = 12
"""How many years a day without a year may lie back."""

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = (
    "(?P<month>" + "|".join(f"{name[:3]}(?:{name[3:]})?" if name != "may" else name for name in _MONTHS) + r"|sept)\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10,
}  # fmt: skip
_COUNT = rf"(?P<count>\d{{1,4}}|{'|'.join(_COUNTS)})"
_HAN_NUMBERS = {"十": 10, "两": 2} | {digit: value for value, digit in enumerate("一二三四五六七八九", 1)}


def named_days(text: str, today: date) -> list[DayRange]:
    """The days and spans of days that `text` names; a day without a year stands for that day of each recent year.

    Relative days (`yesterday`, `last Friday`, `昨天`, `上周五`) count from `today`.
    """
    plain = _HAN_NUMBER.sub(lambda match: str(_han_number(match.group())), text.casefold())
    found: dict[DayRange, None] = {}
    for pattern, read in _PATTERNS:
        matches = list(pattern.finditer(plain))
        for match in matches:
            for first, last in read(match, today):
                found[day_number(first), day_number(last)] = None
        if matches:  # what one form has read is not read again by a looser one
            plain = pattern.sub(" ", plain)
    return list(found)


def day_tokens(text: str) -> list[str]:
    """A token for each day of the year that a text writes out, the same in every spelling: `#02-13`."""
    # Most texts are ruled out for a microsecond or five.
    if not (_NUMBERED.search(text) and _MAY_HOLD_DAY.search(text)):
        return []
    plain = _HAN_NUMBER.sub(lambda match: str(_han_number(match.group())), text.casefold())
    found: dict[str, None] = {}
    for pattern in _DAYS_OF_YEAR:
        for match in pattern.finditer(plain):
            month, day = _month_of(match), int(match["day"])
            if 1 <= month <= 12 and 1 <= day <= 31:
                found[f"#{month:02}-{day:02}"] = None
        plain = pattern.sub(" ", plain)
    return list(found)


def named_ends(text: str) -> list[str]:
    """Which ends of the memory a text names: `first` or `last`, as in `our first conversation`, `上次聊天`."""
    plain = text.casefold()
    return [end for end, pattern in _ENDS.items() if pattern.search(plain)]


_HAN_NUMBER = re.compile(r"[一二两三四五六七八九十]{1,3}(?=[月日号]|天前|个?(?:周|星期|礼拜|月)前|年前)")
Span: TypeAlias = tuple[date, date]


def _han_number(text: str) -> int:
    tens, _, ones = text.rpartition("十")
    if "十" not in text:
        return _HAN_NUMBERS[text[-1]]
    return _HAN_NUMBERS.get(tens, 1) * 10 + _HAN_NUMBERS.get(ones, 0)


def _month_of(match: re.Match[str]) -> int:
    name = match["month"]
    return int(name) if name.isdigit() else 1 + next(i for i, full in enumerate(_MONTHS) if full.startswith(name[:3]))


def _days(match: re.Match[str], today: date) -> Iterator[Span]:
    year = match.groupdict().get("year")
    for each in [int(year)] if year else range(today.year - YEARS_BACK, today.year + 2):
        try:
            day = date(each, _month_of(match), int(match["day"]))
        except ValueError:
            continue
        yield day, day


def _month(match: re.Match[str], _today: date) -> Iterator[Span]:
    if 1 <= _month_of(match) <= 12:
        yield from _month_with(int(match["year"]), _month_of(match))


def _months(match: re.Match[str], today: date) -> Iterator[Span]:
    """A month without a year: that month of each recent year."""
    if 1 <= (month := _month_of(match)) <= 12:
        for year in range(today.year - YEARS_BACK, today.year + 1):
            yield from _month_with(year, month)


def _ago(days: int) -> Callable[[re.Match[str], date], Iterator[Span]]:
    def read(_match: re.Match[str], today: date) -> Iterator[Span]:
        yield today - timedelta(days), today - timedelta(days)

    return read


def _counted(match: re.Match[str], today: date) -> Iterator[Span]:
    """A day so many days ago, or the whole week, month or year so many ago."""
    count, unit = int(_COUNTS.get(match["count"], match["count"])), match["unit"]
    if unit in ("day", "天"):
        yield _back(today, count), _back(today, count)
    elif unit in ("week", "周", "星期", "礼拜"):
        yield from _week(_back(today, 7 * count))
    elif unit in ("month", "月"):
        yield from _month_with(today.year + (today.month - 1 - count) // 12, (today.month - 1 - count) % 12 + 1)
    else:
        yield from _year_with(today.year - count)


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


def _this(unit: str, back: int = 0) -> Callable[[re.Match[str], date], Iterator[Span]]:
    """The week, month or year of today, or one so many of them earlier."""

    def read(_match: re.Match[str], today: date) -> Iterator[Span]:
        if unit == "week":
            yield from _week(today - timedelta(7 * back))
        elif unit == "month":
            yield from _month_with(today.year - (today.month <= back), (today.month - 1 - back) % 12 + 1)
        else:
            yield from _year_with(today.year - back)

    return read


def _weekend(_match: re.Match[str], today: date) -> Iterator[Span]:
    sunday = today - timedelta(today.weekday() + 1)
    yield sunday - timedelta(1), sunday


def _last_named_month(match: re.Match[str], today: date) -> Iterator[Span]:
    month = _month_of(match)
    yield from _month_with(today.year - (month >= today.month), month)


def _weekday(match: re.Match[str], today: date) -> Iterator[Span]:
    """`last Friday` is the latest one before today; `上周五` the one of the week before."""
    if (name := match.groupdict().get("name")) is not None:
        back = (today.weekday() - _DAYS.index(name)) % 7 or 7
        day = today - timedelta(back)
    else:
        monday = today - timedelta(today.weekday() + (7 if match["which"] == "上" else 0))
        day = monday + timedelta(min("一二三四五六日天".index(match["han"]), 6))
    yield day, day


_Read: TypeAlias = Callable[[re.Match[str], date], Iterator[Span]]
# Strict forms first.
_PATTERNS: list[tuple[re.Pattern[str], _Read]] = [
    (re.compile(rf"\b{_YEAR}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})\b"), _days),
    (re.compile(rf"(?:{_YEAR}\s*年\s*)?(?P<month>\d{{1,2}})\s*月\s*(?P<day>\d{{1,2}})\s*[日号]?"), _days),
    (re.compile(rf"{_YEAR}\s*年\s*(?P<month>\d{{1,2}})\s*月"), _month),
    (re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?\b"), _days),
    (re.compile(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}(?!\d)(?:,?\s+{_YEAR})?\b"), _days),
    (re.compile(rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b"), _month),
    (re.compile(r"\bday before yesterday\b|(?<!大)前天"), _ago(2)),
    (re.compile(r"大前天"), _ago(3)),
    (re.compile(r"\byesterday\b|\blast (?:night|evening)\b|昨[天日晚夜]"), _ago(1)),
    (re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b|今[天日晚早]"), _ago(0)),
    (re.compile(rf"\b{_COUNT} (?P<unit>day|week|month|year)s? ago\b"), _counted),
    (re.compile(r"(?P<count>\d{1,4})\s*个?(?P<unit>天|周|星期|礼拜|月|年)前"), _counted),
    (re.compile(rf"\b(?:last|on)\s+(?P<name>{'|'.join(_DAYS)})\b"), _weekday),
    (re.compile(r"(?P<which>上|这|本)(?:个)?(?:周|星期|礼拜)(?P<han>[一二三四五六日天])"), _weekday),
    (re.compile(r"\blast weekend\b|上(?:个)?(?:周|星期)末"), _weekend),
    (re.compile(r"\bweek before last\b|上上(?:个)?(?:周|星期|礼拜)"), _this("week", 2)),
    (re.compile(r"\blast week\b|上(?:个)?(?:周|星期|礼拜)"), _this("week", 1)),
    (re.compile(r"\bthis week\b|[这本](?:个)?(?:周|星期|礼拜)"), _this("week")),
    (re.compile(r"\bmonth before last\b|上上个?月"), _this("month", 2)),
    (re.compile(r"\blast month\b|上个?月"), _this("month", 1)),
    (re.compile(r"\bthis month\b|这个月|本月"), _this("month")),
    (re.compile(r"\byear before last\b|前年"), _this("year", 2)),
    (re.compile(r"\blast year\b|去年"), _this("year", 1)),
    (re.compile(r"\bthis year\b|今年"), _this("year")),
    (re.compile(rf"\blast\s+{_MONTH}(?!\w)"), _last_named_month),
    (re.compile(rf"\b(?:in|during|since)\s+{_MONTH}(?!\w)"), _months),
    (re.compile(r"(?<!\d)(?P<month>\d{1,2})\s*月份"), _months),
]
_DAYS_OF_YEAR = [pattern for pattern, read in _PATTERNS if read is _days]
_NUMBERED = re.compile(r"\d|[一二三四五六七八九十]月")
_BEGUN = "(?:" + "|".join(name[:3] for name in _MONTHS) + ")"
_MAY_HOLD_DAY = re.compile(
    rf"\d[-/.]\d\d?[-/.]\d|月|\d(?:st|nd|rd|th)?\s+(?:of\s+)?{_BEGUN}|{_BEGUN}[a-z]{{0,6}}\.?\s+(?:the\s+)?\d",
    re.IGNORECASE,
)
_TALK = r"(?:conversation|chat|talk|session|discussion|dialogue)s?\b"
_TALKED = r"(?:talked|spoke|chatted|met)\b"
_HAN_TALK = "的?(?:对话|聊|谈|交谈|会话|见面)"
_ENDS = {
    "first": re.compile(
        rf"\b(?:our|the) (?:very )?first {_TALK}|\bfirst time (?:that )?we (?:ever )?{_TALKED}|\bwe first {_TALKED}"
        f"|(?:第一|首|初)次{_HAN_TALK}"
    ),
    "last": re.compile(
        rf"\b(?:our|the) (?:very )?(?:last|latest|previous|most recent) {_TALK}|\blast time (?:that )?we {_TALKED}"
        rf"|\bwe last {_TALKED}|(?:上|上一|最近一|最后一)次{_HAN_TALK}"
    ),
}

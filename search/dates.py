"""Finds the days that a question names, in English and Chinese, as ranges of day numbers."""

import re
from datetime import date
from typing import TypeAlias

from ..clock import day_number
from .spans import (
    COUNTS,
    MONTHS,
    WEEKDAYS,
    Read,
    calendar_unit,
    counted,
    day_of_year,
    days_ago,
    half_a_year,
    last_named_month,
    month_number,
    month_of_year,
    month_of_years,
    weekday,
    weekend,
    within_month,
)  # fmt: skip

DayRange: TypeAlias = tuple[int, int]
"""First and last day, both included, in days since 1970."""

_MONTH = (
    "(?P<month>" + "|".join(f"{name[:3]}(?:{name[3:]})?" if name != "may" else name for name in MONTHS) + r"|sept)\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_COUNT = rf"(?P<count>\d{{1,4}}|{'|'.join(COUNTS)})"
_HAN_NUMBERS = {"十": 10, "两": 2} | {digit: value for value, digit in enumerate("一二三四五六七八九", 1)}


def named_days(text: str, today: date) -> list[DayRange]:
    """The days and spans of days that `text` names; a day without a year stands for that day of each recent year.

    Relative days (`yesterday`, `last Friday`, `昨天`, `上周五`) count from `today`.
    """
    plain = _plain(_MODAL.sub(" ", text))
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
    plain = _plain(text)
    found: dict[str, None] = {}
    for pattern in _DAYS_OF_YEAR:
        for match in pattern.finditer(plain):
            month, day = month_number(match), int(match["day"])
            if 1 <= month <= 12 and 1 <= day <= 31:
                found[f"#{month:02}-{day:02}"] = None
        plain = pattern.sub(" ", plain)
    return list(found)


def named_ends(text: str) -> list[str]:
    """Which ends of the memory a text names: `first` or `last`, as in `our first conversation`, `上次聊天`."""
    plain = text.casefold()
    return [end for end, pattern in _ENDS.items() if pattern.search(plain)]


_HAN_NUMBER = re.compile(r"[一二两三四五六七八九十]{1,3}(?=[月日号]|天前|个?(?:周|星期|礼拜|月)前|年前)")
_MODAL = re.compile(
    r"(?i:\b(?:in|during|since|last))\s+may(?=\s+(?!(?:of|the|and|or|to|till|until|last|this)\b)[A-Za-z])"
)
"""`in may i ask`: a small `may` with a word behind it is no month."""


def _plain(text: str) -> str:
    """`text` with its Chinese numbers as digits; `两月` is always a count, never a month's name."""
    plain = text.casefold().replace("两月前", "两个月前")
    return _HAN_NUMBER.sub(lambda match: str(_han_number(match.group())), plain)


def _han_number(text: str) -> int:
    tens, _, ones = text.rpartition("十")
    if "十" not in text:
        return _HAN_NUMBERS[text[-1]]
    return _HAN_NUMBERS.get(tens, 1) * 10 + _HAN_NUMBERS.get(ones, 0)


_UNIT = rf"(?P<unit>{'|'.join(WEEKDAYS)}|weekend|week|day)"
_UP = "(?<![上早晚以线网天海])上"
"""`上` of `上周`, but not the end of `晚上`, `以上` or `线上`."""
_ENTIRE = r"(?<![\d.])(?<!\d,)"
"""Where a number begins: not within another one."""
_ALONE = r"(?<!half )(?<!-)(?<!(?:twenty|thirty|eighty|ninety) )(?<!(?:forty|fifty|sixty) )(?<!seventy )"
"""Where the number in words is all of it: not in `half a year`, `thirty-two` or `thirty two`."""
_HAN_WEEK = "(?:个)?(?:周|星期|礼拜)"
# Strict forms first: what has a count or a rank before the words that stand within it (`3天前天气`).
_PATTERNS: list[tuple[re.Pattern[str], Read]] = [
    (re.compile(rf"\b{_YEAR}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})\b"), day_of_year),
    (re.compile(rf"(?:{_YEAR}\s*年\s*)?(?P<month>\d{{1,2}})\s*月\s*(?P<day>\d{{1,2}})\s*[日号]?"), day_of_year),
    (
        re.compile(
            rf"(?:{_YEAR}\s*年\s*)?(?<!\d)(?P<month>\d{{1,2}})\s*月份?的?(?P<which>最后一|第[一二三四])个?(?:周|星期|礼拜)"
            r"(?P<unit>[末一二三四五六日天]?)"
        ),
        within_month,
    ),
    (re.compile(rf"{_YEAR}\s*年\s*(?P<month>\d{{1,2}})\s*月"), month_of_year),
    (re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?\b"), day_of_year),
    (re.compile(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}(?!\d)(?:,?\s+{_YEAR})?\b"), day_of_year),
    (
        re.compile(
            rf"\b(?P<which>first|second|third|fourth|last)\s+{_UNIT}\s+(?:in|of)\s+{_MONTH}(?!\w)(?:,?\s+{_YEAR}\b)?"
        ),
        within_month,
    ),
    (re.compile(rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b"), month_of_year),
    (re.compile(r"\bhalf a year ago\b|(?<![上下])半年前"), half_a_year),
    (re.compile(rf"\b{_ENTIRE}{_ALONE}{_COUNT} (?P<unit>day|week|month|year)s? ago\b"), counted),
    (re.compile(rf"{_ENTIRE}(?P<count>\d{{1,4}})\s*(?P<unit>天|年)前"), counted),
    (re.compile(rf"{_ENTIRE}(?P<count>\d{{1,4}})\s*个?(?P<unit>周|星期|礼拜)前"), counted),
    (re.compile(rf"{_ENTIRE}(?P<count>\d{{1,4}})\s*个(?P<unit>月)前"), counted),
    (re.compile(r"\bday before yesterday\b|(?<![大天之以目当])前天"), days_ago(2)),
    (re.compile(r"大前天"), days_ago(3)),
    (re.compile(r"\byesterday\b|\blast (?:night|evening)\b|昨[天日晚夜]"), days_ago(1)),
    (re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b|今[天日晚早]"), days_ago(0)),
    (re.compile(rf"\b(?:last|on)\s+(?P<name>{'|'.join(WEEKDAYS)})\b"), weekday),
    (re.compile(rf"(?P<which>{_UP}上?|这|本){_HAN_WEEK}(?P<han>[一二三四五六日天])"), weekday),
    (re.compile(rf"{_UP}上(?:个)?(?:周|星期)末"), weekend(2)),
    (re.compile(rf"\blast weekend\b|{_UP}(?:个)?(?:周|星期)末"), weekend(1)),
    (re.compile(rf"\bweek before last\b|{_UP}上{_HAN_WEEK}"), calendar_unit("week", 2)),
    (re.compile(rf"\blast week\b|{_UP}{_HAN_WEEK}"), calendar_unit("week", 1)),
    (re.compile(rf"\bthis week\b|[这本]{_HAN_WEEK}"), calendar_unit("week")),
    (re.compile(rf"\bmonth before last\b|{_UP}上个?月"), calendar_unit("month", 2)),
    (re.compile(rf"\blast month\b|{_UP}个?月"), calendar_unit("month", 1)),
    (re.compile(r"\bthis month\b|这个月|本月"), calendar_unit("month")),
    (re.compile(r"大前年"), calendar_unit("year", 3)),
    (re.compile(r"\byear before last\b|(?<![年之以目当])前年"), calendar_unit("year", 2)),
    (re.compile(r"\blast year\b|去年"), calendar_unit("year", 1)),
    (re.compile(r"\bthis year\b|今年"), calendar_unit("year")),
    (re.compile(rf"\blast\s+{_MONTH}(?!\w)"), last_named_month),
    (re.compile(rf"\b(?:in|during|since)\s+{_MONTH}(?!\w)"), month_of_years),
    (re.compile(r"(?<!\d)(?P<month>\d{1,2})\s*月份"), month_of_years),
]
_DAYS_OF_YEAR = [pattern for pattern, read in _PATTERNS if read is day_of_year]
_NUMBERED = re.compile(r"\d|[一二三四五六七八九十]月")
_BEGUN = "(?:" + "|".join(name[:3] for name in MONTHS) + ")"
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

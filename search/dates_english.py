"""The forms in which English names days, weeks, months and years, strictest first; and dates in digits."""

import re
from datetime import date

from ..numerals import COUNT, ORDINAL, counted
from .date_offsets import (
    days_away,
    latest_weekend,
    past_days,
    quarters,
    so_long_ago,
    weekday,
    weekday_away,
    weekdays_ago,
    weekends,
    weeks,
)
from .date_readers import (
    Form,
    day_month_year,
    day_of_month,
    form,
    half_year,
    month_to_month,
    nearest,
    of_holiday,
    of_season,
    of_week,
    part,
    quarter,
    rank,
    this_day,
    this_month,
    whole_month,
    whole_year,
)
from .date_words import HOLIDAYS, MARK, MONTHS, WEEKDAYS
from .spans import months

_NAMES = "|".join(f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in MONTHS)
_MONTH = rf"(?P<month>(?:{_NAMES}|sept)\b)\.?"
_TO_MONTH = rf"(?P<to_month>(?:{_NAMES}|sept)\b)\.?"
_NUMBER_YEAR = r"(?P<year>(?:19|20)\d\d)"
_YEAR = rf"{MARK}?{_NUMBER_YEAR}\b"
_COMMA_OF = ",? (?:of |in )?"
_THE_YEAR = f"{_COMMA_OF}{_YEAR}"
_OF_YEAR = f"(?:{_THE_YEAR})?"
_DAY = r"(?P<day>\d{1,2})(?P<th>st|nd|rd|th)?"
_TO_DAY = r"(?: ?(?P<joint>[-–—]|\b(?:to|until|till|through|and)\b) ?(?:the )?(?P<to>\d{1,2})(?:st|nd|rd|th)?)?"
# `sat`, `sun` and `wed` are words too.
_WEEKDAY = rf"(?P<name>(?:{'|'.join(WEEKDAYS)}|mon|tues?|thu(?:rs?)?|fri|(?-i:Wed|Sat|Sun))\b)"
_WHOLE_WEEKDAY = f"(?P<name>{'|'.join(WEEKDAYS)})"
_TO_WEEKDAY = rf"(?: ?(?:[-–—]|\b(?:to|until|till|through)\b) ?(?P<to>{'|'.join(WEEKDAYS)})\b)?"
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)\b"
_HOLIDAY = "(?P<holiday>" + "|".join(name for name in HOLIDAYS if name.isascii()).replace("'", "['’]") + r")\b"
_PART = (
    r"\b(?P<part>early|mid|late|(?:middle|beginning|start|end|first half|second half)(?= (?:of|in)\b))[ -]"
    r"(?:(?:of|in) )?(?:the )?"
)
_RANK = (
    r"\b(?P<which>first|second|third|fourth|fifth|last|1st|2nd|3rd|[45]th)"
    rf" (?P<unit>{'|'.join(WEEKDAYS)}|weekend|week|day) (?:in|of) (?:the )?"
)
_UNIT = r"(?P<unit>hour|minute|day|weekend|week|month|year|fortnight)s?\b"
_NTH = r"(?P<nth>first|second|third|fourth|1st|2nd|3rd|4th)"

DIGITS: list[Form] = [
    form(
        rf"(?<![\d.A-Za-z]){_NUMBER_YEAR}(?P<sep>[-/.])(?P<month>\d{{1,2}})(?P=sep)(?P<day>\d{{1,2}})(?!\d|\.\d)",
        day_of_month,
    ),
    form(
        r"(?<![\w./-])(?P<one>\d{1,2})(?P<sep>[-/.])(?P<two>\d{1,2})(?P=sep)(?P<year>(?:19|20)\d\d|(?<=/)\d\d)"
        r"(?![\w/-]|\.\d)",
        day_month_year,
    ),
    form(rf"(?<![\w.-]){_NUMBER_YEAR}(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?![\w-]|\.\d)", day_of_month),
    form(rf"(?<![\w./-]){_NUMBER_YEAR}-?w(?P<week>\d\d)(?!\w)", of_week),
    form(rf"(?<![\w./-]){_NUMBER_YEAR}[-/](?P<month>0[1-9]|1[0-2])(?![\w/-]|\.\d)", whole_month),
]
"""Dates in digits, of no language."""
WRITTEN_DAYS: list[Form] = [
    form(rf"(?:(?<=\bbetween )|(?<=\bbetween the )){_DAY}{_TO_DAY} (?:of )?{_MONTH}{_OF_YEAR}", day_of_month),
    # In `May 3 and 7 June` the first day has a month already.
    form(rf"(?<![\w.,-]){_DAY}{_TO_DAY.replace('|and', '')} (?:of )?{_MONTH}{_OF_YEAR}", day_of_month),
    form(rf"\b(?P<nth>{ORDINAL}) of {_MONTH}{_OF_YEAR}", day_of_month),
    form(rf"\b{_MONTH} (?:the )?{_DAY}{_TO_DAY}(?![\w:%])(?!\.\d){_OF_YEAR}", day_of_month),
    form(rf"\b{_MONTH} the (?P<nth>{ORDINAL})\b{_OF_YEAR}", day_of_month),
]
"""Days of a month in words."""
_IN = r"\b(?:in|during|since|throughout|around)"
_LAST = r"\b(?P<which>last|this|next)"
ENGLISH: list[Form] = [
    *WRITTEN_DAYS,
    form(rf"\bweek (?P<week>\d{{1,2}}){_THE_YEAR}", of_week),
    form(rf"{_RANK}{_MONTH}{_OF_YEAR}", rank),
    form(rf"{_RANK}{_YEAR}", rank),
    form(rf"{_PART}{_MONTH}{_OF_YEAR}", part),
    form(rf"{_PART}{_YEAR}", part),
    form(rf"\b(?:between|from) {_MONTH} ?(?:[-–—]|to|until|till|through|and) ?{_TO_MONTH}{_OF_YEAR}", month_to_month),
    form(rf"\b{_MONTH} ?(?:[-–—]|to|until|till|through) ?{_TO_MONTH}{_THE_YEAR}", month_to_month),
    form(rf"\bq(?P<nth>[1-4])(?:[/-]|{_COMMA_OF}){_YEAR}", quarter),
    form(rf"\b{_NUMBER_YEAR}[ -]?q(?P<nth>[1-4])\b", quarter),
    form(rf"\b{_NTH} quarter{_THE_YEAR}", quarter),
    form(rf"{_IN} q(?P<nth>[1-4])\b", quarter),
    form(rf"{_IN} the {_NTH} quarter\b(?! of\b)", quarter),
    form(rf"\bh(?P<nth>[12])(?:[/-]|{_COMMA_OF}){_YEAR}", half_year),
    form(rf"\b{_SEASON}{_THE_YEAR}", of_season),
    form(rf"\b{_HOLIDAY}{_THE_YEAR}", of_holiday),
    form(rf"\b{_MONTH}{_THE_YEAR}", whole_month),
    form(rf"{MARK}{_NUMBER_YEAR},? in {_MONTH}", whole_month),
    form(rf"\b(?:this|that|the same) day (?:in )?{_YEAR}", this_day),
    form(rf"\b(?:this|the same) time (?:in )?{_YEAR}", this_month),
    form(rf"{MARK}{_NUMBER_YEAR} today\b", this_day),
    form(rf"{COUNT} {_UNIT} ago\b", so_long_ago),
    form(rf"{COUNT} (?P<half>and a half) {_UNIT} ago\b", so_long_ago),
    form(rf"{COUNT} {_UNIT} (?P<half>and a half) ago\b", so_long_ago),
    form(rf"\bhalf an? {_UNIT} ago\b", so_long_ago),
    form(rf"\bpast (?:{COUNT} )?{_UNIT}(?! of\b)", past_days),
    form(rf"\blast {COUNT} {_UNIT}(?! of\b)", past_days),
    form(r"\bthe last (?P<unit>week|month|year)\b(?! of\b)", past_days),
    form(r"\bday before yesterday\b|\bnight before last\b", days_away(-2)),
    form(r"\byesterday\b|\blast (?:night|evening)\b", days_away(-1)),
    form(r"\bday after tomorrow\b", days_away(2)),
    form(r"\btomorrow\b", days_away(1)),
    form(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", days_away(0)),
    form(rf"\b{_WHOLE_WEEKDAY} before last\b", weekday_away(-1)),
    form(rf"(?<!black )\b{_WHOLE_WEEKDAY} week\b", weekday_away(2)),
    form(rf"\b(?P<which>last|(?:this )?past|this|next|on|since) {_WEEKDAY}{_TO_WEEKDAY}", weekday),
    form(rf"{COUNT} {_WHOLE_WEEKDAY}s ago\b", weekdays_ago),
    form(r"\bweekend before last\b", weekends(-2)),
    form(r"\b(?:over|at|on|during) the weekend\b", latest_weekend),
    form(r"\blast weekend\b", weekends(-1)),
    form(r"\bthis weekend\b", weekends(0)),
    form(r"\bnext weekend\b", weekends(0, 1)),
    form(r"\bweek before last\b", weeks(-2)),
    form(r"\b(?:last|previous) week\b", weeks(-1)),
    form(r"\b(?:this|current) week\b", weeks(0)),
    form(r"\bnext week\b", weeks(1)),
    form(r"\bweek after next\b", weeks(2)),
    form(r"\b(?:last|previous) quarter\b", quarters(-1)),
    form(r"\b(?:this|current) quarter\b", quarters(0)),
    form(r"\bnext quarter\b", quarters(1)),
    form(rf"{_LAST} {_MONTH}", nearest),
    form(rf"{_LAST} {_SEASON}", nearest),
    form(rf"{_LAST} {_HOLIDAY}", nearest),
    form(rf"{_IN} {_MONTH}", whole_month),
    form(rf"(?:\b(?:on|at|over|during|since|around|for) |(?!christmas\b(?! eve| day))\b){_HOLIDAY}", of_holiday),
    form(
        rf"\b(?:from|between) {_NUMBER_YEAR} ?(?:[-–—]|to|until|till|through|and) ?(?P<to_year>(?:19|20)\d\d)\b",
        whole_year,
    ),
    form(rf"{MARK}{_NUMBER_YEAR}", whole_year),
    # `in 2000 words` counts something.
    form(rf"{_IN} {_NUMBER_YEAR}(?![\w/-]|[.,]\d| (?!does\b)[a-z]{{3,20}}s\b)", whole_year),
]
_WITHOUT_AGO = [each for each in ENGLISH if "ago" not in each[0].pattern]
_CALENDAR = re.compile(
    r"\b(?:the )?(?:(?P<far>year|month) (?P<which_far>before last|after next)"
    r"|(?:(?<=\bend of )|(?<=\bstart of )|(?<=\bmiddle of )|(?<=\bbeginning of ))the (?P<now>year|month)\b"
    r"|(?<!the )(?P<which>last|this|next|previous|current) (?P<unit>year|month)\b)",
    re.IGNORECASE,
)
_AGO = re.compile(rf"{COUNT} (?P<unit>year|month)s? ago\b", re.IGNORECASE)
_AWAY = {"before last": -2, "last": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "after next": 2}


def english_forms(text: str) -> list[Form]:
    """The forms that are worth asking of a text: counts are dear to look for, and most stand before `ago`."""
    return ENGLISH if _says_ago(text) else _WITHOUT_AGO


def with_english_years(text: str, today: date) -> str:
    """`text` with its relative years and months by their numbers, so that they stand in any form: `March last year`."""
    if _says_ago(text):
        text = _AGO.sub(lambda match: _so_long_ago(match, today), text)
    return _CALENDAR.sub(lambda match: _absolute(match, today), text)


def _says_ago(text: str) -> bool:
    return "ago" in text.casefold()


def _so_long_ago(match: re.Match[str], today: date) -> str:
    least, most = counted(match["count"])
    return _numbered(match["unit"], -most, today) if least == most else match.group()


def _absolute(match: re.Match[str], today: date) -> str:
    which = match["which_far"] or match["which"] or "this"
    return _numbered(match["far"] or match["unit"] or match["now"], _AWAY[which.casefold()], today)


def _numbered(unit: str, away: int, today: date) -> str:
    if unit.casefold() == "year":
        return f"{MARK}{today.year + away:04}"
    spans = months(today.year, today.month + away)
    return f"{MONTHS[spans[0][0].month - 1].title()} {MARK}{spans[0][0].year}" if spans else ""

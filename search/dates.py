"""Finds the days that a question names, in English and Chinese, as ranges of day numbers."""

import re
import unicodedata
from collections.abc import Iterable
from datetime import date, timedelta
from typing import TypeAlias

from ..clock import day_number
from ..numerals import plain_letters, with_digits
from .date_joints import Named, joined
from .date_readers import Form
from .date_words import MONTHS
from .dates_chinese import CHINESE, HAN_DAYS, with_chinese_years
from .dates_english import DIGITS, WRITTEN_DAYS, english_forms, with_english_years

DayRange: TypeAlias = tuple[int, int]
"""First and last day, both included, in days since 1970."""
LONGEST = 4_000
"""Characters of a question that are looked at."""
DATED = 10_000
"""Characters of a fact in which days are looked for: a page of nothing but dates would take half a second."""

_LETTERS = re.compile("[a-z]", re.IGNORECASE)
_HAN = re.compile("[\u4e00-\u9fff]")
_WRITTEN = 7


def named_days(text: str, today: date) -> list[DayRange]:
    """The days and spans of days that `text` names; a day without a year stands for that day of each recent year.

    Relative days (`yesterday`, `last Friday`, `昨天`, `上周五`) count from `today`.
    """
    plain = plain_letters(" ".join(unicodedata.normalize("NFKC", _ends_of(text)).split()))
    forms = list(DIGITS)
    if _HAN.search(plain):
        plain = with_chinese_years(with_digits(plain), today)
        forms += CHINESE
    if _LETTERS.search(plain):
        plain = with_english_years(plain, today)
        forms += english_forms(plain)
    named = joined(plain, _found(plain, forms, today), today)
    return list(dict.fromkeys((day_number(first), day_number(last)) for each in named for first, last in each.spans))


def _ends_of(text: str) -> str:
    """Of a pasted page its beginning and its end."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}\0{text[-LONGEST // 2 :]}"


def _found(plain: str, forms: Iterable[Form], today: date) -> list[Named]:
    """What the forms read, in the order of the text. What one form has read is not read again by a looser one."""
    found: list[Named] = []
    left = plain
    for pattern, read in forms:
        for match in list(pattern.finditer(left)):
            if spans := list(read(match, today)):
                found.append(Named(match.start(), match.end(), spans))
                left = left[: match.start()] + "\0" * len(match.group()) + left[match.end() :]
    return sorted(found)


def day_tokens(text: str) -> list[str]:
    """A token for each day of the year that a text writes out, alike in any spelling: `#02-13`; of a span both ends.

    Of a long text those of its beginning, as of its words.
    """
    text = text[:DATED]
    # Most texts are ruled out for a microsecond or five.
    if not (_NUMBERED.search(text) and _MAY_HOLD_DAY.search(text)):
        return []
    plain = with_digits(plain_letters(" ".join(text.split())))
    found: dict[str, None] = {}
    for pattern, read in (*DIGITS, *WRITTEN_DAYS, *HAN_DAYS):
        for match in pattern.finditer(plain):
            for day in {(day.month, day.day) for span in read(match, _LEAP_DAY) for day in span}:
                found["#{:02}-{:02}".format(*day)] = None
        plain = pattern.sub("\0", plain)
    return list(found)


def written_days(days: Iterable[DayRange]) -> list[str]:
    """The tokens of those days, of spans up to a week: a note may write out what a question calls `tomorrow`."""
    short = ((first, last) for first, last in days if last - first < _WRITTEN)
    named = (date(1970, 1, 1) + timedelta(day) for first, last in short for day in range(first, last + 1))
    return list(dict.fromkeys(f"#{day:%m-%d}" for day in named))


def named_ends(text: str) -> list[str]:
    """Which ends of the memory a text names: `first` or `last`, as in `our first conversation`, `上次聊天`."""
    plain = text.casefold()
    return [end for end, pattern in _ENDS.items() if pattern.search(plain)]


_LEAP_DAY = date(2024, 2, 29)
_NUMBERED = re.compile(r"\d|[一二三四五六七八九十廿卅]月")
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

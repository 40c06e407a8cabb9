"""What the words around an expression of time make of it: `from … to …`, `since …`, `the week of …`."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from .date_words import HAN_WEEKDAYS, WEEKDAYS, weekday_number
from .spans import Span, week_of


class Named(NamedTuple):
    """The spans that one expression names, and where it stands."""

    first: int
    end: int
    spans: list[Span]


_JOINT = re.compile(r" ?(?:to|until|till|through|thru|up to|[-–—~]|到|直到|至) ?(?:the )?", re.IGNORECASE)
_AND = re.compile(r" ?(?:and|和|与) ?(?:the )?", re.IGNORECASE)
_BETWEEN = re.compile(r"(?:\bbetween (?:the )?|介于|在)$", re.IGNORECASE)
_SINCE = re.compile(r"\bsince (?:the )?$", re.IGNORECASE)
_UNTIL_NOW = re.compile("以来|至今|到(?:现在|目前)")
_FROM = re.compile("[从自]从?$")
_BEGINNING = re.compile("开始|起")
_LOOK_BEHIND = 24
_NAME = "|".join(WEEKDAYS)
_WEEK_OF = re.compile(r"\b(?P<unit>week|weekend) of (?:the )?$", re.IGNORECASE)
_WEEKDAY_OF = re.compile(rf"\b(?:(?:on|the) )?(?P<name>{_NAME}) (?:(?:of|in) )?(?:the )?$", re.IGNORECASE)
_ITS_WEEKDAY = re.compile(
    rf"(?:'s|’s|,)? (?P<name>{_NAME})\b|的(?:周|星期|礼拜)(?P<han>[{HAN_WEEKDAYS}])", re.IGNORECASE
)


def joined(plain: str, found: Sequence[Named], today: date) -> list[Named]:
    """What the expressions `found` in a text mean together, in its order."""
    ranges: list[Named] = []
    for each in _refined(plain, found):
        if ranges and _is_range(plain, ranges[-1], each):
            before = ranges[-1]
            ranges[-1] = Named(before.first, each.end, _ranges(before.spans, each.spans))
        else:
            ranges.append(each)
    return [_until_today(plain, each, today) for each in ranges]


def _refined(plain: str, found: Sequence[Named]) -> Iterator[Named]:
    """A week of which one weekday is named as that day, the week of a day as all of it."""
    weeks = [each if (day := _weekday_in(plain, each)) is None else day for each in found]
    for before, each, behind in zip([None, *weeks], weeks, [*weeks[1:], None], strict=False):
        if not any(other and other.first <= each.first and each.end <= other.end for other in (before, behind)):
            yield _widened(plain, each)  # else it is the weekday, which some form has read by itself


def _widened(plain: str, each: Named) -> Named:
    week = _WEEK_OF.search(_before(plain, each))
    if week is None or any(first != last for first, last in each.spans):
        return each
    whole = [week_of(first)[0] for first, _ in each.spans]
    return each._replace(
        spans=whole if week["unit"].casefold() == "week" else [(last - timedelta(1), last) for _, last in whole]
    )


def _weekday_in(plain: str, week: Named) -> Named | None:
    if any(last - first != timedelta(6) or first.weekday() for first, last in week.spans):
        return None
    first, end = week.first, week.end
    if (behind := _ITS_WEEKDAY.match(plain, end)) is not None:
        name, end = behind["name"] or behind["han"], behind.end()
    elif (ahead := _WEEKDAY_OF.search(_before(plain, week))) is not None:
        name, first = ahead["name"], first - len(ahead.group())
    else:
        return None
    days = [monday + timedelta(weekday_number(name)) for monday, _ in week.spans]
    return Named(first, end, [(day, day) for day in days])


def _is_range(plain: str, one: Named, other: Named) -> bool:
    between = plain[one.end : other.first]
    if len(between) > _LOOK_BEHIND:
        return False
    return _JOINT.fullmatch(between) is not None or (
        _AND.fullmatch(between) is not None and _BETWEEN.search(_before(plain, one)) is not None
    )


def _before(plain: str, each: Named) -> str:
    return plain[max(0, each.first - _LOOK_BEHIND) : each.first]


def _ranges(starts: Sequence[Span], ends: Sequence[Span]) -> list[Span]:
    """From each start to the nearest end behind it; a year that only the end has is the start's too."""
    found = []
    for first, _ in starts:
        last = min((end for begin, end in ends if begin >= first), default=None)
        if last is not None and (last - first < timedelta(366) or len(starts) == 1):
            found.append((first, last))
    return found if len(ends) > 1 else found[:1]


def _until_today(plain: str, each: Named, today: date) -> Named:
    text = plain[each.first : each.end].casefold()
    since = text.startswith("since ") or _SINCE.search(_before(plain, each)) or _UNTIL_NOW.match(plain, each.end)
    if not since and not (_FROM.search(_before(plain, each)) and _BEGINNING.match(plain, each.end)):
        return each
    begun = max((first for first, _ in each.spans if first <= today), default=None)
    return each if begun is None else each._replace(spans=[(begun, today)])

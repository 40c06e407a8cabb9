"""Secrets that a sentence tells: `use SECRET as the password`, `changed it from OLD to NEW`, `SECRET 是管理员密码`."""

import re

from .mask_rules import HAN_END, Span, is_han, trimmed
from .mask_values import is_mixed, is_random, is_secret_value

_BLANKS = (" ", "\t")
_BEFORE_KEY = (" ", "\t", "(", "（")
_REACH = 80
"""So many characters before a key its sentence is looked at."""
_LONGEST = 4_096
_HAN_REACH = 18
_QUOTES = " \t`\"'“”‘’「」*_"
_QUOTE = r"[`\"'“「*_]{0,3}+"
_VALUE = r"(?P<value>[\x21-\x7e]{4,256}+)"
_LINK = re.compile(
    r"[ \t](?:as|for|(?:is|was)(?: now| still)?)[ \t](?:the|my|our|your|his|her|its|their|a)[ \t]"
    r"(?:[\w'’-]{1,20}[ \t]){0,3}\Z"
)
_IN_BRACKETS = re.compile(r"[ \t]?[(（](?:(?:the|my|our|your)[ \t])?(?:[\w'’-]{1,20}[ \t]){0,2}\Z")
_SAID = re.compile(
    r"[ \t]*(?:\Z|[\n\r.,;:!?)\]，。；！]"
    r"|(?:for|on|of|at|to|now|again|everywhere|there|here|until|till|since|from|in|and|but|btw|so)\b)"
)
_CHANGE = re.compile(
    r"\b(?:set|setting|chang(?:e|ed|ing)|reset|rotat(?:e|ed|ing)|updat(?:e|ed|ing)|switch(?:ed)?)[ \t][^\n.:]{0,40}\Z"
)
_CHANGED = re.compile(rf"[ \t](?:from[ \t]{_QUOTE}{_VALUE}[ \t]{{1,2}})?to[ \t]{_QUOTE}(?P<new>[\x21-\x7e]{{4,256}}+)")
_LEFT = re.compile(rf"[ \t]from[ \t]{_QUOTE}{_VALUE}")
_HAN_USED = re.compile(rf"用[ \t]?{_QUOTE}(?P<value>[\x21-\x7e]{{4,80}}+)[”」]?[ \t]?(?:当|做|作|作为)[^，。\n]{{0,8}}")
_HAN_SAYING = re.compile(r"[^，。；：:！？\n]*")
_HAN_FILLERS = "就才还也一直现在"
_HAN_CHANGES = frozenset("换改变设更重")
"""Of each verb of a change one character."""
_HAN_AHEAD = 44
_HAN_AFTER = re.compile(
    r"(?!策略|规则|长度|强度|管理|字段|格式|算法|框|页|本)[^，。\n]{0,40}?"
    rf"(?:换成|改成|改为|变成|设成|设为|更新为|重置为)了?[ \t]?{_QUOTE}{_VALUE}"
)
_HAN_LEFT = re.compile(rf"[ \t]?从[ \t]?{_QUOTE}{_VALUE}")
_HAN_SAME = re.compile(
    r"(?:(?:还是|就是|依旧|仍然|仍旧|照旧|没变|没改|没换|不变|未变|老样子|如下|在此|给你|发你|记一下|已更新|还|是|就)了?"
    rf"[，,：: \t]{{0,3}}){{1,4}}{_QUOTE}{_VALUE}"
)


def said_around(text: str, lower: str, start: int, end: int) -> list[Span]:
    """What the sentence around one key tells; `lower` is the text in lower case."""
    spans: list[Span] = []
    if text[start - 1 : start] in _BEFORE_KEY:
        spans += _told_before(text, lower, start, end)
    if text[end : end + 1] in _BLANKS:
        spans += _told_behind(text, lower, start, end)
    if not text.isascii():
        spans += _told_in_chinese(text, lower, start, end)
    return spans


def _told_before(text: str, lower: str, start: int, end: int) -> list[Span]:
    """`SECRET is our wifi password`, `use SECRET as the password`, `SECRET (nas password)`."""
    begin = max(0, start - _REACH)
    before = lower[begin:start]
    link = _LINK.search(before)
    if link is not None and _SAID.match(lower, end):
        return _before(text, begin + link.start(), drawn=False)
    link = _IN_BRACKETS.search(before)
    if link is not None and lower.startswith((")", "）"), end):
        return _before(text, begin + link.start(), drawn=True)
    return []


def _told_behind(text: str, lower: str, start: int, end: int) -> list[Span]:
    """`changed the password from OLD to NEW`, `set it to NEW`."""
    match = _CHANGED.match(lower, end) or _LEFT.match(lower, end)
    if match is None or _CHANGE.search(lower[max(0, start - _REACH) : start]) is None:
        return []
    return _named(text, match, "value") + (_named(text, match, "new") if match.re is _CHANGED else [])


def _told_in_chinese(text: str, lower: str, start: int, end: int) -> list[Span]:
    spans: list[Span] = []
    link = lower.rfind("是", max(0, start - _HAN_REACH), start)
    if link >= 0 and HAN_END.match(lower, end) and _HAN_SAYING.fullmatch(lower, link + 1, start):
        while link > 0 and lower[link - 1] in _HAN_FILLERS:
            link -= 1
        spans += _before(text, link, drawn=False)
    used = lower.rfind("用", max(0, start - _REACH), start)
    match = _HAN_USED.fullmatch(lower, used, start) if used >= 0 else None
    if match is not None and not text.startswith(("管", "本", "学", "器"), end):
        spans += _named(text, match, "value")
    if is_han(text[start]) or lower[start:end] in ("token", "pin"):
        spans += _told_behind_in_chinese(text, lower, end)
    return spans


def _told_behind_in_chinese(text: str, lower: str, end: int) -> list[Span]:
    """`密码从 OLD 换成 NEW`, `密码还是老样子 SECRET`."""
    spans: list[Span] = []
    if not _HAN_CHANGES.isdisjoint(lower[end : end + _HAN_AHEAD]):
        match = _HAN_AFTER.match(lower, end)
        spans += _named(text, match, "value") if match is not None else []
    for match in (_HAN_LEFT.match(lower, end), _HAN_SAME.match(lower, end)):
        spans += _named(text, match, "value") if match is not None else []
    return spans


def _named(text: str, match: re.Match[str], group: str) -> list[Span]:
    if match[group] is None:
        return []
    return _judged(text, match.start(group), match.end(group), drawn=False)


def _before(text: str, end: int, *, drawn: bool) -> list[Span]:
    """The run of characters that ends at a place, quotation marks left out."""
    while end > 0 and text[end - 1] in _QUOTES:
        end -= 1
    start = end
    while start > max(0, end - _LONGEST) and "\x21" <= text[start - 1] <= "\x7e":
        start -= 1
    while start < end and text[start] in _QUOTES:
        start += 1
    return _judged(text, start, end, drawn=drawn) if end - start >= 5 else []


def _judged(text: str, start: int, end: int, *, drawn: bool) -> list[Span]:
    """`drawn`: nothing but the value itself says that it is a secret."""
    value = trimmed(text, start, end)
    fits = is_random(value) if drawn else is_mixed(value)
    if fits and is_secret_value(value, "password", strict=True, alone=True):
        return [(start, start + len(value), "password")]
    return []

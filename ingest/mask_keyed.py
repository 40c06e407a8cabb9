"""Values of keys: behind the key, with words between, below it, in a tag, behind a flag."""

import re
from collections.abc import Iterator

from .cues import lowered
from .mask_rules import CLOSING, KEY, KEY_NEEDLES, Rule, Span, is_han, kind_of, stands_alone
from .mask_said import said_around
from .mask_tables import Columns
from .mask_values import is_key_material, is_mixed, is_pass_phrase, is_random, is_secret_value

_SEPARATOR = (
    r"(?P<sep>[*_`\"'”’\]）)]{0,4}+[ \t]*+(?:[:：=＝]{1,2}=?>?|[=-]>|→|\|"
    r"|(?<![A-Za-z])(?i:(?:is |was )?(?:changed|set|reset) to|(?:is|was)(?: (?:now|still|again))?)(?![A-Za-z])"
    r"|[,，][ \t]?(?i:it['’]s|it is)(?![A-Za-z])"
    r"|(?:(?:还|仍|仍然|就|也|现在|一直)?是(?:老的|旧的|原来的)?|为|は|는|은"
    r"|(?:改成|改为|换成|设为|设成|更新为|重置为)了?)[:：]?)[ \t]*+|[ \t]++(?=[\x21-\x7e“‘]))"
    r"(?P<break>\r?\n[ \t>*+-]*+)?"
)
"""Possessive throughout: a hostile run of blanks or stars must not be tried again at each of its characters."""
_VALUE = (
    r"[*_]{0,3}+[ \t]*+(?:`(?P<code>[^`\n]{1,1024}+)`|\"(?P<double>[^\"\n]{1,1024}+)\"|'(?P<single>[^'\n]{1,1024}+)'"
    r"|“(?P<curly>[^”\n]{1,1024}+)”|‘(?P<curl>[^’\n]{1,1024}+)’|「(?P<corner>[^」\n]{1,1024}+)」"
    r"|(?P<bare>[\x21-\x7e]{1,256}+))"
)
_GROUPS = ("code", "double", "single", "curly", "curl", "corner", "bare")
_QUOTES = ('"', "'", "`")
_CODE_SIGNS = ("+", ",", ")", "]", "}", "%", ";", ".")
"""Behind a quotation mark right behind a key these are signs of code: `'token='+name`."""
_BEHIND_KEY = re.compile(_SEPARATOR + _VALUE)
_FLAG_LEAD = re.compile(r"(?<![\w-])--?[A-Za-z-]{0,40}\Z")
_FLAG_VALUE = re.compile(r"[= ](?P<quote>['\"]?)(?P<value>[^\s'\"]{1,1024})")
_LEAD_REACH = 42
_REACH = 80
_BARE_KEYS = frozenset({"password", "passwd", "passphrase", "passcode", "pwd", "pw", "passwort", "kennwort"})
"""Behind these a made-up value needs no sign between: `password kd83jf02`; behind other keys a long one only."""
_BARE_END = re.compile(r"[,;`\"'&\\](?:(?<=[,;`\"'])|(?<=&)(?=[\w.-]{1,40}=)|(?<=\\)[nrt](?<=.{8}))")
_TRAILING = ".,;:!?)]}>*_|"
_QUALIFIER = (
    r"(?:[ \t]{1,3}(?:for|of|to|on|at|in|für|von)[ \t]{1,3}[^\n:：=→|<>\[\]{}()\"`; \t][^\n:：=→|<>\[\]{}()\"`;]{0,39}?"
    r"|(?:[ \t]{1,3}\(|[ \t]{0,3}（)[^\n()（）]{1,40}[)）])"
)
_QUALIFIED = re.compile(
    rf"{_QUALIFIER}(?:(?<![ \t]):(?!/)|[ \t]++:(?=[ \t])|[ \t]*+(?:[：=→]|->|\bis\b|是))"
    r"[ \t]*+[`\"'“]?(?P<value>[\x21-\x7e]{4,256})"
)
_BELOW = re.compile(
    rf"[*_`\"'”’]{{0,4}}+(?:{_QUALIFIER}|如下|见下|在下面|[ \t]is|是)?[*_`\"'”’]{{0,4}}+"
    r"[ \t]*+(?P<sign>[:：]?)[*_`]{0,4}+[ \t\r]*+\n(?:[ \t>]*+(?:(?:```|~~~)[\w-]{0,20}|[-=]{3,}+)?[ \t\r]*+\n){0,2}+"
    r"[ \t>]*+(?:(?:[-*+]|\d{1,2}[.)])[ \t]++)?[`\"'“「*_]{0,3}(?P<value>[\x21-\x7e]{4,256}+)[”」]?[ \t\r]*+(?=\n|\Z)"
)
_TAGGED = re.compile(
    r"[ \t]*+[:：]?(?:[ \t\n]*+</?(?:t[hdr]|d[dt]|label|b|strong|em|i|span|div|p|li|code|pre|br|kbd)\b[^<>\n]{0,60}>)"
    r"{1,4}+[ \t]*+(?P<value>[^\s<>]{4,256}+)(?=[ \t]*+<)",
    re.ASCII,
)
_PHRASE = re.compile(
    rf"{_QUALIFIER}?[*_`\"']{{0,3}}[ \t]*+(?:[:：=→]|(?:is|was)(?: now| still)?(?![a-z])|是)[ \t]*+[`\"'“*_]{{0,3}}"
    r"(?P<value>[a-z]{2,14}(?:[ -][a-z]{2,14}){3,9}+)(?=[`\"'”*_]{0,3}[ \t\r]*+(?:[.,;!)，。；！]|\n|\Z))"
)
_WORD_BEFORE = re.compile(r"([A-Za-z'’-]{1,30})[ \t]{1,3}\Z")
_SUBJECTS = (
    "to we you i they he she it one who which that also always never just only now please then and or not can cannot "
    "could may might must shall should will would do did does have instead "
)
_ACTING = frozenset(_SUBJECTS.split())
"""Words behind which `pass` and `pin` are verbs, as they are where a sentence begins, behind a plural or an adverb."""
_ASKED = re.compile(
    r"(?:[ \t](?:again|please|now|here|(?:for|to|of|on|at|in)[ \t][^\n?？]{1,30}+))?"
    r"(?:是什么|是啥|是多少|多少|呢|来着|给我|发我|来一下){0,2}[ \t]{0,2}[?？]{1,3}[*_ \t\r]{0,4}"
    r"(?:\n(?:[ \t>\r]{0,8}\n)?|(?=a:|answer:|答[:：]))"
    r"[ \t>*_-]{0,8}(?:[\w .\[\]-]{1,24}[*_]{0,2}[:：][*_ \t]{0,4})?[`\"'“「]?(?P<value>[\x21-\x7e]{6,256}+)"
    r"(?=[”」]?[ \t\r。！，]{0,4}(?:\n|\Z))"
)
_ASKING = re.compile(r"\bwhat(?:['’]?s)?\b|\bwhich\b|什么|啥|多少")
_HEADING = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\*\*|__)")
_WORDS = re.compile(r"[\w '’>-]{0,24}")
"""What stands before a key at the end of a line that has no colon, and has the key's value below."""
_KEY_TAIL = re.compile(r"[ \t]*[:：](?:\s|\Z)")


def _around_keys(text: str) -> Iterator[Span]:
    """What stands around each key. The search goes on right behind it, so a chain of keys hides nothing."""
    at = 0
    lower = lowered(text)
    columns = Columns(text)
    while (found := KEY.search(lower, at)) is not None:
        start, at = found.span()
        if not stands_alone(text, start, at) or _is_in_name(lower, start):
            continue
        yield from said_around(text, lower, start, at)
        yield from columns.below(start, at)
        span = _flag(text, start, at) or _behind(text, start, at) or _with_words(text, lower, start, at)
        span = span or _below(text, lower, start, at) or _answered(text, lower, start, at)
        if span is not None:
            yield span
            at = span[1]


def _is_in_name(lower: str, start: int) -> bool:
    """Whether a key is a part of a resource's name: `arn:aws:secretsmanager:eu:1:secret:NAME`."""
    return lower[start - 1 : start] == ":" and "arn:" in lower[max(0, start - _REACH) : start]


def _behind(text: str, start: int, end: int) -> Span | None:
    key = text[start:end]
    match = _BEHIND_KEY.match(text, end)
    if match is None:
        return None
    group = next(name for name in _GROUPS if match[name] is not None)
    value = match[group] if group != "bare" else _bare(match["bare"])
    begin = match.start(group)
    if group == "bare" and value[:1] in _QUOTES:  # one that is not closed on its line
        if value[1:2] in _CODE_SIGNS:
            return None
        begin, value = begin + 1, value[1:]
    if not _judged(text, key, match, value):
        return None
    return begin, begin + len(value), kind_of(key)


def _judged(text: str, key: str, match: re.Match[str], value: str) -> bool:
    separator = match["sep"].strip(" \t*_`\"'”’])）")
    end = match.end() if match["bare"] is None else match.start("bare") + len(value)
    after = text[end : end + 200].partition("\n")[0]
    if match["break"] is not None and _KEY_TAIL.match(after):  # the next line is a key of its own
        return False
    weak = separator in ("", "|") or match["break"] is not None
    worded = separator.isalpha() or " " in separator
    if separator == "" and not is_han(key) and match["code"] is None:
        made_up = is_mixed(value) if key.lower() in _BARE_KEYS else is_key_material(value)
        return made_up and is_secret_value(value, "password", strict=True, alone=True)
    if worded and (key.lower() in ("pass", "pin") or (key.lower() == "pw" and not is_mixed(value))):
        return False
    if separator == "" and key.lower() in ("pass", "pin") and _is_verb(text, match.start() - len(key)):
        return False
    if key.lower().startswith("pin") and not any(char.isdigit() for char in value):
        return False
    alone = not after.strip(" \t\r*_`\"'”|.,;!)。，；！）、\\<")
    return is_secret_value(value, kind_of(key), strict=weak or worded, alone=alone, before_han=is_han(after))


def _is_verb(text: str, start: int) -> bool:
    """Whether `pass` or `pin` before a value in code does something with it: ``we pass `x9` on``, ``pin `a==1.2` ``."""
    before = _WORD_BEFORE.search(text, max(0, start - _REACH), start)
    return before is None or before[1].lower() in _ACTING or before[1].endswith(("s", "ly", "n't", "n’t"))


def _flag(text: str, start: int, end: int) -> Span | None:
    """`--token SECRET`, `--db-password=SECRET`."""
    if text[start - 1 : start] != "-" and "--" not in text[max(0, start - _LEAD_REACH) : start]:
        return None
    match = _FLAG_VALUE.match(text, end)
    if match is None or _FLAG_LEAD.search(text[max(0, start - _LEAD_REACH) : start]) is None:
        return None
    kind = kind_of(text[start:end])
    digits = is_mixed(match["value"]) or match["value"].isdigit()
    if text.startswith("pin", start) and not digits:
        return None
    if not is_secret_value(match["value"], kind, strict=False, alone=True):
        return None
    return match.start("value"), match.end("value"), kind


def _with_words(text: str, lower: str, start: int, end: int) -> Span | None:
    """`password for the nas: SECRET`, `<th>Password</th><td>SECRET</td>`, `passphrase is WORD WORD WORD WORD`."""
    kind = kind_of(text[start:end])
    match = _QUALIFIED.match(lower, end) or (_TAGGED.match(lower, end) if "<" in text[end : end + 8] else None)
    if match is not None:
        value = text[match.start("value") : match.end("value")].rstrip(CLOSING)
        if is_secret_value(value, kind, strict=True, alone=True):
            return match.start("value"), match.start("value") + len(value), kind
    if "phrase" in lower[start:end] and kind == "password":
        match = _PHRASE.match(text, end)
        if match is not None and is_pass_phrase(match["value"]):
            return match.start("value"), match.end("value"), kind
    return None


def _below(text: str, lower: str, start: int, end: int) -> Span | None:
    """A value that stands alone on a line below its key, a blank line or the fence of a code block between."""
    match = _BELOW.match(lower, end)
    if match is None:
        return None
    value = text[match.start("value") : match.end("value")].rstrip("`\"'*_.,;")
    kind = kind_of(text[start:end])
    if value.endswith(":") or not is_secret_value(value, kind, strict=True, alone=True):
        return None
    if not match["sign"]:
        line = text[max(0, start - _LEAD_REACH) : start].rpartition("\n")[2]
        heads = _HEADING.match(line) is not None
        if not (is_mixed(value) if heads else is_random(value) and _WORDS.fullmatch(line)):
            return None
    return match.start("value"), match.start("value") + len(value), kind


def _answered(text: str, lower: str, start: int, end: int) -> Span | None:
    """`what is the password?`, and nothing but the answer on the next line."""
    match = _ASKED.match(lower, end)
    if match is None:
        return None
    value = text[match.start("value") : match.end("value")].rstrip(CLOSING)
    asks = _ASKING.search(lower, max(0, start - _REACH), match.start("value")) is not None
    kind = kind_of(text[start:end])
    if not (is_mixed(value) if asks else is_random(value)) or not is_secret_value(value, kind, strict=True, alone=True):
        return None
    return match.start("value"), match.start("value") + len(value), kind


def _bare(run: str) -> str:
    """A value without quotes: up to a comma or semicolon that ends it, less closing punctuation."""
    end = _BARE_END.search(run, 1)
    if end is not None:
        run = run[: end.start()]
    return run.rstrip(_TRAILING) if not run.startswith(("<", "[", "{", "$", "*")) else run


BY_KEY: tuple[tuple[tuple[str, ...], Rule], ...] = ((KEY_NEEDLES, _around_keys),)
"""A rule like those of `mask_rules`: the needles that call for it, in lower case, and the rule."""

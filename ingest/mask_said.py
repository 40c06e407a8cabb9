"""Secrets that a sentence tells: `use SECRET as the password`, `changed it from OLD to NEW`, `密码从 OLD 换成 NEW`."""

import re
from collections.abc import Iterator

from .mask_logins import beside
from .mask_rules import Rule, Span

_KEY = r"(?:password|passwort|kennwort|passphrase|passcode|passwd|pwd|pw|pin(?: code)?|token|secret|api[ _-]?key)"
_HAN_KEY = "(?:密码|密碼|口令|密钥|秘钥|令牌|token|pin)"
_QUOTE = r"[`\"'“「*_]{0,3}+"
_VALUE = r"(?P<value>[\x21-\x7e]{4,256}+)"
_NAMED = re.compile(
    r"(?<![\x21-\x7e])(?P<value>[\x21-\x7e]{5,128}+)[ \t](?:as|is|for)[ \t](?:the|my|our|your|his|her|its|their|a)[ \t]"
    rf"(?:[\w-]{{1,20}}[ \t]){{0,2}}{_KEY}"
    r"(?=[ \t]*(?:\Z|[\n.,;:!?)\]]|(?:for|on|of|at|to|now|again|everywhere|there)\b))"
)
_CHANGE = (
    r"\b(?:set|setting|chang(?:e|ed|ing)|reset|rotat(?:e|ed|ing)|updat(?:e|ed|ing)|switch(?:ed)?)[ \t][^\n.:]{0,40}?"
)
_OLD = re.compile(rf"{_CHANGE}{_KEY}[ \t]from[ \t]{_QUOTE}{_VALUE}")
_NEW = re.compile(rf"{_CHANGE}{_KEY}[ \t](?:from[ \t][\x21-\x7e]{{1,256}}+[ \t])?to[ \t]{_QUOTE}{_VALUE}")
_HAN_NAMED = re.compile(
    rf"用[ \t]?{_QUOTE}(?P<value>[\x21-\x7e]{{4,256}}+)[”」]?[ \t]?(?:当|做|作|作为)[^，。\n]{{0,8}}?"
    rf"{_HAN_KEY}(?![管本学器])"
)
_HAN_OLD = re.compile(rf"{_HAN_KEY}[ \t]?从[ \t]?{_QUOTE}{_VALUE}")
_HAN_NEW = re.compile(
    rf"{_HAN_KEY}(?!策略|规则|长度|强度|管理|字段|格式|算法|框|页|本)[^，。\n]{{0,40}}?"
    rf"(?:换成|改成|改为|变成|设成|设为|更新为|重置为)了?[ \t]?{_QUOTE}{_VALUE}"
)

_RULES = [beside(pattern, lower=True) for pattern in (_NAMED, _OLD, _NEW)]
_HAN_RULES = [beside(pattern, lower=True) for pattern in (_HAN_NAMED, _HAN_OLD, _HAN_NEW)]


def _said(text: str) -> Iterator[Span]:
    for rule in _RULES:
        yield from rule(text)
    if not text.isascii():
        for rule in _HAN_RULES:
            yield from rule(text)


BY_SENTENCE: tuple[tuple[tuple[str, ...], Rule], ...] = (
    (
        ("passw", "kennwort", "passphrase", "passcode", "pwd", "pw", "pin", "token", "secret", "api", "密码", "密碼",
         "口令", "密钥", "秘钥", "令牌"),
        _said,
    ),
)  # fmt: skip
"""A rule like those of `mask_rules`: the needles that call for it, in lower case, and the rule."""

"""Secrets that a sentence tells: `use SECRET as the password`, `changed it from OLD to NEW`, `密码从 OLD 换成 NEW`."""

import re

from .mask_logins import beside
from .mask_rules import Rule

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

BY_SENTENCE: tuple[tuple[tuple[str, ...], Rule], ...] = (
    ((" as ", " is ", " for "), beside(_NAMED, lower=True)),
    ((" from ",), beside(_OLD, lower=True)),
    ((" to ",), beside(_NEW, lower=True)),
    (("用",), beside(_HAN_NAMED, lower=True)),
    (("从",), beside(_HAN_OLD, lower=True)),
    (("成", "为"), beside(_HAN_NEW, lower=True)),
)
"""Rules like those of `mask_rules`: the needles that call for them, in lower case, and the rule."""

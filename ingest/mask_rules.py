"""What the rules of masking share: the words that announce a secret, and how a rule is called.

Never secrets: git SHAs, UUIDs and hashes without a key that says so, placeholders and example values,
prose (`The token is expired`, `password: required`), and masks.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

from .cues import lowered
from .mask_values import KeyKind, is_mixed, is_secret_value

Span: TypeAlias = tuple[int, int, str]
Rule: TypeAlias = Callable[[str], Iterable[Span]]

_WORD: dict[str, KeyKind] = {
    "password": "password", "passwd": "password", "passphrase": "password", "pwd": "password", "passcode": "password",
    "pass": "password", "pw": "password", "pin": "password", "密码": "password", "口令": "password",
    "secret": "secret", "token": "token", "令牌": "token", "密钥": "secret_key", "秘钥": "secret_key",
    "私钥": "private_key",
    "助记词": "seed_phrase", "credential": "secret", "kennwort": "password", "contraseña": "password",
    "contrasena": "password", "パスワード": "password", "비밀번호": "password",
}  # fmt: skip
_OWNERS = (
    "api", "access", "auth", "secret", "private", "signing", "encryption", "account", "client", "service", "master",
    "bot", "pre-?shared",
)  # fmt: skip
KEY = re.compile(
    r"pass(?:wor[dt]|wd|code)s?|pass[ -]?phrases?|mot de passe|kennwort|contraseña|contrasena|パスワード|비밀번호"
    r"|passw|pwd|pass|pw|pin(?:[ _-]?code)?|credentials?"
    rf"|{'|'.join(rf'{owner}[ _-]?(?:access[ _-]?)?(?:key|token|secret)' for owner in _OWNERS)}"
    r"|secret|token|seed[ _-]?phrase|mnemonic|recovery[ _-]?phrase|密码|密碼|口令|密钥|秘钥|私钥|令牌|助记词"
)
"""Searched in lower-case text, and each alternative with a literal beginning: so Python is twice as quick."""
KEY_NEEDLES = (
    "pass", "pwd", "pw", "pin", "secret", "token", "credential", "key", "mnemonic", "phrase", "contrase",
    "密码", "口令", "密钥", "秘钥", "私钥", "令牌", "助记词", "密碼", "kennwort",
    "パスワード", "비밀번호",
)  # fmt: skip
HAN_END = re.compile(r"[ \t]*(?:\Z|[\n\r，。！；、,.;!)）」”]|了|吧|啊|哦|呢|哈|别|不要|记)")
"""What follows a Chinese word that a statement ends with."""
CLOSING = ".,;:!?)]}>*_|`\"'”"
"""Signs that end a sentence or a quotation, and no secret."""
_VALUE_END = re.compile(r"[,;`\"']")


def matches_at(pattern: re.Pattern[str], needles: tuple[str, ...], text: str) -> Iterator[re.Match[str]]:
    """The matches of a pattern that begins with one of the needles: found by them, which is far quicker."""
    for needle in needles:
        at = text.find(needle)
        while at >= 0:
            match = pattern.match(text, at)
            if match is not None:
                yield match
            at = text.find(needle, match.end() if match and match.end() > at else at + 1)


def beside(
    pattern: re.Pattern[str],
    needles: tuple[str, ...] = (),
    *,
    fits: Callable[[str], bool] = is_mixed,
    lower: bool = False,
) -> Rule:
    """The value of a pattern, if it fits and looks made up. With needles the pattern begins with one of them."""

    def rule(text: str) -> Iterator[Span]:
        given = lowered(text) if lower else text
        for match in matches_at(pattern, needles, given) if needles else pattern.finditer(given):
            value = trimmed(text, *match.span("value"))
            if fits(value) and is_secret_value(value, "password", strict=True, alone=True):
                yield match.start("value"), match.start("value") + len(value), "password"

    return rule


def trimmed(text: str, start: int, end: int) -> str:
    """A value up to a sign that ends it, less closing punctuation."""
    return _VALUE_END.split(text[start:end], maxsplit=1)[0].rstrip(CLOSING)


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a key is a word or the last part of one (`DB_PASSWORD`, `dbPassword`), not a piece (`passenger`)."""
    if is_han(text[start]):
        return True
    before, behind = text[max(0, start - 1) : start], text[end : end + 1]
    if _is_ascii_alnum(behind):
        return False
    if not _is_ascii_alnum(before) or (before.islower() and text[start].isupper()):
        return True
    # PGPASSWORD: capitals throughout, and a key too long to be the end of another word.
    return before.isupper() and end - start > 4 and text[start:end].isupper()


def _is_ascii_alnum(text: str) -> bool:
    return text.isalnum() and text.isascii()


def is_han(text: str) -> bool:
    """Whether a text begins with a Chinese character."""
    return bool(text) and "\u3400" <= text[0] <= "\u9fff"


@lru_cache(maxsize=512)
def kind_of(key: str) -> KeyKind:
    """What kind of secret a key announces."""
    low = key.lower().replace("密碼", "密码").strip("-")
    if "private" in low:
        return "private_key"
    if low.startswith("pass"):
        return "password"
    for word, kind in _WORD.items():
        if word in low and not ("key" in low and kind in ("secret", "token", "password")):
            return kind
    if "phrase" in low or "mnemonic" in low:
        return "seed_phrase"
    return "api_key" if "api" in low else "secret_key"

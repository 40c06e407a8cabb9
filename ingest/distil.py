"""Short forms of a fact by rules: `distilled` for the warm tier, `summary` for a glance."""

import re
import unicodedata

DISTILLED_BYTES = 100
SUMMARY_BYTES = 30

_SPEAKER = re.compile(r"\A(?:user|assistant|agent|human|ai|用户|助手)\s*[:：]\s*", re.IGNORECASE)
_FILLER = re.compile(
    r"\A(?:(?:well|so|ok(?:ay)?|also|actually|basically|just|btw|by the way|please note(?: that)?"
    r"|note(?: that)?)[,:]?\s+"
    r"|(?:另外|然后|所以|其实|总之|顺便说一下)[，,]?\s*)+",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"(?<!\s)\s*+[(（][^()（）]*[)）]")
_SENTENCE = re.compile(r"[。！？；]|[.!?;](?=\s+\S)")
_CLAUSE = re.compile(r"[，、：]|[,:](?=\s)|\s[-–—]\s")


def distilled(text: str) -> str:
    """At most 100 bytes of UTF-8: the first sentence, without speaker, filler and asides if that is needed to fit."""
    return shortened(text, DISTILLED_BYTES)


def summary(text: str) -> str:
    """At most 30 bytes of UTF-8: the first words of `distilled`."""
    return shortened(text, SUMMARY_BYTES)


def short_forms(text: str) -> tuple[str, str]:
    """`distilled` and `summary` of one text."""
    body = _body(text)
    return _shortened(body, DISTILLED_BYTES), _shortened(body, SUMMARY_BYTES)


def shortened(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8, the shortest form that keeps whole clauses where it can."""
    return _shortened(_body(text), limit)


def _body(text: str) -> str:
    """The words that are worth shortening: without speaker and filler."""
    body = " ".join((text if text.isascii() else unicodedata.normalize("NFC", text)).split())
    return _without(_FILLER, _without(_SPEAKER, body)) or body


def _shortened(body: str, limit: int) -> str:
    if _fits(body, limit):
        return body
    bare = (_ASIDE.sub("", body).strip() or body) if ")" in body or "）" in body else body
    if bare is not body and _fits(bare, limit):
        return bare
    heads = _heads(bare, _SENTENCE, limit)[:1] or _heads(bare, _CLAUSE, limit)[-1:]
    return heads[0] if heads else _cut(bare, limit)


def _without(beginning: re.Pattern[str], text: str) -> str:
    match = beginning.match(text)
    return text[match.end() :] if match else text


def _heads(text: str, pattern: re.Pattern[str], limit: int) -> list[str]:
    """The beginnings that end at a mark, fit, and use at least a third of the room."""
    found = [text[: match.start()].rstrip() for match in pattern.finditer(text[: limit + 1])]
    return [head for head in found if _fits(head, limit) and len(head.encode()) * 3 >= limit]


def _cut(text: str, limit: int) -> str:
    """Cut at a word where there is one, never inside a character; `…` says that something is missing."""
    room = limit - len("…".encode())
    head = text.encode()[:room].decode("utf-8", "ignore")
    space = head.rfind(" ")
    if space * 2 > len(head) and not text[len(head) : len(head) + 1].isspace():
        head = head[:space]
    while head and unicodedata.combining(text[len(head) : len(head) + 1] or " "):
        head = head[:-1]
    return head.rstrip(" ,;:，、；：-") + "…"


def _fits(text: str, limit: int) -> bool:
    return len(text.encode()) <= limit

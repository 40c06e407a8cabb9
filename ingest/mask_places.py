"""Secrets known by where they stand: behind a program's flag, behind a key with words between, below a table's head."""

import re
from collections.abc import Iterator

from .mask_rules import KEY, Rule, Span, kind_of
from .mask_values import KeyKind, is_secret_value

_REACH = 200
"""So many characters before a flag its program may stand, on the same line."""
_FLAG_VALUE = re.compile(
    r"(?<=\s)-(?:p(?P<attached>[^\s'\"`-][^\s'\"`]{3,255})|(?P<flag>[pa])[ \t]+['\"]?(?P<apart>[^\s'\"`]{4,256}))"
)
_ATTACHED = re.compile(r"\b(?:mysql\w*|mariadb[\w-]*)\b")
_APART = {"p": re.compile(r"\blogin\b"), "a": re.compile(r"\bredis-cli\b")}
_QUALIFIED = re.compile(
    r"(?P<key>password|passwort|kennwort|passphrase|passwd|passcode|pin(?: code)?|密码|口令)"
    r"(?:[ \t]+(?:for|of|to|on|at|in|für|von)[ \t]+[^\n:：=→]{1,40}?|[ \t]*[(（][^\n()（）]{1,40}[)）])"
    r"[ \t]*(?:[:：=→]|->|\bis\b|是)[ \t]*[`\"'“]?(?P<value>[\x21-\x7e]{4,256})",
    re.IGNORECASE,
)
_DELIMITER = re.compile(r"(?=[ \t|:]*+-)[ \t|:-]*+\Z")
_CELL = re.compile(r"[^|\n]*")
_PARTS = re.compile(r"[/,&()（）、]")
_AROUND = " \t\r*_`\"'“”"
_CLOSING = ".,;:!?)]}>*_|`\"'”"


def _program_flags(text: str) -> Iterator[Span]:
    """`mysql -pSECRET`, `docker login -p SECRET`, `redis-cli -a SECRET`."""
    for match in _FLAG_VALUE.finditer(text):
        near = text[max(0, match.start() - _REACH) : match.start()].rpartition("\n")[2]
        group = "attached" if match["attached"] else "apart"
        program = _ATTACHED if match["attached"] else _APART[match["flag"]]
        value = match[group]
        if program.search(near) and is_secret_value(value, "password", strict=True, alone=True):
            yield match.start(group), match.end(group), "password"


def _qualified(text: str) -> Iterator[Span]:
    """`password for the nas: SECRET`, `密码（路由器）：SECRET`: words stand between the key and its sign."""
    for match in _QUALIFIED.finditer(text):
        value = match["value"].rstrip(_CLOSING)
        kind: KeyKind = "password"
        if is_secret_value(value, kind, strict=True, alone=True):
            yield match.start("value"), match.start("value") + len(value), kind


def _columns(text: str) -> Iterator[Span]:
    """Cells below a table head that is nothing but a key."""
    start = 0
    head: dict[int, KeyKind] = {}
    above = ""
    for line in text.split("\n"):
        if "|" not in line:
            head = {}
        elif _DELIMITER.match(line):
            head = _keyed_columns(above)
        elif head:
            yield from _cells_of(line, start, head)
        above, start = line, start + len(line) + 1


def _keyed_columns(line: str) -> dict[int, KeyKind]:
    cells = [cell.strip(_AROUND).lower() for cell in line.split("|")]
    return {
        number: kind_of(part.strip())
        for number, cell in enumerate(cells)
        for part in _PARTS.split(cell)
        if KEY.fullmatch(part.strip())
    }


def _cells_of(line: str, start: int, head: dict[int, KeyKind]) -> Iterator[Span]:
    at = 0
    for number, cell in enumerate(line.split("|")):
        value = cell.strip(_AROUND)
        if number in head and is_secret_value(value, head[number], strict=True, alone=True):
            begin = start + at + cell.index(value)
            yield begin, begin + len(value), head[number]
        at += len(cell) + 1


def _tables(text: str) -> Iterator[Span]:
    # Most tables hold no key at all: one look rules them out.
    if KEY.search(text.lower()):
        yield from _columns(text)


BY_PLACE: tuple[tuple[tuple[str, ...], Rule], ...] = (
    (("mysql", "mariadb", "login", "redis-cli"), _program_flags),
    (("pass", "kennwort", "pin", "密码", "口令"), _qualified),
    (("|",), _tables),
)
"""Rules like those of `mask_rules`: the needles that call for them, in lower case, and the rule."""

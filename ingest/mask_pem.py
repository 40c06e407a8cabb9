"""Private keys in PEM: a block of lines, or one line as JSON writes it."""

import re
from collections.abc import Iterator

from .mask_rules import Rule, Span

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_LEAD = re.compile(r"[ \t>]*(?:[*+-][ \t]+)?")
_BODY = re.compile(
    r"[ \t>]*+(?:[*+-][ \t]++)?(?:[A-Za-z0-9+/=]{16,}|[A-Za-z0-9-]+: .*|=?[A-Za-z0-9+/=]{1,15})?[ \t\r]*\Z"
)
_MOST_LINES = 400


def _private_keys(text: str) -> Iterator[Span]:
    """A span a line, list and quote marks left out; a key without an end goes on while lines look like one."""
    if _BEGIN.search(text) is None:
        return
    inside = False
    closes = at = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        begins = _BEGIN.search(line) if "-----" in line else None
        if begins is not None and not inside:
            ends = _END.search(line, begins.end())
            last = ends.end() if ends is not None else len(line.rstrip())
            yield at + begins.start(), at + last, "private_key"
            if ends is None:
                inside, closes = True, _closing_line(lines, number)
        elif inside and (number <= closes or (closes < 0 and _BODY.match(line))):
            if line.strip():
                lead = _LEAD.match(line)
                yield at + (lead.end() if lead else 0), at + len(line.rstrip()), "private_key"
            inside = number != closes
        else:
            inside = False
        at += len(line) + 1


def _closing_line(lines: list[str], begun: int) -> int:
    for number in range(begun + 1, min(len(lines), begun + _MOST_LINES)):
        if _END.search(lines[number]):
            return number
        if _BEGIN.search(lines[number]):
            return -1
    return -1


BY_BLOCK: tuple[tuple[tuple[str, ...], Rule], ...] = ((("private key",), _private_keys),)
"""A rule like those of `mask_rules`: the needles that call for it, in lower case, and the rule."""

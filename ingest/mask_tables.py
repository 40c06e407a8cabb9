"""Secrets in columns: cells below a head that says password, in Markdown, comma-separated or aligned by blanks."""

import re
from collections.abc import Iterator

from .mask_rules import KEY, Rule, Span, kind_of, stands_alone
from .mask_values import KeyKind, is_mixed, is_secret_value

_DELIMITER = re.compile(r"(?=[ \t|:]*+-)[ \t|:-]*+\Z")
_PARTS = re.compile(r"[/,&()（）、]")
_AROUND = " \t\r*_`\"'“”"
_SEPARATORS = (re.compile(","), re.compile(";"), re.compile("\t+"), re.compile(" {2,}"))
_LONGEST_LINE = 400
_LONGEST_HEAD = 30
_HEAD = re.compile(r"[\w#.-]{1,30}(?: [\w#.-]{1,20}){0,2}")


def _columns(text: str) -> Iterator[Span]:
    """Cells of Markdown tables below a head that ends with a key."""
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
    found: dict[int, KeyKind] = {}
    for number, cell in enumerate(line.lower().split("|")):
        for part in _PARTS.split(cell):
            kind = _kind_of_head(part.strip(_AROUND))
            if kind is not None:
                found[number] = kind
    return found


def _kind_of_head(head: str) -> KeyKind | None:
    """The kind that a head in lower case announces: `admin password`, `登录密码`, and not `password policy`."""
    if len(head) > _LONGEST_HEAD:
        return None
    for match in KEY.finditer(head):
        if match.end() == len(head) and stands_alone(head, match.start(), match.end()):
            return kind_of(match[0])
    return None


def _cells_of(line: str, start: int, head: dict[int, KeyKind]) -> Iterator[Span]:
    at = 0
    for number, cell in enumerate(line.split("|")):
        if number in head:
            yield from _cell(cell, start + at, head[number])
        at += len(cell) + 1


def _cell(cell: str, start: int, kind: KeyKind) -> Iterator[Span]:
    value = cell.strip(_AROUND)
    if is_secret_value(value, kind, strict=True, alone=True):
        begin = start + cell.index(value)
        yield begin, begin + len(value), kind


def _tables(text: str) -> Iterator[Span]:
    # Most tables hold no key at all: one look rules them out.
    if KEY.search(text.lower()):
        yield from _columns(text)


class Columns:
    """Columns without bars in a text: separated by commas, semicolons, tabs or at least two blanks."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._until = 0  # lines before this place are a head that was looked at, or rows below one

    def below(self, start: int, end: int) -> Iterator[Span]:
        """Cells below the line of a key, if it is a head of columns."""
        text = self._text
        if start < self._until or text[end : end + 1] not in ("", ",", ";", "\t", " ", '"', "\r", "\n"):
            return
        first = text.rfind("\n", max(0, start - _LONGEST_LINE), start) + 1
        last = text.find("\n", end, end + _LONGEST_LINE)
        if last < 0 or start - first > _LONGEST_LINE:
            return
        self._until = last
        line = text[first:last].strip().lower()
        for separator in _SEPARATORS:
            heads = [head.strip(_AROUND) for head in separator.split(line)]
            if len(heads) > 1 and all(map(_HEAD.fullmatch, heads)):
                kinds = {
                    column: kind for column, head in enumerate(heads) if head != "pin" and (kind := _kind_of_head(head))
                }
                yield from self._rows(last + 1, separator, len(heads), kinds)

    def _rows(self, start: int, separator: re.Pattern[str], count: int, kinds: dict[int, KeyKind]) -> Iterator[Span]:
        while kinds and start < len(self._text):
            end = self._text.find("\n", start, start + _LONGEST_LINE)
            line = self._text[start : end if end >= 0 else start + _LONGEST_LINE].rstrip()
            indent = len(line) - len(line.lstrip())
            begins = [indent, *(match.end() for match in separator.finditer(line, indent))]
            if len(begins) != count:
                return
            for column, kind in kinds.items():
                cell = separator.split(line[begins[column] :], maxsplit=1)[0]
                if is_mixed(cell) and " " not in cell.strip():
                    yield from _cell(cell, start + begins[column], kind)
            if end < 0:
                return
            self._until = start = end + 1


BY_COLUMN: tuple[tuple[tuple[str, ...], Rule], ...] = ((("|",), _tables),)
"""A rule like those of `mask_rules`: the needles that call for it, in lower case, and the rule."""

"""From Markdown to blocks: list items, paragraphs, table rows, quotes and fences, each with the headings above it."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import msgspec
from markdown_it.rules_block.table import escapedSplit
from markdown_it.token import Token

from .dates import first_date, heading_time, leading_time
from .marks import BARE_CALLOUT, BOLD_KEY, BOLD_ONLY, PSEUDO_BULLET
from .pieces import line_range, parsed_pieces
from .words import fact_text, has_words, strip_html, without_comments

BlockKind: TypeAlias = Literal[
    "paragraph", "item", "row", "quote", "code", "heading", "rule", "html", "comment", "table_head"
]

_MANY = 4_000
"""A paragraph of several lines with more characters is cut into its lines."""
_FOR_EVER = 1 << 60
_LABEL = 80
_UNDERLINE = re.compile(r"\s*(?:={2,}|-{4,})\s*\Z")
_CLOSED_FENCE = re.compile(r"[\s>]*(`{3,}|~{3,})\s*\Z")
_NEST = frozenset({"bullet_list_open", "ordered_list_open", "paragraph_open", "table_open", "blockquote_open"})
_BELOW_LABEL = frozenset({"bullet_list_open", "ordered_list_open", "table_open"})


class Heading(msgspec.Struct):
    """A heading, or what serves as one: `level` 1 to 6, 7 bold line, 8 label, 9 table head or speaker."""

    level: int
    text: str
    clock: str = ""
    date: str = ""


class Block(msgspec.Struct):
    """One unit of a note. Lines count from 0, both ends included; `raw` is inline Markdown, or code."""

    kind: BlockKind
    first: int
    last: int
    raw: str = ""
    headings: list[Heading] = []
    depth: int = 0
    """How many list items stand around it."""
    info: str = ""
    closed: bool = True


class Blocks:
    """Walks the block tokens of one stretch of a note; `env` collects link definitions."""

    def __init__(self, lines: list[str], offset: int, headings: list[Heading], depth: int = 0) -> None:
        self._lines = lines
        self._depth = depth
        self._offset = offset
        self.headings = headings
        self.env: dict[str, Any] = {}
        self._labels: list[tuple[int, Heading]] = []
        self._items: list[bool] = []
        self._quotes = 0

    def __iter__(self) -> Iterator[Block]:
        lines, offset = self._lines, self._offset
        for start, piece, tokens in parsed_pieces(lines, self.env):
            self._lines, self._offset = piece, offset + start
            yield from self._walk(tokens)

    def _walk(self, tokens: list[Token]) -> Iterator[Block]:
        closes = _closes(tokens)
        self._labels = [label for label in self._labels if label[0] == _FOR_EVER]
        for at, token in enumerate(tokens):
            while self._labels and self._labels[-1][0] <= at:
                self._labels.pop()
            kind = token.type
            if kind == "list_item_open":
                self._items.append(False)
            elif kind == "list_item_close":
                self._items.pop()
            elif kind == "blockquote_open":
                self._quotes += 1
            elif kind == "blockquote_close":
                self._quotes -= 1
            else:
                yield from self._of(token, at, tokens, closes)

    def _of(self, token: Token, at: int, tokens: list[Token], closes: dict[int, int]) -> Iterator[Block]:
        kind = token.type
        if kind == "paragraph_open":
            yield from self._paragraph(tokens, at, closes)
        elif kind == "heading_open":
            yield self._heading(tokens[at + 1], int(token.tag[1]))
        elif kind in ("fence", "code_block"):
            yield self._fence(token)
        elif kind == "hr":
            yield self._block("rule", *line_range(token))
        elif kind == "html_block":
            yield from self._html(token)
        elif kind == "tr_open":
            yield self._row(tokens, at, closes)

    def _block(self, kind: BlockKind, first: int, last: int, raw: str = "") -> Block:
        above = [*self.headings, *(label for _, label in self._labels)]
        return Block(kind, first + self._offset, last + self._offset, raw, above, len(self._items))

    def _heading(self, inline: Token, level: int) -> Block:
        first, last = line_range(inline)
        while self.headings and self.headings[-1].level >= level:
            self.headings.pop()
        block = self._block("heading", first, last, inline.content)
        text = fact_heading(inline.content)
        self.headings.append(Heading(level, text, heading_time(text), first_date(text)))
        return block

    def _paragraph(self, tokens: list[Token], at: int, closes: dict[int, int]) -> Iterator[Block]:
        inline = tokens[at + 1]
        first, last = line_range(inline)
        after = tokens[at + 3] if at + 3 < len(tokens) else None
        own = bool(self._items) and not self._items[-1]
        if own:
            self._items[-1] = True
        lines = inline.content.split("\n")
        if len(lines) > 1 and _UNDERLINE.match(lines[-1]) and not self._items and _is_title(lines):
            yield self._underlined(inline, lines, first, last)
            return
        if after is not None and len(lines) == 1 and self._is_underline(after, last) and _is_title([*lines, ""]):
            yield self._heading(inline, 2)
            return
        if after is not None and self._is_label(inline.content, after, own=own):
            yield self._label(inline, at, closes, own=own)
            return
        kind: BlockKind = "quote" if self._quotes else "item" if own else "paragraph"
        pieces = list(_pieces(lines))
        for start, stop in pieces:
            if stop < len(lines) and stop == start + 1 and not self._quotes and BOLD_ONLY.match(lines[start]):
                yield self._bold_heading(lines[start], first + start)
                continue
            yield self._block(kind, first + start, first + stop - 1, "\n".join(lines[start:stop]))

    def _underlined(self, inline: Token, lines: list[str], first: int, last: int) -> Block:
        inline.content = lines[0]
        block = self._heading(inline, 1)
        block.first, block.last = first + self._offset, last + self._offset
        return block

    def _is_underline(self, after: Token, last: int) -> bool:
        """A long line of `-` right below; a short one is the rule that many notes put there."""
        return (
            not self._items
            and after.type == "hr"
            and line_range(after)[0] == last + 1
            and _UNDERLINE.match(self._line(after)) is not None
        )

    def _is_label(self, raw: str, after: Token, *, own: bool) -> bool:
        """Whether a block only names what stands below it."""
        if "\n" in raw or len(raw) > _LABEL:
            return False
        if BARE_CALLOUT.match(raw):
            return after.type in _NEST or after.type == "fence"
        if own:
            return after.type in _NEST and (raw.rstrip(" *_").endswith((":", "：")) or BOLD_ONLY.match(raw) is not None)
        if not self._items and not self._quotes and BOLD_ONLY.match(raw):
            return after.type not in ("heading_open", "hr") and not (
                after.type == "paragraph_open" and BOLD_ONLY.match(self._line(after))
            )
        return after.type in _BELOW_LABEL and raw.rstrip(" *_").endswith((":", "："))

    def _line(self, token: Token) -> str:
        return self._lines[token.map[0]] if token.map else ""

    def _label(self, inline: Token, at: int, closes: dict[int, int], *, own: bool) -> Block:
        block = self._block("heading", *line_range(inline), inline.content)
        text = fact_heading(inline.content).rstrip(":： ")
        if not own and not self._items and not self._quotes and BOLD_ONLY.match(inline.content):
            return self._bold_heading(inline.content, line_range(inline)[0])
        heading = Heading(8, text, heading_time(text) if leading_time(f"{text} x") else "")
        end = closes.get(at + 3, at + 4) if not own else _item_end(at, closes)
        self._labels.append((end, heading))
        return block

    def _bold_heading(self, raw: str, line: int) -> Block:
        while self.headings and self.headings[-1].level >= 7:
            self.headings.pop()
        block = self._block("heading", line, line, raw)
        text = fact_heading(raw).rstrip(":： ")
        self.headings.append(Heading(7, text, heading_time(text), first_date(text)))
        return block

    def _fence(self, token: Token) -> Block:
        first, last = line_range(token)
        block = self._block("code", first, last, token.content)
        block.info = token.info.strip().split(" ")[0].lower() if token.info.strip() else ""
        end = _CLOSED_FENCE.match(self._lines[last]) if last > first else None
        block.closed = token.type == "code_block" or (end is not None and end[1].startswith(token.markup))
        return block

    def _row(self, tokens: list[Token], at: int, closes: dict[int, int]) -> Block:
        first, last = line_range(tokens[at])
        line = self._lines[first]
        cells = [token.content for token in tokens[at : closes[at]] if token.type == "inline"]
        raw = (
            [cell.strip() for cell in escapedSplit(line.strip().strip("|"))] if line.lstrip().startswith("|") else cells
        )
        cells = raw if len(raw) > len(cells) else cells  # GFM ignores cells beyond the head: their words would be lost
        if tokens[at + 1].type == "th_open":
            head = " | ".join(text for cell in cells if (text := fact_heading(cell)))
            end = next((closes[i] for i in range(at - 1, -1, -1) if tokens[i].type == "table_open"), at)
            block = self._block("table_head", first, last + 1)
            if has_words(head):
                self._labels.append((end, Heading(9, head)))
            return block
        return self._block("row", first, last, "\n".join(cells))

    def _html(self, token: Token) -> Iterator[Block]:
        """Words between tags are read like any others; the tags' own lines are `html` or `comment`."""
        first, last = line_range(token)
        lines = self._lines[first : last + 1]
        text = "\n".join(lines)
        closed_script = re.match(r"\s*<(script|style|textarea)\b", text, re.IGNORECASE) and re.search(r"</\w+>", text)
        kept = without_comments(text, _breaks).replace("<!--", "").split("\n")
        bare = [strip_html(line) if not closed_script else "" for line in kept]
        for number, line in enumerate(lines):
            if line.strip() and not bare[number].strip():
                kind: BlockKind = "html" if kept[number].strip() else "comment"
                yield self._block(kind, first + number, first + number)
        if "<!--" in text and "-->" not in text:
            yield msgspec.structs.replace(self._block("comment", first, first), closed=False)
        words = [line if line.strip() else "" for line in bare]
        if any(words) and words != self._lines and self._depth < 4:
            inner = Blocks(words, self._offset + first, self.headings, self._depth + 1)
            inner._labels = [(_FOR_EVER, label) for _, label in self._labels]
            yield from inner


@lru_cache(maxsize=1024)
def fact_heading(raw: str) -> str:
    """A heading's words; its clock time stays, because it is part of its name."""
    text = fact_text(f"\u2063{raw}")
    return text.replace("\u2063", "").strip()


def _closes(tokens: list[Token]) -> dict[int, int]:
    """For each opening token, where its closing one stands."""
    stack: list[int] = []
    found: dict[int, int] = {}
    for at, token in enumerate(tokens):
        if token.nesting == 1:
            stack.append(at)
        elif token.nesting == -1 and stack:
            found[stack.pop()] = at
    return found | dict.fromkeys(stack, len(tokens))


def _item_end(at: int, closes: dict[int, int]) -> int:
    """Where the list item that begins right before its paragraph at `at` is closed."""
    return closes.get(at - 1, at + 3)


def _is_title(lines: list[str]) -> bool:
    return len(lines) == 2 and len(lines[0]) <= _LABEL and not lines[0].rstrip().endswith((".", "。", "!", "！", "…"))


def _pieces(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Cut a paragraph where a line begins a thought of its own: a key, a clock time, a bullet of the writer's."""
    if len(lines) == 1:
        yield 0, 1
        return
    every = sum(len(line) for line in lines) > _MANY
    timed = leading_time(lines[0].strip("* ")) is not None
    start = 0
    for number in range(1, len(lines)):
        if every or _begins(lines[number], timed=timed) or BOLD_ONLY.match(lines[number - 1]):
            yield start, number
            start = number
    yield start, len(lines)


def _begins(line: str, *, timed: bool) -> bool:
    if BOLD_KEY.match(line) or PSEUDO_BULLET.match(line) or BOLD_ONLY.match(line):
        return True
    return timed and leading_time(line.strip("* ")) is not None


def _breaks(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")

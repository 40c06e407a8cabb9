"""Parses a note in pieces of whole blocks: the parser's tokens take fifty times the room of the text."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from markdown_it.token import Token

from .marks import BOLD_ONLY
from .words import MARKDOWN

_PIECE_LINES = 8_000
"""Parsed at once: more than any day of a person has."""
_MOST_TOKENS = 90_000
"""A table that makes more tokens than this is not parsed in a larger piece."""


class TooManyBlocksError(Exception):
    """The note has more blocks than anybody writes: its facts would take hundreds of times the room of its bytes."""


def parsed_pieces(lines: list[str], env: dict[str, Any]) -> Iterator[tuple[int, list[str], list[Token]]]:
    """The block tokens of each piece, with its first line and its lines; `env` collects the link definitions.

    Raises TooManyBlocksError.
    """
    start, size = 0, _PIECE_LINES
    while start < len(lines):
        piece = lines[start : start + size]
        found: dict[str, Any] = {}
        tokens: list[Token] = []
        MARKDOWN.block.parse("\n".join(piece), MARKDOWN, found, tokens)
        last = start + len(piece) >= len(lines)
        count, end = (len(tokens), len(piece)) if last else _whole_blocks(tokens)
        if not (tokens or found):  # nothing but blank lines
            start += len(piece)
            continue
        if not end:
            if len(tokens) > _MOST_TOKENS:
                raise TooManyBlocksError
            size *= 2 if len(tokens) * 4 > _MOST_TOKENS else 4
            continue
        _keep_definitions(env, found, start, end)
        yield start, piece, tokens[:count]
        start, size = start + end, _PIECE_LINES


def line_range(token: Token) -> tuple[int, int]:
    """First and last line of a token, from 0."""
    first, end = token.map or [0, 1]
    return first, max(first, end - 1)


def _keep_definitions(env: dict[str, Any], found: dict[str, Any], start: int, end: int) -> None:
    """Take over link definitions above line `end` of a piece; their lines count from the stretch's first."""
    for label, definition in found.get("references", {}).items():
        if definition["map"][0] < end:
            placed = {**definition, "map": [line + start for line in definition["map"]]}
            known = env.setdefault("references", {})
            if known.setdefault(label, placed) is not placed:
                env.setdefault("duplicate_refs", []).append(placed)
    for definition in found.get("duplicate_refs", []):
        if definition["map"][0] < end:
            placed = {**definition, "map": [line + start for line in definition["map"]]}
            env.setdefault("duplicate_refs", []).append(placed)


def _whole_blocks(tokens: list[Token]) -> tuple[int, int]:
    """How many tokens, and lines, of a piece are surely whole: its last block, or item, may go on behind it.

    A block is never parted from what may be its label. (0, 0) if nothing is whole.
    """
    starts = [at for at, token in enumerate(tokens) if token.level == 0 and token.map]
    for before, at in reversed(list(pairwise(starts))):
        if not _may_be_label(tokens, before, at):
            return at, line_range(tokens[at])[0]
    items = [
        (at, token.map[0])
        for at, token in enumerate(tokens)
        if token.type == "list_item_open" and token.level == 1 and token.map and token.map[0]
    ]
    return items[-1] if items else (0, 0)


def _may_be_label(tokens: list[Token], at: int, after: int) -> bool:
    """Whether the block at `at` may only name the one behind it: a bold line, or text above anything but text."""
    if tokens[at].type != "paragraph_open":
        return False
    return tokens[after].type != "paragraph_open" or BOLD_ONLY.match(tokens[at + 1].content) is not None

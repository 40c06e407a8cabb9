"""The marks of memoryd's managed block in a MEMORY page: one rule for who writes it and for who reads the page."""

import re
from collections.abc import Iterator

BEGIN = "<!-- memoryd:begin -->"
END = "<!-- memoryd:end -->"

_MARKER = re.compile(r"^\ufeff?[ \t]*(<!--[ \t]*memoryd:(?:(begin)|end)[ \t]*-->)[ \t]*\r?$", re.MULTILINE)
HASH_LINE = re.compile(r"[ \t]*\r?\n[ \t]*<!--[ \t]*memoryd:sha256=([0-9a-f]{64})[ \t]*-->[ \t]*\r?(?=\n)")
"""What follows the begin mark of a block that some memoryd wrote: its hash line."""


def marker_pairs(page: str) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Begin and end marks that belong together: a begin counts only with the next end and no other begin between.

    Group 1 of a match is the mark itself. So a mark that lost its partner leaves a person's lines what they are.
    """
    begin: re.Match[str] | None = None
    for marker in _MARKER.finditer(page):
        if marker.group(2):
            begin = marker
        elif begin is not None:
            yield begin, marker
            begin = None


def managed_pair(page: str) -> tuple[re.Match[str], re.Match[str]] | None:
    """The marks of the managed block: of several pairs the first with a hash line, else the first; None without any."""
    pairs = list(marker_pairs(page))
    return next((pair for pair in pairs if HASH_LINE.match(page, pair[0].end(1))), pairs[0] if pairs else None)

"""Writes and removes the entries of the full-text index: one a live fact, its rowid the fact's `n`."""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from ..store import Tx
from .tokens import index_tokens


class Entry(msgspec.Struct, frozen=True):
    """What one fact can be found by. Column weights stand in `rank.COLUMNS`.

    `extra` holds what belongs to the fact without being its words: URLs, commands, paths, code, people.
    `context` is the text of the block before it, which often is the question that it answers.
    """

    text: str
    headings: Sequence[str] = ()
    category: str = ""
    extra: str = ""
    context: str = ""


_COLUMNS = "body, headings, category, extra, context"
_MAX_BODY = 4000
_MAX_SIDE = 600
"""Tokens a column; a page pasted into one block stays findable by its beginning and cannot slow a question down."""


def write_entry(tx: Tx, n: int, entry: Entry) -> None:
    """Index fact number `n`, in place of an entry that it may have; one that would not change is left alone."""
    columns = (
        _column(entry.text, _MAX_BODY),
        _column("\n".join(entry.headings), _MAX_SIDE),
        _column(entry.category, _MAX_SIDE),
        _column(entry.extra, _MAX_SIDE),
        _column(entry.context, _MAX_SIDE),
    )
    # Taking words out of the index pages costs three times as much as putting them in.
    if present := tx.execute(f"SELECT {_COLUMNS} FROM search_index WHERE rowid = ?", (n,)):
        if present[0] == columns:
            return
        remove_entry(tx, n)
    tx.run(f"INSERT INTO search_index (rowid, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", (n, *columns))


def remove_entry(tx: Tx, n: int) -> None:
    """Take fact number `n` out of the index; its words leave the index pages with this transaction (secure-delete)."""
    tx.run("DELETE FROM search_index WHERE rowid = ?", (n,))


# The context of one block is the text of the one before, and headings repeat: most calls are answered from here.
@lru_cache(maxsize=256)
def _column(text: str, limit: int) -> str:
    return " ".join(index_tokens(text)[:limit])

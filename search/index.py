"""Writes and removes the entries of the full-text index and of that of URLs, their rowid the live fact's `n`."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from ..store import Store, Tx
from .dates import day_tokens
from .tokens import index_tokens


class Entry(msgspec.Struct, frozen=True):
    """What one fact can be found by. Column weights stand in `candidates.COLUMNS`.

    `extra` holds what belongs to the fact without being its words: URLs, commands, paths, code, people. `urls` are
    found by any piece of them as well (`search-url`).
    The blocks around it are no part of its entry: a question looks for them where they stand (neighbours.py).
    `body` is `body_of(text)` where somebody has made it already.
    """

    text: str
    headings: Sequence[str] = ()
    category: str = ""
    extra: str = ""
    agent: str = ""
    urls: Sequence[str] = ()
    body: str = ""


_JSON = msgspec.json.Encoder()
_COLUMNS = "body, headings, category, extra, agent"
_MAX_BODY = 4000
_MAX_SIDE = 600
"""Tokens a column; a page pasted into one block stays findable by its beginning and cannot slow a question down."""
_SEGMENTS = 3
_MERGED_PAGES = 100
"""Pages of the index that one step merges: some 10 ms."""
_CHANGES_WITH_WORK = 2


def write_entry(tx: Tx, n: int, entry: Entry) -> None:
    """Index fact number `n`, in place of an entry that it may have."""
    write_entries(tx, {n: entry})


def write_entries(tx: Tx, entries: Mapping[int, Entry]) -> None:
    """Index facts by their numbers, in place of entries that they may have; one that would not change is left alone.

    The caller keeps a batch so small that one statement takes no 50 ms: some 200 facts.
    """
    _write_urls(tx, {n: "\n".join(map(str.casefold, entry.urls)) for n, entry in entries.items()})
    wanted = {n: _columns(entry) for n, entry in entries.items()}
    # Taking words out of the index pages costs three times as much as putting them in.
    listed = ", ".join(map(str, wanted))
    for n, *present in tx.execute(f"SELECT rowid, {_COLUMNS} FROM search_index WHERE rowid IN ({listed})"):
        if isinstance(n, int):
            if tuple(present) == wanted[n]:
                del wanted[n]
            else:
                _remove(tx, "search_index", n)
    if wanted:
        # One statement for all: the library prepares each anew, and FTS5 then writes its pages once.
        picked = ", ".join(f"value ->> {place}" for place in range(6))
        rows = _JSON.encode([(n, *columns) for n, columns in sorted(wanted.items())]).decode()
        tx.run(f"INSERT INTO search_index (rowid, {_COLUMNS}) SELECT {picked} FROM json_each(?)", (rows,))


def remove_entry(tx: Tx, n: int) -> None:
    """Take fact number `n` out of the index; its words leave the index pages with this transaction (secure-delete)."""
    _remove(tx, "search_index", n)
    _remove(tx, "url_index", n)


def _remove(tx: Tx, index: str, n: int) -> None:
    tx.run(f"DELETE FROM {index} WHERE rowid = ?", (n,))


def _write_urls(tx: Tx, wanted: dict[int, str]) -> None:
    """URLs by fact number, '' for none."""
    listed = ", ".join(map(str, wanted))
    for n, present in tx.execute(f"SELECT rowid, url FROM url_index WHERE rowid IN ({listed})"):
        if isinstance(n, int):
            if present == wanted[n]:
                del wanted[n]
            else:
                _remove(tx, "url_index", n)
    rows = [(n, urls) for n, urls in sorted(wanted.items()) if urls]
    if rows:
        sql = "INSERT INTO url_index (rowid, url) SELECT value ->> 0, value ->> 1 FROM json_each(?)"
        tx.run(sql, (_JSON.encode(rows).decode(),))


def has_many_segments(store: Store) -> bool:
    """Whether the index lies in so many segments that looking a word up, once in each, takes noticeably long."""
    ((segments,),) = store.execute("SELECT count(*) FROM (SELECT DISTINCT segid FROM search_index_idx)")
    return isinstance(segments, int) and segments > _SEGMENTS


def merge_some(tx: Tx, *, begin: bool) -> bool:
    """Merge some pages of the index's segments into one, `begin` with all segments; whether there is more to do.

    The library says only by its count of changes whether it found something to do (FTS5, 6.7: the merge command).
    """
    before = _changes(tx)
    sql = "INSERT INTO search_index (search_index, rank) VALUES ('merge', ?)"
    tx.run(sql, (-_MERGED_PAGES if begin else _MERGED_PAGES,))
    return _changes(tx) - before >= _CHANGES_WITH_WORK


def _changes(tx: Tx) -> int:
    ((count,),) = tx.execute("SELECT total_changes()")
    return count if isinstance(count, int) else 0


def body_of(text: str) -> str:
    """What the column `body` holds of a text."""
    return " ".join(index_tokens(text)[:_MAX_BODY])


def _columns(entry: Entry) -> tuple[str, ...]:
    return (
        entry.body or body_of(entry.text),
        _side("\n".join(entry.headings)),
        _side(entry.category),
        " ".join([*(index_tokens(entry.extra)[:_MAX_SIDE] if entry.extra else ()), *day_tokens(entry.text)]),
        owner_token(entry.agent),
    )


def owner_token(agent_id: str) -> str:
    """The token by which an agent's entries are told apart; no token of a text begins with @."""
    return f"@{agent_id.lower()}"


# Headings and categories repeat from fact to fact.
@lru_cache(maxsize=256)
def _side(text: str) -> str:
    return " ".join(index_tokens(text)[:_MAX_SIDE])

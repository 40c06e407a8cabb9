"""This device's log as the JSON lines of the wire, made by SQL: no row becomes a Python object on its way out.

Each line is what msgspec would write of the row's type in model.py; a test holds the two together.
"""

import msgspec

from ..model import ChunkRow
from .adapter import Value
from .log import NEWER, PAGE_BYTES, PAGE_ROWS, TABLES, bytes_between, measure, page_end
from .store import Store

# 17 digits bring every double back exactly; SQLite's own JSON writes 15.
_REAL = "json(printf('%!.17g', {}))"
_BOOL = "json(iif({}, 'true', 'false'))"
_LINES = {
    "facts": "'fact', agent_id, id, text, first_seen",
    "notes": "'note', agent_id, device, path, size, json(chunks), mentions, state, first_seen, deleted_at",
    "mentions": "'mention', agent_id, device, path, n, fact_id, line_from, line_to, date, json(headings), category, "
    + _REAL.format("importance")
    + ", kind, task_state, json(metadata), code",
    "edits": "'edit', agent_id, fact_id, field, value, version",
    "forgotten": "'forgotten', agent_id, fact_id, version, lifted_version, moved_to",
    "access": "'access', agent_id, fact_id, device, days, last_day",
    "hot_items": f"'hot_item', agent_id, section, key, value, version, {_BOOL.format('deleted')}",
    "tree_nodes": f"'tree_node', agent_id, path, description, version, {_BOOL.format('deleted')}",
    "devices": "'device', device, name, platform, created_at, json(notes_extra), json(succeeds)",
}
_WITHIN = f"{NEWER} AND rev <= ?"
_ALL_REVISIONS = " UNION ALL ".join(
    f"SELECT * FROM (SELECT rev FROM {each.name} WHERE {_WITHIN} ORDER BY rev LIMIT ?)" for each in TABLES
)
_END = f"SELECT count(*), coalesce(max(rev), 0) FROM (SELECT rev FROM ({_ALL_REVISIONS}) ORDER BY rev LIMIT ?)"
_ALL_LINES = " UNION ALL ".join(
    f"SELECT rev, json_array({columns}) AS line FROM {table} WHERE {_WITHIN}" for table, columns in _LINES.items()
)
_PAGE = f"SELECT rev, line FROM ({_ALL_LINES}) ORDER BY rev"
_CHUNKS = f"SELECT rev, sha256, data FROM chunks WHERE {_WITHIN}"

_encoder = msgspec.json.Encoder()


class Lines(msgspec.Struct):
    """Rows of the log as JSON lines, and the revision that they reach."""

    lines: bytes
    rows: int
    end: int


def next_lines(store: Store, after: int, upto: int) -> Lines:
    """One page of lines after a revision; no rows and `upto` when there are none."""
    end = _page_end(store, after, upto)
    if not end:
        return Lines(b"", 0, upto)
    found = [(rev, str(line).encode()) for rev, line in store.execute(_PAGE, (after, end) * len(_LINES))]
    chunks = [
        (rev, _encoder.encode(ChunkRow.of(str(sha), data)))
        for rev, sha, data in store.execute(_CHUNKS, (after, end))
        if isinstance(data, bytes)
    ]
    # In the log's order: a chunk stands beside the facts that say the same, which packs them well.
    ordered = sorted([*chunks, *found], key=_revision)
    return Lines(b"".join(line + b"\n" for _, line in ordered), len(ordered), end)


def _page_end(store: Store, after: int, upto: int) -> int:
    """The revision that a page reaches, 0 when nothing is left."""
    ((count, end),) = store.execute(_END, (after, upto, PAGE_ROWS) * len(TABLES) + (PAGE_ROWS,))
    if not count or not isinstance(end, int):
        return 0
    if bytes_between(store, after, end) > PAGE_BYTES:
        return page_end(measure(store, after, end, PAGE_ROWS), PAGE_ROWS, PAGE_BYTES)
    return end


def _revision(pair: tuple[Value, bytes]) -> int:
    return pair[0] if isinstance(pair[0], int) else 0

"""This device's own log as its rows: what was not sent yet, in the order of their revisions, page by page."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from ..model import (
    AccessRow,
    ChunkRow,
    DeviceRow,
    EditRow,
    FactRow,
    ForgottenRow,
    HotItemRow,
    MentionRow,
    Metadata,
    NoteRow,
    Row,
    TreeNodeRow,
)
from .adapter import ResultRow, Value
from .store import Store, Tx

PAGE_ROWS = 2_000
PAGE_BYTES = 512 * 1024
"""A page of rows is read in one call of the store thread (about 30 ms)."""
NEWER = "rev > ? AND rev > 0"
"""SQL for rows of a later revision. `rev > 0` lets the planner take the partial index, and has to stand last: the
first bound is where it begins to read, so that the other order reads every row since the beginning."""
_ROW_BYTES = 200
"""What a row costs beside its text and chunks [bytes, about]."""

_LOST = "lost_logs"
"""Key in `meta`."""
_ANYBODYS = ("facts", "edits", "hot_items", "tree_nodes")
"""Tables whose rows any device may write."""

_strings = msgspec.json.Decoder(list[str])
_metadata = msgspec.json.Decoder(Metadata)


class _Table(msgspec.Struct, frozen=True):
    name: str
    columns: str
    size: str
    """SQL for the bytes that vary from row to row."""
    row: Callable[..., Row]


def _note(*values: Any) -> NoteRow:
    return NoteRow(*[*values[:4], _strings.decode(values[4]), *values[5:]])


def _mention(*values: Any) -> MentionRow:
    headings, metadata = _strings.decode(values[8]), _metadata.decode(values[13])
    return MentionRow(*[*values[:8], headings, *values[9:13], metadata, values[14]])


def _hot_item(*values: Any) -> HotItemRow:
    return HotItemRow(*[*values[:5], bool(values[5])])


def _tree_node(*values: Any) -> TreeNodeRow:
    return TreeNodeRow(*[*values[:4], bool(values[4])])


def _device(*values: Any) -> DeviceRow:
    return DeviceRow(*[*values[:4], _strings.decode(values[4]), _strings.decode(values[5])])


TABLES: tuple[_Table, ...] = (
    _Table("facts", "agent_id, id, text, first_seen", "octet_length(text)", FactRow),
    _Table(
        "notes",
        "agent_id, device, path, size, chunks, mentions, state, first_seen, deleted_at",
        "octet_length(chunks)",
        _note,
    ),
    _Table("chunks", "sha256, data", "octet_length(data)", ChunkRow.of),
    _Table(
        "mentions",
        "agent_id, device, path, n, fact_id, line_from, line_to, date, headings, category, importance, kind,"
        " task_state, metadata, code",
        "octet_length(headings) + octet_length(metadata) + octet_length(code)",
        _mention,
    ),
    _Table("edits", "agent_id, fact_id, field, value, version", "coalesce(octet_length(value), 0)", EditRow),
    _Table("forgotten", "agent_id, fact_id, version, lifted_version, moved_to", "0", ForgottenRow),
    _Table("access", "agent_id, fact_id, device, days, last_day", "0", AccessRow),
    _Table(
        "hot_items", "agent_id, section, key, value, version, deleted", "coalesce(octet_length(value), 0)", _hot_item
    ),
    _Table("tree_nodes", "agent_id, path, description, version, deleted", "octet_length(description)", _tree_node),
    _Table("devices", "device, name, platform, created_at, notes_extra, succeeds", "octet_length(succeeds)", _device),
)
"""Every table whose rows travel, with its columns in the order of its row type."""


KEYS: dict[str, int] = {
    "facts": 2, "notes": 3, "mentions": 4, "edits": 3, "forgotten": 2, "access": 3, "hot_items": 3, "tree_nodes": 2,
    "devices": 1,
}  # fmt: skip
"""How many leading columns of each table are its key; chunks are looked at by name only."""


def measure(store: Store, after: int, upto: int, limit: int = PAGE_ROWS) -> list[tuple[int, int]]:
    """`(rev, bytes)` of the next rows of this device's log with `after` < rev ≤ `upto`, ascending, `limit` at most."""
    found: list[tuple[int, int]] = []
    for table in TABLES:
        rows = store.execute(
            f"SELECT rev, {table.size} FROM {table.name} WHERE {NEWER} AND rev <= ? ORDER BY rev LIMIT ?",
            (after, upto, limit),
        )
        found.extend((_number(rev), _number(size) + _ROW_BYTES) for rev, size in rows)
    found.sort()
    return found[:limit]


def page_end(sizes: Sequence[tuple[int, int]], rows: int, size: int) -> int:
    """The revision up to which `sizes` make one page of at most `rows` rows and `size` bytes, but at least one row."""
    total = 0
    for count, (_, each) in enumerate(sizes):
        total += each
        if count and (count >= rows or total > size):
            return sizes[count - 1][0]
    return sizes[-1][0]


def rows_between(store: Store, after: int, upto: int) -> list[Row]:
    """The rows of this device's log with `after` < rev ≤ `upto`, by rev."""
    found: list[tuple[int, Row]] = []
    for table in TABLES:
        rows = store.execute(f"SELECT rev, {table.columns} FROM {table.name} WHERE {NEWER} AND rev <= ?", (after, upto))
        found.extend((_number(rev), table.row(*values)) for rev, *values in rows)
    found.sort(key=_revision)
    return [row for _, row in found]


def next_page(store: Store, after: int, upto: int) -> tuple[list[Row], int]:
    """One page of rows after a revision, and the revision it reaches; no rows and `upto` when there are none."""
    revisions = _revisions(store, after, upto, PAGE_ROWS)
    if not revisions:
        return [], upto
    end = revisions[-1]
    if bytes_between(store, after, end) > PAGE_BYTES:
        end = page_end(measure(store, after, end, PAGE_ROWS), PAGE_ROWS, PAGE_BYTES)
    return rows_between(store, after, end), end


def pushed_rev(store: Store) -> int:
    """The revision up to which the cloud has confirmed this device's log."""
    return int(store.meta("pushed_rev") or "0")


def count_unsent(store: Store) -> int:
    """How many rows of this device's log the cloud has not confirmed."""
    return _count(store, pushed_rev(store))


def count_live(store: Store) -> int:
    """How many rows this device's log would have if it were written anew."""
    return _count(store, 0)


def _revisions(store: Store, after: int, upto: int, limit: int) -> list[int]:
    """The next revisions, from the indexes alone."""
    found: list[int] = []
    for table in TABLES:
        rows = store.execute(
            f"SELECT rev FROM {table.name} WHERE {NEWER} AND rev <= ? ORDER BY rev LIMIT ?",
            (after, upto, limit),
        )
        found.extend(_number(rev) for (rev,) in rows)
    return sorted(found)[:limit]


def bytes_between(store: Store, after: int, upto: int) -> int:
    """How many bytes the rows with `after` < rev ≤ `upto` have beside their keys."""
    parts = " + ".join(
        f"(SELECT coalesce(sum({each.size}), 0) FROM {each.name} WHERE {NEWER} AND rev <= ?)" for each in TABLES
    )
    return _number(store.execute(f"SELECT {parts}", (after, upto) * len(TABLES))[0][0])


def _count(store: Store, after: int) -> int:
    parts = " + ".join(f"(SELECT count(*) FROM {each.name} WHERE {NEWER})" for each in TABLES)
    return _number(store.execute(f"SELECT {parts}", (after,) * len(TABLES))[0][0])


def _revision(pair: tuple[int, Row]) -> int:
    return pair[0]


def _number(value: Value) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} where a STRICT INTEGER column was read")
    return value


_BY_DEVICE = {
    "devices": "device = ?", "notes": "device = ?", "mentions": "device = ?", "access": "device = ?",
    "facts": "EXISTS (SELECT 1 FROM mentions m INDEXED BY mentions_fact"
    " WHERE m.agent_id = t.agent_id AND m.fact_id = t.id AND m.device = ?)"
    # Nobody states it any more, so nobody knows whose it was: any log may hold it.
    " OR (rev = 0 AND NOT EXISTS (SELECT 1 FROM mentions m INDEXED BY mentions_fact"
    " WHERE m.agent_id = t.agent_id AND m.fact_id = t.id))",
    "edits": "substr(version, 22) = ?", "hot_items": "substr(version, 22) = ?",
    "tree_nodes": "substr(version, 22) = ?",
}  # fmt: skip
"""Which received rows are known to come from the log of one device."""


def next_rows(
    store: Store, table: str, device: str, after: tuple[Value, ...] | None
) -> tuple[list[Row], tuple[Value, ...] | None]:
    """A page of the rows that another device's log brought, by key, and the key to go on after; None at the end."""
    found = next(each for each in TABLES if each.name == table)
    names = found.columns.split(", ")[: KEYS[table]]
    keys, marks = ", ".join(names), ", ".join("?" * len(names))
    bounds = f" AND ({keys}) > ({marks})" if after is not None else ""
    rows = store.execute(
        f"SELECT {found.columns} FROM {table} t WHERE ({_BY_DEVICE[table]}){bounds} ORDER BY {keys} LIMIT {PAGE_ROWS}",
        (device, *(after or ())),
    )
    page = [found.row(*row) for row in rows]
    return page, (tuple(rows[-1][: len(names)]) if len(rows) == PAGE_ROWS else None)


def notes_of(store: Store, device: str) -> list[NoteRow]:
    """All notes of a device, deleted ones too."""
    columns = next(each.columns for each in TABLES if each.name == "notes")
    rows = store.execute(f"SELECT {columns} FROM notes WHERE device = ? ORDER BY agent_id, path", (device,))
    return [_note(*row) for row in rows]


def with_predecessors(store: Store, devices: Iterable[str]) -> set[str]:
    """These devices, the ones they succeed, and so on along the chain."""
    found: set[str] = set()
    waiting = list(devices)
    while waiting:
        device = waiting.pop()
        if device not in found:
            found.add(device)
            known = device_row(store, device)
            waiting.extend(known.succeeds if known else ())
    return found


def predecessors(store: Store) -> list[str]:
    """The devices whose logs this one looks after, since it took over from them."""
    return sorted(with_predecessors(store, [store.device]) - {store.device})


def lost_logs(store: Store) -> set[str]:
    """Devices whose logs the cloud lost, wholly or in part, before this device adopted it."""
    return set(_strings.decode(store.meta(_LOST) or "[]"))


def take_in_lost(tx: Tx, devices: Iterable[str]) -> None:
    """The cloud lost segments of these logs: what anybody may write goes into this device's log, so that it is kept."""
    tx.set_meta(_LOST, msgspec.json.encode(sorted(lost_logs(tx.store) | set(devices))).decode())
    for table in _ANYBODYS:
        keys = ", ".join(next(each.columns for each in TABLES if each.name == table).split(", ")[: KEYS[table]])
        marks = " AND ".join(f"{key} = ?" for key in keys.split(", "))
        for row in tx.execute(f"SELECT {keys} FROM {table} WHERE rev = 0"):
            tx.run(f"UPDATE {table} SET rev = ? WHERE {marks}", (tx.next_rev(), *row))


def device_row(store: Store, device: str) -> DeviceRow | None:
    """What is known of a device."""
    rows: list[ResultRow] = store.execute(f"SELECT {TABLES[-1].columns} FROM devices WHERE device = ?", (device,))
    return _device(*rows[0]) if rows else None

"""Comparing two stores row by row: what `verify --deep` and a drill find different."""

from collections.abc import Iterable, Iterator

import msgspec

from .adapter import ResultRow, Value
from .log import KEYS, NEWER, TABLES, lost_logs, pushed_rev
from .store import Store

COMPARE_ROWS = 2_000


class Unsent(msgspec.Struct):
    """What this device has not sent yet: rows that the cloud cannot have, or still has in an older form."""

    rev: int
    notes: set[tuple[Value, Value]]
    facts: set[tuple[Value, Value]]
    device: str
    lost: set[str]
    """Devices whose logs the cloud lost before it was adopted: what they said is only here."""


class TableRow(msgspec.Struct, frozen=True):
    """One row: its key, its other values, its revision."""

    key: tuple[Value, ...]
    values: tuple[Value, ...]
    rev: int


def unsent(store: Store) -> Unsent:
    """What a comparison has to leave out."""
    rev = pushed_rev(store)
    notes = store.execute(f"SELECT agent_id, path FROM notes WHERE {NEWER} AND device = ?", (rev, store.device))
    facts = store.execute(f"SELECT agent_id, fact_id FROM forgotten WHERE {NEWER}", (rev,))
    return Unsent(rev, {(a, p) for a, p in notes}, {(a, f) for a, f in facts}, store.device, lost_logs(store))


def page_of(store: Store, table: str, after: tuple[Value, ...] | None) -> list[TableRow]:
    """The next `COMPARE_ROWS` rows of a table by key."""
    return _rows(store, table, after, None)


def rows_within(store: Store, table: str, after: tuple[Value, ...] | None, upto: tuple[Value, ...]) -> list[TableRow]:
    """All rows of a table with `after` < key ≤ `upto`, by key."""
    return _rows(store, table, after, upto)


def _rows(store: Store, table: str, after: tuple[Value, ...] | None, upto: tuple[Value, ...] | None) -> list[TableRow]:
    columns = next(each.columns for each in TABLES if each.name == table)
    names = columns.split(", ")[: KEYS[table]]
    keys, marks = ", ".join(names), ", ".join("?" * len(names))
    bounds = [f"({keys}) > ({marks})"] * (after is not None) + [f"({keys}) <= ({marks})"] * (upto is not None)
    where = f"WHERE {' AND '.join(bounds)}" if bounds else ""
    limit = "" if upto is not None else f"LIMIT {COMPARE_ROWS}"
    rows = store.execute(
        f"SELECT {columns}, rev FROM {table} {where} ORDER BY {keys} {limit}", (*(after or ()), *(upto or ()))
    )
    return [_row(table, row) for row in rows]


def differing(
    table: str, our_rows: Iterable[TableRow], their_rows: Iterable[TableRow], left_out: Unsent
) -> Iterator[tuple[str, str]]:
    """`(device or '', what)` for each row of two sorted lists that is not the same in both."""
    ours, theirs = iter(our_rows), iter(their_rows)
    mine, other = next(ours, None), next(theirs, None)
    while mine is not None or other is not None:
        if other is None or (mine is not None and mine.key < other.key):
            if mine is not None and mine.rev <= left_out.rev and _device_of(table, mine) not in left_out.lost:
                yield _device_of(table, mine), f"{_name(table, mine)} is only here"
            mine = next(ours, None)
        elif mine is None or other.key < mine.key:
            if not _is_gone_here(table, other, left_out) and _device_of(table, other) not in left_out.lost:
                yield _device_of(table, other), f"{_name(table, other)} is only in the cloud"
            other = next(theirs, None)
        else:
            sent = mine.rev <= left_out.rev and _device_of(table, mine) not in left_out.lost
            if mine.values != other.values and sent:
                yield _device_of(table, mine), f"{_name(table, mine)} differs"
            mine, other = next(ours, None), next(theirs, None)


def _row(table: str, row: ResultRow) -> TableRow:
    count = KEYS[table]
    rev = row[-1]
    return TableRow(tuple(row[:count]), tuple(row[count:-1]), rev if isinstance(rev, int) else 0)


def _device_of(table: str, row: TableRow) -> str:
    place = {"notes": 1, "mentions": 1, "access": 2, "devices": 0}.get(table)
    return "" if place is None else str(row.key[place])


def _name(table: str, row: TableRow) -> str:
    return f"{table} {' '.join(map(str, row.key))}"


def _is_gone_here(table: str, row: TableRow, left_out: Unsent) -> bool:
    """Whether a row that the cloud still has went here by a change that is not sent yet."""
    agent = row.key[0]
    if table == "mentions":
        if row.key[1] == left_out.device and (agent, row.key[2]) in left_out.notes:
            return True
        return (agent, row.values[0]) in left_out.facts
    if table in ("facts", "edits", "access"):
        return (agent, row.key[1]) in left_out.facts
    return table == "hot_items" and (agent, row.key[2]) in left_out.facts

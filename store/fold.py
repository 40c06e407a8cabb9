"""Folding another device's log into this memory: the merge rules of DATA section 2, one function a table.

The order in which logs arrive does not matter. Each function takes a run of rows of one kind, in the
log's order, hands them to SQL as one JSON array, and marks every fact whose derived values may change.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
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
    NoteRow,
    Row,
    TreeNodeRow,
)
from .adapter import Value
from .forget import erase, fold_again
from .log import device_row, with_predecessors
from .store import Tx

_JSON = msgspec.json.Encoder()

_TOMBSTONE = "SELECT 1 FROM forgotten f WHERE f.agent_id = value->>1 AND f.fact_id = value->>{at}"
_STANDS = _TOMBSTONE + " AND f.version > f.lifted_version"
# What was set before the fact was forgotten is gone for good, also when the tombstone has been lifted since: a
# device that sees both at once must not keep what the others have erased.
_SPOKEN_BEFORE = _TOMBSTONE + " AND f.version > value->>{version}"
RUN_ROWS = 2_000
"""Rows that one statement folds: about 20 ms, during which every thread stands still."""
_TOUCH = "INSERT OR IGNORE INTO dirty SELECT value->>0, value->>1 FROM json_each(?)"


class Folded(msgspec.Struct):
    """What a fold brought beside rows.

    `lifted` are facts whose tombstone was lifted: every log is folded again from its beginning, since
    what the tombstone kept out has to come in now. `reread` are own notes with forgotten lines, to be
    ingested again.
    """

    rows: int = 0
    lifted: list[tuple[str, str]] = []
    reread: list[str] = []


def fold(tx: Tx, rows: Sequence[Row], *, keep_chunks: bool = False) -> Folded:
    """Fold rows of one other device's log, in its order, into this store.

    Chunks are left out unless `keep_chunks` (restore), which keeps them with rev 0.
    """
    folded = Folded(rows=len(rows))
    _see_versions(tx, rows)
    for run in _runs(rows):
        kind = type(run[0])
        if kind is not ChunkRow:
            _FOLDS[kind](tx, run, folded)
        elif keep_chunks:
            _keep_chunks(tx, run)
    if folded.lifted:
        fold_again(tx)
        folded.reread = _own_notes_with_forgotten_lines(tx, {agent for agent, _ in folded.lifted})
    return folded


def _runs(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows of one kind that may be folded in one statement each, `RUN_ROWS` at most.

    Only a note and its mentions depend on the log's order: a note row takes away mentions that came
    before it, so a mention that comes after a note row of its path begins a new run.
    """
    runs: dict[type, list[Row]] = {}
    named: set[tuple[str, str]] = set()
    for row in rows:
        follows = isinstance(row, MentionRow) and (row.agent_id, row.path) in named
        if follows or len(runs.get(type(row), ())) >= RUN_ROWS:
            yield from _in_order(runs)
            runs, named = {}, set()
        if isinstance(row, NoteRow):
            named.add((row.agent_id, row.path))
        runs.setdefault(type(row), []).append(row)
    yield from _in_order(runs)


def _in_order(runs: dict[type, list[Row]]) -> Iterator[list[Row]]:
    return (runs[kind] for kind in sorted(runs, key=_notes_last))


def _notes_last(kind: type) -> int:
    return (kind is NoteRow) + (kind in (NoteRow, MentionRow))


def replace_own_rows(tx: Tx, device: str, rows: Sequence[Row]) -> None:
    """Drop the notes, mentions and reads of `device` that a complete snapshot of its log lacks; `fold` follows."""
    for kind, (table, key) in _REPLACED.items():
        kept = {tuple(getattr(row, name) for name in key) for row in rows if type(row) is kind}
        columns = ", ".join(key)
        fact = "fact_id" if kind is not NoteRow else "''"
        found = tx.execute(f"SELECT {columns}, {fact} FROM {table} WHERE device = ?", (device,))
        gone = [row for row in found if row[:-1] not in kept]
        _touch(tx, [(row[0], row[-1]) for row in gone if row[-1]])
        where = " AND ".join(f"{name} = ?" for name in key)
        for row in gone:
            tx.run(f"DELETE FROM {table} WHERE device = ? AND {where}", (device, *row[:-1]))


def drop_received_chunks(tx: Tx) -> None:
    """Let go of other devices' note text that a restore fetched: a later forget would not look for words there."""
    tx.run("DELETE FROM chunks WHERE rev = 0")


def move_cursor(tx: Tx, device: str, idx: int, sha256: str, fault: str = "") -> None:
    """Remember how far a log was folded, and why not further."""
    tx.run(
        "INSERT INTO cursors VALUES (?, ?, ?, ?) ON CONFLICT (device) DO UPDATE SET"
        " idx = excluded.idx, sha256 = excluded.sha256, fault = excluded.fault",
        (device, idx, sha256, fault),
    )


def _own_notes_with_forgotten_lines(tx: Tx, agents: Iterable[str]) -> list[str]:
    """Their paths; marked as changed, so that a scan reads them again even if nobody asks for it."""
    where = "agent_id IN (SELECT value FROM json_each(?)) AND json_extract(totals, '$.forgotten') > 0"
    names = _JSON.encode(sorted(set(agents))).decode()
    rows = tx.execute(f"SELECT path FROM files WHERE {where}", (names,))
    tx.run(f"UPDATE files SET raw_sha256 = '', mtime_ns = '0' WHERE {where}", (names,))
    return [str(row[0]) for row in rows]


def touch_notes_of(tx: Tx, devices: Iterable[str]) -> None:
    """Mark every fact that these devices, or the ones they succeed, mention: whether it counts may have changed."""
    tx.run(
        "INSERT OR IGNORE INTO dirty SELECT agent_id, fact_id FROM mentions"
        " WHERE device IN (SELECT value FROM json_each(?))",
        (_JSON.encode(sorted(with_predecessors(tx.store, devices))).decode(),),
    )


def _see_versions(tx: Tx, rows: Iterable[Row]) -> None:
    greatest = ""
    for row in rows:
        if isinstance(row, EditRow | HotItemRow | TreeNodeRow | ForgottenRow):
            greatest = max(greatest, row.version, row.lifted_version if isinstance(row, ForgottenRow) else "")
    if greatest:
        tx.store.logical.saw(greatest)


def _fields(count: int, *json: int) -> str:
    """The first `count` fields of a row in `json_each`; those of `json` stay JSON text."""
    return ", ".join(f"value->{'' if n in json else '>'}{n}" for n in range(1, count + 1))


def _json(rows: Sequence[Any]) -> str:
    return _JSON.encode(rows).decode()


def _touch(tx: Tx, facts: Sequence[tuple[Value, ...]]) -> None:
    if facts:
        tx.run(_TOUCH, (_json([fact[:2] for fact in facts]),))


def _fold_facts(tx: Tx, rows: Sequence[Row], _: Folded) -> None:
    changed = tx.execute(
        "INSERT INTO facts (agent_id, id, text, first_seen, rev)"
        " SELECT value->>1, value->>2, value->>3, value->>4, 0 FROM json_each(?)"
        f" WHERE NOT EXISTS ({_STANDS.format(at=2)})"
        " ON CONFLICT (agent_id, id) DO UPDATE SET first_seen = excluded.first_seen"
        " WHERE excluded.first_seen < facts.first_seen RETURNING agent_id, id",
        (_json(rows),),
    )
    _touch(tx, changed)


def _fold_notes(tx: Tx, rows: Sequence[Row], _: Folded) -> None:
    data = _json(rows)
    gone = (
        "FROM json_each(?) AS j JOIN mentions m ON m.agent_id = j.value->>1 AND m.device = j.value->>2"
        " AND m.path = j.value->>3 AND m.n >= j.value->>6"
    )
    tx.run(f"INSERT OR IGNORE INTO dirty SELECT m.agent_id, m.fact_id {gone}", (data,))
    tx.run(
        f"DELETE FROM mentions WHERE (agent_id, device, path, n) IN (SELECT m.agent_id, m.device, m.path, m.n {gone})",
        (data,),
    )
    _touch_predecessors(tx, rows, data)
    tx.run(
        f"INSERT INTO notes SELECT {_fields(9, 5)}, 0 FROM json_each(?) WHERE true"
        " ON CONFLICT (agent_id, device, path) DO UPDATE SET"
        " size = excluded.size, chunks = excluded.chunks, mentions = excluded.mentions, state = excluded.state,"
        " first_seen = excluded.first_seen, deleted_at = excluded.deleted_at",
        (data,),
    )


def _touch_predecessors(tx: Tx, rows: Sequence[Row], data: str) -> None:
    """A path that a successor names for the first time silences the mentions of the device before it."""
    device = rows[0].device if isinstance(rows[0], NoteRow) else ""
    known = device_row(tx.store, device)
    if known is None or not known.succeeds:
        return
    tx.run(
        "INSERT OR IGNORE INTO dirty SELECT m.agent_id, m.fact_id FROM json_each(?) AS j JOIN notes o"
        " ON o.path = j.value->>3 AND o.agent_id = j.value->>1 AND o.device <> j.value->>2"
        " JOIN mentions m ON m.agent_id = o.agent_id AND m.device = o.device AND m.path = o.path"
        " WHERE NOT EXISTS (SELECT 1 FROM notes n WHERE n.agent_id = j.value->>1 AND n.device = j.value->>2"
        " AND n.path = j.value->>3)",
        (data,),
    )


def _keep_chunks(tx: Tx, rows: Iterable[Row]) -> None:
    for row in rows:
        if isinstance(row, ChunkRow):
            tx.run("INSERT OR IGNORE INTO chunks VALUES (?, ?, 0)", (row.sha256, row.data))


def _stands_at(alias: str, n: str = "value->>4") -> str:
    return (
        f"{alias}.agent_id = value->>1 AND {alias}.device = value->>2 AND {alias}.path = value->>3 AND {alias}.n = {n}"
    )


def _fold_mentions(tx: Tx, rows: Sequence[Row], _: Folded) -> None:
    data = _json(rows)
    stands = _STANDS.format(at=5)
    if _are_new_places(tx, rows):
        # As in a restore: nothing stood there, so every row that comes in is a change.
        tx.run(
            f"INSERT INTO mentions SELECT {_fields(15, 9, 14)}, 0 FROM json_each(?) WHERE NOT EXISTS ({stands})",
            (data,),
        )
        tx.run("INSERT OR IGNORE INTO dirty SELECT value->>1, value->>5 FROM json_each(?)", (data,))
        return
    # What stood at these places and stands there no longer, and the words after it, which are indexed with it.
    _touch(
        tx,
        tx.execute(
            f"SELECT m.agent_id, m.fact_id FROM json_each(?) JOIN mentions m ON {_stands_at('m')}"
            " WHERE m.fact_id <> value->>5 UNION"
            f" SELECT q.agent_id, q.fact_id FROM json_each(?) JOIN mentions q ON {_stands_at('q', '(value->>4) + 1')}"
            f" LEFT JOIN mentions m ON {_stands_at('m')} WHERE m.fact_id IS NOT value->>5",
            (data, data),
        ),
    )
    # A place that now states a forgotten fact states nothing.
    tx.run(
        "DELETE FROM mentions WHERE (agent_id, device, path, n) IN (SELECT value->>1, value->>2, value->>3, value->>4"
        f" FROM json_each(?) WHERE EXISTS ({stands}))",
        (data,),
    )
    columns = (
        "fact_id", "line_from", "line_to", "date", "headings", "category", "importance", "kind", "task_state",
        "metadata", "code",
    )  # fmt: skip
    new = ", ".join(f"excluded.{name}" for name in columns)
    old = ", ".join(f"mentions.{name}" for name in columns)
    changed = tx.execute(
        f"INSERT INTO mentions SELECT {_fields(15, 9, 14)}, 0 FROM json_each(?)"
        f" WHERE NOT EXISTS ({stands}) ON CONFLICT (agent_id, device, path, n) DO UPDATE SET"
        f" ({', '.join(columns)}) = ({new}) WHERE ({old}) IS NOT ({new}) RETURNING agent_id, fact_id",
        (data,),
    )
    _touch(tx, changed)


def _are_new_places(tx: Tx, rows: Sequence[Row]) -> bool:
    """Whether no mention stands in any of these notes, and each place is named once."""
    places = [(row.agent_id, row.device, row.path, row.n) for row in rows if isinstance(row, MentionRow)]
    if len(set(places)) < len(places):
        return False
    notes = _json(sorted({place[:3] for place in places}))
    return not tx.execute(
        "SELECT 1 FROM json_each(?) JOIN mentions m ON m.agent_id = value->>0 AND m.device = value->>1"
        " AND m.path = value->>2 LIMIT 1",
        (notes,),
    )


def _fold_edits(tx: Tx, rows: Sequence[Row], _: Folded) -> None:
    changed = tx.execute(
        f"INSERT INTO edits SELECT {_fields(5)}, 0 FROM json_each(?)"
        f" WHERE NOT EXISTS ({_STANDS.format(at=2)}) AND NOT EXISTS ({_SPOKEN_BEFORE.format(at=2, version=5)})"
        " ON CONFLICT (agent_id, fact_id, field) DO UPDATE SET"
        " value = excluded.value, version = excluded.version, rev = 0"
        " WHERE excluded.version > edits.version OR (excluded.version = edits.version AND excluded.value IS NOT NULL"
        " AND (edits.value IS NULL OR excluded.value > edits.value)) RETURNING agent_id, fact_id",
        (_json(rows),),
    )
    _touch(tx, changed)


def _fold_forgotten(tx: Tx, rows: Sequence[Row], folded: Folded) -> None:
    for row in rows:
        if isinstance(row, ForgottenRow):
            _fold_tombstone(tx, row, folded)


def _fold_tombstone(tx: Tx, row: ForgottenRow, folded: Folded) -> None:
    found = tx.execute(
        "SELECT version, lifted_version, moved_to FROM forgotten WHERE agent_id = ? AND fact_id = ?",
        (row.agent_id, row.fact_id),
    )
    old = tuple(str(value) for value in found[0]) if found else ("", "", "")
    new = (max(old[0], row.version), max(old[1], row.lifted_version), max(old[2], row.moved_to))
    if new == old:
        return
    # Its own rev: each log holds every tombstone.
    tx.run(
        "INSERT INTO forgotten VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (agent_id, fact_id) DO UPDATE SET version ="
        " excluded.version, lifted_version = excluded.lifted_version, moved_to = excluded.moved_to, rev = excluded.rev",
        (row.agent_id, row.fact_id, *new, tx.next_rev()),
    )
    if new[0] > new[1]:
        erase(tx, row.agent_id, row.fact_id)
    else:
        _drop_older(tx, row.agent_id, row.fact_id, new[0])
        folded.lifted.append((row.agent_id, row.fact_id))
    tx.touch(row.agent_id, row.fact_id)


def _drop_older(tx: Tx, agent_id: str, fact: str, version: str) -> None:
    tx.run("DELETE FROM edits WHERE agent_id = ? AND fact_id = ? AND version < ?", (agent_id, fact, version))
    tx.run("DELETE FROM hot_items WHERE agent_id = ? AND key = ? AND version < ?", (agent_id, fact, version))


def _fold_access(tx: Tx, rows: Sequence[Row], _: Folded) -> None:
    changed = tx.execute(
        f"INSERT INTO access SELECT {_fields(5)}, 0 FROM json_each(?)"
        f" WHERE NOT EXISTS ({_STANDS.format(at=2)}) ON CONFLICT (agent_id, fact_id, device) DO UPDATE SET"
        " days = excluded.days, last_day = excluded.last_day"
        " WHERE (access.days, access.last_day) IS NOT (excluded.days, excluded.last_day) RETURNING agent_id, fact_id",
        (_json(rows),),
    )
    _touch(tx, changed)


def _fold_hot_items(tx: Tx, rows: Sequence[Row], _: Folded) -> None:
    changed = tx.execute(
        f"INSERT INTO hot_items SELECT {_fields(6)}, 0 FROM json_each(?)"
        f" WHERE NOT EXISTS ({_STANDS.format(at=3)}) AND NOT EXISTS ({_SPOKEN_BEFORE.format(at=3, version=5)})"
        " ON CONFLICT (agent_id, section, key) DO UPDATE SET"
        " value = excluded.value, version = excluded.version, deleted = excluded.deleted, rev = 0"
        " WHERE excluded.version > hot_items.version RETURNING agent_id, key, section",
        (_json(rows),),
    )
    _touch(tx, [row for row in changed if row[2] in ("lessons", "events", "tasks")])


def _fold_tree_nodes(tx: Tx, rows: Sequence[Row], _: Folded) -> None:
    tx.run(
        f"INSERT INTO tree_nodes SELECT {_fields(5)}, 0 FROM json_each(?) WHERE true"
        " ON CONFLICT (agent_id, path) DO UPDATE SET"
        " description = excluded.description, version = excluded.version, deleted = excluded.deleted, rev = 0"
        " WHERE excluded.version > tree_nodes.version",
        (_json(rows),),
    )


def _fold_devices(tx: Tx, rows: Sequence[Row], _: Folded) -> None:
    for row in rows:
        if isinstance(row, DeviceRow) and device_row(tx.store, row.device) != row:
            before = device_row(tx.store, row.device)
            tx.run(
                "INSERT INTO devices VALUES (?, ?, ?, ?, ?, ?, 0) ON CONFLICT (device) DO UPDATE SET"
                " name = excluded.name, platform = excluded.platform, created_at = excluded.created_at,"
                " notes_extra = excluded.notes_extra, succeeds = excluded.succeeds",
                (row.device, row.name, row.platform, row.created_at, _json(row.notes_extra), _json(row.succeeds)),
            )
            touch_notes_of(tx, set(row.succeeds) ^ set(before.succeeds if before else ()))


_FOLDS: dict[type[Any], Callable[[Tx, Sequence[Row], Folded], None]] = {
    FactRow: _fold_facts,
    NoteRow: _fold_notes,
    MentionRow: _fold_mentions,
    EditRow: _fold_edits,
    ForgottenRow: _fold_forgotten,
    AccessRow: _fold_access,
    HotItemRow: _fold_hot_items,
    TreeNodeRow: _fold_tree_nodes,
    DeviceRow: _fold_devices,
}
_REPLACED: dict[type[Any], tuple[str, tuple[str, ...]]] = {
    NoteRow: ("notes", ("agent_id", "path")),
    MentionRow: ("mentions", ("agent_id", "path", "n")),
    AccessRow: ("access", ("agent_id", "fact_id")),
}

"""The merge rules of docs/data.md, 2, one function a table.

Each takes a run of rows of one kind, in the log's order, hands them to SQL as one JSON array, and marks every fact
whose derived values may change.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from ..model import (
    AccessRow,
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
from .forget import erase
from .log import device_row, with_predecessors
from .store import Tx

_JSON = msgspec.json.Encoder()

_TOMBSTONE = "SELECT 1 FROM forgotten f WHERE f.agent_id = value->>1 AND f.fact_id = value->>{at}"
_STANDS = _TOMBSTONE + " AND f.version > f.lifted_version"
# What was set before the fact was forgotten is gone for good, also when the tombstone has been lifted since: a
# device that sees both at once must not keep what the others have erased.
_SPOKEN_BEFORE = _TOMBSTONE + " AND f.version > value->>{version}"
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


def touch_notes_of(tx: Tx, devices: Iterable[str]) -> None:
    """Mark every fact that these devices, or the ones they succeed, mention: whether it counts may have changed."""
    tx.run(
        "INSERT OR IGNORE INTO dirty SELECT agent_id, fact_id FROM mentions"
        " WHERE device IN (SELECT value FROM json_each(?))",
        (_JSON.encode(sorted(with_predecessors(tx.store, devices))).decode(),),
    )


def _fields(count: int, *json: int) -> str:
    """The first `count` fields of a row in `json_each`; those of `json` stay JSON text."""
    return ", ".join(f"value->{'' if n in json else '>'}{n}" for n in range(1, count + 1))


def _json(rows: Sequence[Any]) -> str:
    return _JSON.encode(rows).decode()


def mark_facts(tx: Tx, facts: Sequence[tuple[Value, ...]]) -> None:
    """Mark facts, given as (agent, id, …), whose derived values may change."""
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
    mark_facts(tx, changed)


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
    mark_facts(
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
    mark_facts(tx, changed)


def _are_new_places(tx: Tx, rows: Sequence[Row]) -> bool:
    """Whether no mention stands at or after any of these places in its note, and each place is named once."""
    places = [(row.agent_id, row.device, row.path, row.n) for row in rows if isinstance(row, MentionRow)]
    if len(set(places)) < len(places):
        return False
    first: dict[tuple[str, str, str], int] = {}
    for *note, n in places:
        key = (note[0], note[1], note[2])
        first[key] = min(n, first.get(key, n))
    return not tx.execute(
        "SELECT 1 FROM json_each(?) JOIN mentions m ON m.agent_id = value->>0 AND m.device = value->>1"
        " AND m.path = value->>2 AND m.n >= value->>3 LIMIT 1",
        (_json([(*note, n) for note, n in first.items()]),),
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
    mark_facts(tx, changed)


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
    mark_facts(tx, changed)


def _fold_hot_items(tx: Tx, rows: Sequence[Row], _: Folded) -> None:
    changed = tx.execute(
        f"INSERT INTO hot_items SELECT {_fields(6)}, 0 FROM json_each(?)"
        f" WHERE NOT EXISTS ({_STANDS.format(at=3)}) AND NOT EXISTS ({_SPOKEN_BEFORE.format(at=3, version=5)})"
        " ON CONFLICT (agent_id, section, key) DO UPDATE SET"
        " value = excluded.value, version = excluded.version, deleted = excluded.deleted, rev = 0"
        " WHERE excluded.version > hot_items.version RETURNING agent_id, key, section",
        (_json(rows),),
    )
    mark_facts(tx, [row for row in changed if row[2] in ("lessons", "events", "tasks")])


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


FOLDS: dict[type[Any], Callable[[Tx, Sequence[Row], Folded], None]] = {
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
"""How the rows of each table are folded; chunks are not rows of memory."""

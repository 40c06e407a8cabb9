"""What a person or agent sets by command: edits, hot items, tree nodes, reads, and facts without a note."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from ..model import COMMAND_PATH, Metadata, fact_id
from .adapter import Value
from .store import Store, Tx

_JSON = msgspec.json.Encoder()
_INSERT_MENTIONS = (
    "INSERT OR REPLACE INTO mentions SELECT "
    + ", ".join(f"value ->> {place}" for place in range(16))
    + " FROM json_each(?)"
)
_UNLESS_FORGOTTEN = (
    "WHERE NOT EXISTS (SELECT 1 FROM forgotten f WHERE f.agent_id = v.agent AND f.fact_id = v.fact"
    " AND f.version > f.lifted_version)"
)
"""For rows `v` that name their agent and fact so."""
_NO_CHARACTER = "\ufffd"
_ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
"""A NUL in JSON text; where its backslash is escaped itself, it is none."""


class Stated(NamedTuple):
    """A fact by command, on its way in; `first_seen` in ms, `date` of the mention, '' for none."""

    id: str
    text: str
    category: str
    importance: float
    metadata: Metadata
    kind: str
    task_state: str
    first_seen: int
    date: str = ""


def set_edit(tx: Tx, agent_id: str, fact: str, field: str, value: str | None) -> None:
    """Set one field of a fact by hand; None withdraws an earlier edit. Of a forgotten fact nothing is kept."""
    tx.run(
        f"INSERT INTO edits SELECT * FROM (SELECT ? AS agent, ? AS fact, ?, ?, ?, ?) v {_UNLESS_FORGOTTEN}"
        " ON CONFLICT (agent_id, fact_id, field) DO UPDATE SET"
        " value = excluded.value, version = excluded.version, rev = excluded.rev",
        (agent_id, fact, field, value, tx.next_version(), tx.next_rev()),
    )
    tx.touch(agent_id, fact)


def withdraw_edit(tx: Tx, agent_id: str, fact: str, field: str) -> None:
    """Withdraw an edit if there is one that holds: the note has spoken since."""
    if tx.execute(
        "SELECT 1 FROM edits WHERE agent_id = ? AND fact_id = ? AND field = ? AND value IS NOT NULL",
        (agent_id, fact, field),
    ):
        set_edit(tx, agent_id, fact, field, None)


def set_hot_item(tx: Tx, agent_id: str, section: str, key: str, value: str | None, *, deleted: bool = False) -> None:
    """Write one item of hot state; `value` is JSON text, a NUL in it becomes U+FFFD.

    Of a forgotten fact nothing is kept.
    """
    # As an escape a NUL would get past the check of what is bound, and come out where the text is used.
    value = value and _ESCAPED_NUL.sub(rf"\1{_NO_CHARACTER}", value)
    tx.run(
        f"INSERT INTO hot_items SELECT * FROM (SELECT ? AS agent, ?, ? AS fact, ?, ?, ?, ?) v {_UNLESS_FORGOTTEN}"
        " ON CONFLICT (agent_id, section, key) DO UPDATE SET"
        " value = excluded.value, version = excluded.version, deleted = excluded.deleted, rev = excluded.rev",
        (agent_id, section, key, value, tx.next_version(), int(deleted), tx.next_rev()),
    )
    if section in ("lessons", "events", "tasks"):
        tx.touch(agent_id, key)


def set_tree_node(tx: Tx, agent_id: str, path: str, description: str, *, deleted: bool = False) -> None:
    """Add, describe or remove one category path; a NUL in the description becomes U+FFFD."""
    tx.run(
        "INSERT INTO tree_nodes VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (agent_id, path) DO UPDATE SET"
        " description = excluded.description, version = excluded.version, deleted = excluded.deleted,"
        " rev = excluded.rev",
        (agent_id, path, description.replace("\0", _NO_CHARACTER), tx.next_version(), int(deleted), tx.next_rev()),
    )


def record_access(tx: Tx, agent_id: str, facts: Iterable[str], day: int) -> int:
    """Count one read of each fact, at most one a day (docs/memory.md, 3); `day` in days since 1970.

    Returns how many reads counted.
    """
    counted = 0
    for fact in facts:
        changed = tx.run(
            f"INSERT INTO access SELECT * FROM (SELECT ? AS agent, ? AS fact, ?, 1, ?, ?) v {_UNLESS_FORGOTTEN}"
            " ON CONFLICT (agent_id, fact_id, device) DO UPDATE SET"
            " days = days + 1, last_day = excluded.last_day, rev = excluded.rev WHERE excluded.last_day > last_day",
            (agent_id, fact, tx.device, day, tx.next_rev()),
        )
        if changed:
            tx.touch(agent_id, fact)
            counted += 1
    return counted


def name_facts(tx: Tx, agent_id: str, rows: Sequence[tuple[str, str, str, int, int]]) -> None:
    """Take facts into this device's log, making those that no other device stated before.

    Rows are `(agent id, fact id, text, first seen [ms], rev)`.
    """
    tx.run_bulk(
        "INSERT INTO facts (agent_id, id, text, first_seen, rev)"
        " SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?) WHERE true"
        " ON CONFLICT (agent_id, id) DO UPDATE SET"
        " first_seen = min(first_seen, excluded.first_seen), rev = excluded.rev"
        " WHERE rev = 0 OR excluded.first_seen < first_seen",
        rows,
    )
    tx.touch_all(agent_id, [row[1] for row in rows])


def is_forgotten(tx: Tx, agent_id: str, fact: str) -> bool:
    """Whether a tombstone of the fact stands."""
    rows = tx.execute(
        "SELECT 1 FROM forgotten WHERE agent_id = ? AND fact_id = ? AND version > lifted_version", (agent_id, fact)
    )
    return bool(rows)


def state_fact(
    tx: Tx, agent_id: str, text: str, category: str, importance: float, metadata: Metadata, *, kind: str = "fact",
    task_state: str = "", date: str = "",
) -> str:  # fmt: skip
    """State a fact by command: a mention without a note. Stating it again replaces that mention."""
    fact = fact_id(agent_id, text)
    name_facts(tx, agent_id, [(agent_id, fact, text, tx.store.clock.now_ms(), tx.next_rev())])
    rows = tx.execute(
        "SELECT n FROM mentions WHERE agent_id = ? AND device = ? AND path = ? AND fact_id = ?",
        (agent_id, tx.device, COMMAND_PATH, fact),
    )
    if rows:
        n = rows[0][0]
    else:
        ((last,),) = tx.execute(
            "SELECT max(n) FROM mentions WHERE agent_id = ? AND device = ? AND path = ?",
            (agent_id, tx.device, COMMAND_PATH),
        )
        n = last + 1 if isinstance(last, int) else 0
    tx.run(
        "INSERT OR REPLACE INTO mentions VALUES (?, ?, ?, ?, ?, 0, 0, ?, '[]', ?, ?, ?, ?, ?, '', ?)",
        (agent_id, tx.device, COMMAND_PATH, n, fact, date, category, importance, kind, task_state,
         _JSON.encode(metadata).decode(), tx.next_rev()),
    )  # fmt: skip
    for field, written in (("category", True), ("importance", True), ("done", bool(task_state))):
        if written:
            withdraw_edit(tx, agent_id, fact, field)
    return fact


def state_facts(tx: Tx, agent_id: str, facts: Sequence[Stated]) -> None:
    """State facts of which there is no mention yet, each once; like `state_fact`, with one statement a table."""
    keys = _JSON.encode([each.id for each in facts]).decode()
    edited = {
        (str(fact), str(field))
        for fact, field in tx.execute(
            "SELECT fact_id, field FROM edits WHERE agent_id = ? AND fact_id IN (SELECT value FROM json_each(?))"
            " AND value IS NOT NULL",
            (agent_id, keys),
        )
    }
    name_facts(tx, agent_id, [(agent_id, each.id, each.text, each.first_seen, tx.next_rev()) for each in facts])
    ((last,),) = tx.execute(
        "SELECT max(n) FROM mentions WHERE agent_id = ? AND device = ? AND path = ?",
        (agent_id, tx.device, COMMAND_PATH),
    )
    first = last + 1 if isinstance(last, int) else 0
    rows = [
        (agent_id, tx.device, COMMAND_PATH, n, each.id, 0, 0, each.date, "[]", each.category, float(each.importance),
         each.kind, each.task_state, _JSON.encode(each.metadata).decode(), "", tx.next_rev())
        for n, each in enumerate(facts, first)
    ]  # fmt: skip
    insert_mentions(tx, rows)
    for each in facts:
        for field, written in (("category", True), ("importance", True), ("done", bool(each.task_state))):
            if written and (each.id, field) in edited:
                set_edit(tx, agent_id, each.id, field, None)


def command_mentions(store: Store | Tx, agent_id: str, device: str, after: int) -> list[tuple[int, str, int]]:
    """What this device states by command from place `after` + 1 on: place, fact id, revision."""
    rows = store.execute(
        "SELECT n, fact_id, rev FROM mentions WHERE agent_id = ? AND device = ? AND path = ? AND n > ?"
        " AND fact_id <> '' ORDER BY n",
        (agent_id, device, COMMAND_PATH, after),
    )
    return [(int(n or 0), str(fact), int(rev or 0)) for n, fact, rev in rows]


def take_back_statement(tx: Tx, agent_id: str, fact: str, rev: int) -> None:
    """Let the command that stated a fact with this revision state nothing: the place stays, empty, for every device.

    Nothing happens where it was stated again since; what notes say of it counts on.
    """
    changed = tx.run(
        "UPDATE mentions SET fact_id = '', date = '', category = '', kind = '', task_state = '', metadata = '{}',"
        " rev = ? WHERE agent_id = ? AND device = ? AND path = ? AND fact_id = ? AND rev = ?",
        (tx.next_rev(), agent_id, tx.device, COMMAND_PATH, fact, rev),
    )
    if changed:
        tx.touch(agent_id, fact)


def insert_mentions(tx: Tx, rows: Sequence[Sequence[Value]]) -> None:
    """Write mentions, in place of those that have the same place; rows are whole rows of the table."""
    tx.run_bulk(_INSERT_MENTIONS, rows)

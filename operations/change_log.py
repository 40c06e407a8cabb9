"""The log behind `undo`: what a command, or a hand in MEMORY.md's block, changed goes back to what it was.

Each change keeps the rows it replaced: hot items, tree nodes and edits, which are versioned, so that
going back is one more change that wins on every device. A forgotten fact keeps no words: its undo lifts
the tombstone, and notes that still say it bring it back.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import msgspec

from ..errors import NoInputError, TryLaterError, UsageError
from ..model import COMMAND_PATH, MASK_FORGOTTEN
from ..store import Store, Tx
from ..store.forget import lift
from ..store.versions import command_mentions, set_edit, set_hot_item, set_tree_node, take_back_statement
from .tier_replies import Change, UndoReply

KEPT_CHANGES = 200
"""How many changes of an agent can be undone, and as many of the upkeep; for steps of dreams see dream_undo.py."""
SHOWN_STEPS = 200
"""How many steps of dreams a list of changes shows."""
STANDS, UNDONE, LEFT = range(3)
"""What became of a change: nothing yet, it went back, or its dream did and left it, since it was changed again."""
DREAM = "dream: "
"""What the steps of dreams begin with: they are many, and must not push out what a person did."""
UPKEEP = "upkeep: "
"""The same for what consolidation changes, which the daemon does by itself every two hours."""
STATED = "stated"
"""Rows of changes that are facts which came in with them; the value is their mention's revision."""
_OF_STATED = f'["{STATED}"'
_NOT_ROWS = ('["forgotten"', _OF_STATED)
_OF_DREAMS = f"agent_id = ? AND what GLOB '{DREAM}*'"
_OF_UPKEEP = f"agent_id = ? AND what GLOB '{UPKEEP}*'"
_OF_PEOPLE = f"agent_id = ? AND what NOT GLOB '{DREAM}*' AND what NOT GLOB '{UPKEEP}*'"

Rows: TypeAlias = dict[str, list[Any] | None]
"""Row key (`table/section/key`, as JSON) to its values, None where there was no row."""

_JSON = msgspec.json.Encoder()
_READ = {
    "hot": "SELECT section, key, value, deleted FROM hot_items WHERE agent_id = ?",
    "tree": "SELECT path, '', description, deleted FROM tree_nodes WHERE agent_id = ?",
    "edit": "SELECT fact_id, field, value, 0 FROM edits WHERE agent_id = ? AND value IS NOT NULL"
    " AND field IN ('category', 'importance', 'done', 'pin', 'superseded_by', 'merged_into')",
}


@contextmanager
def recorded(tx: Tx, agent_id: str, what: str) -> Iterator[None]:
    """Keep what the enclosed changes replace, so that `undo` can bring it back."""
    before = _rows(tx.store, agent_id)
    last = _last_statement(tx, agent_id)
    yield
    after = _rows(tx.store, agent_id) | {
        _key(STATED, fact): [rev, 0] for _, fact, rev in command_mentions(tx, agent_id, tx.device, last)
    }
    changed = [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
    if changed:
        _write(tx, agent_id, what, {key: before.get(key) for key in changed}, {key: after.get(key) for key in changed})


def record_edits(
    tx: Tx, agent_id: str, what: str, field: str, edits: Mapping[str, tuple[str | None, str | None]]
) -> int:
    """Keep what edits of one field were before and are now, by fact; returns the change's number."""
    before, after = (
        {_key("edit", fact, field): None if each[side] is None else [each[side], 0] for fact, each in edits.items()}
        for side in (0, 1)
    )
    return _write(tx, agent_id, what, before, after)


def record_forgotten(tx: Tx, agent_id: str, facts: Sequence[str]) -> None:
    """Keep which facts were forgotten together; of their words nothing is kept."""
    _write(tx, agent_id, "forget", {_key("forgotten", fact): None for fact in facts}, {})


def forget_changes(tx: Tx, agent_id: str, table: str, one: str, two: str = "") -> None:
    """Let go of the changes of one row: they hold words that were forgotten."""
    name = _JSON.encode(_key(table, one, two)).decode()
    tx.run(
        "DELETE FROM undo_log WHERE agent_id = ? AND (instr(before, ?) > 0 OR instr(after, ?) > 0)",
        (agent_id, name, name),
    )


def undo_change(store: Store, agent_id: str, n: int, stops: Callable[[Any], bool]) -> UndoReply:
    """Bring back what the change `n` replaced, 0 for the newest that stands and that a person made.

    Raises `NoInputError` if there is none, `TryLaterError` if it was changed again since, and `UsageError` if
    `stops` says that it must not come back: it was forgotten.
    """
    found = _found(store, agent_id, n)
    if found is None:
        raise NoInputError(
            "There is nothing to undo." if not n else f"There is no change {n}.",
            "memoryd undo --list; what a dream did: memoryd undo --dream; what the upkeep did: memoryd undo --n",
        )
    if found.undone:
        raise NoInputError(f"The change {found.n} is undone already.", "memoryd undo --list shows what stands.")
    old, new = _sides(store, found.n)
    now = _rows(store, agent_id)
    if any(not key.startswith(_NOT_ROWS) and now.get(key) != new.get(key) for key in old):
        raise TryLaterError(
            f"What the change {found.n} wrote was changed again since.", "Undo the later change first, or set it anew."
        )
    if stops([each for key, values in old.items() for each in _texts(key, values)]):
        raise UsageError(
            f"What the change {found.n} replaced says a sentence that was forgotten and stays so.",
            "Set it anew in other words.",
        )
    lifted: list[str] = []
    with store.transaction() as tx:
        for key, values in old.items():
            if key.startswith(_OF_STATED):
                _take_back(tx, agent_id, key, new[key])
            elif fact := _bring_back(tx, agent_id, key, values):
                lifted.append(fact)
        _mark(tx, found.n, UNDONE)
    return UndoReply(found.n, found.what, len(old), lifted, _hiding_notes(store, agent_id) if lifted else [])


def take_back_edits(store: Store, agent_id: str, numbers: Sequence[int]) -> tuple[int, int]:
    """Take changes of edits back in this order; returns how many rows went back, and how many changes did not.

    A change of which something was changed again since stays as it is, and is marked as left.
    """
    rows = left = 0
    with store.transaction() as tx:
        for n in numbers:
            old, new = _sides(store, n)
            if any(_edit_now(store, agent_id, key) != new.get(key) for key in old):
                left += 1
                _mark(tx, n, LEFT)
                continue
            for key, values in old.items():
                _bring_back(tx, agent_id, key, values)
            rows += len(old)
            _mark(tx, n, UNDONE)
    return rows, left


def _last_statement(tx: Tx, agent_id: str) -> int:
    ((last,),) = tx.execute(
        "SELECT max(n) FROM mentions WHERE agent_id = ? AND device = ? AND path = ?",
        (agent_id, tx.device, COMMAND_PATH),
    )
    return last if isinstance(last, int) else -1


def _take_back(tx: Tx, agent_id: str, key: str, stated: list[Any] | None) -> None:
    """A fact that came with the change goes with it, unless something else states it."""
    _, fact, _ = msgspec.json.decode(key, type=tuple[str, str, str])
    if stated:
        take_back_statement(tx, agent_id, fact, int(stated[0]))


def _mark(tx: Tx, n: int, what: int) -> None:
    tx.run("UPDATE undo_log SET undone = ? WHERE n = ?", (what, n))


def _edit_now(store: Store, agent_id: str, key: str) -> list[Any] | None:
    _, fact, field = msgspec.json.decode(key, type=tuple[str, str, str])
    found = store.execute(
        "SELECT value FROM edits WHERE agent_id = ? AND fact_id = ? AND field = ? AND value IS NOT NULL",
        (agent_id, fact, field),
    )
    return [found[0][0], 0] if found else None


def _sides(store: Store, n: int) -> tuple[Rows, Rows]:
    """What a change replaced, and what it wrote."""
    ((before, after),) = store.execute("SELECT before, after FROM undo_log WHERE n = ?", (n,))
    return msgspec.json.decode(str(before), type=Rows), msgspec.json.decode(str(after), type=Rows)


def _found(store: Store, agent_id: str, n: int) -> Change | None:
    wanted = "agent_id = ? AND n = ?" if n else f"{_OF_PEOPLE} AND undone = ?"
    rows: list[tuple[Any, ...]] = store.execute(
        f"SELECT n, at, what, undone FROM undo_log WHERE {wanted} ORDER BY n DESC LIMIT 1", (agent_id, n)
    )
    return _change(rows[0]) if rows else None


def _change(row: Sequence[Any]) -> Change:
    n, at, what, undone = row
    return Change(n, at / 1000, what, undone == UNDONE)


def _texts(key: str, values: list[Any] | None) -> list[Any]:
    """What a row says: its name and its value, which is JSON for an item of hot state."""
    table, *name = msgspec.json.decode(key, type=tuple[str, str, str])
    value = values[0] if values else None
    return [*name, msgspec.json.decode(value) if table == "hot" and value is not None else value]


def _bring_back(tx: Tx, agent_id: str, key: str, values: list[Any] | None) -> str:
    """Write one row as it was; returns the fact whose tombstone was lifted, else ''."""
    table, one, two = msgspec.json.decode(key, type=tuple[str, str, str])
    value, deleted = values or (None, True)
    if table == "hot":
        set_hot_item(tx, agent_id, one, two, value, deleted=bool(deleted))
    elif table == "tree":
        set_tree_node(tx, agent_id, one, value or "", deleted=bool(deleted))
    elif table == "edit":
        # A link that upkeep emptied goes back to one that was taken back, or upkeep would do again what was undone.
        set_edit(tx, agent_id, one, two, value or None)
    else:
        lift(tx, agent_id, one)
        return one
    return ""


def _hiding_notes(store: Store, agent_id: str) -> list[str]:
    """Own notes with lines that were hidden: they are read again now that a tombstone is lifted."""
    rows = store.execute(
        "SELECT DISTINCT u.path FROM chunks c JOIN chunk_uses u ON u.sha256 = c.sha256"
        " WHERE u.agent_id = ? AND instr(c.data, CAST(? AS BLOB)) > 0 ORDER BY u.path",
        (agent_id, MASK_FORGOTTEN),
    )
    return [str(row[0]) for row in rows]


def changes(store: Store, agent_id: str) -> list[Change]:
    """The changes that are kept, the newest first, and the newest steps of dreams among them."""
    ask = "SELECT n, at, what, undone FROM undo_log WHERE {} ORDER BY n DESC LIMIT ?"
    rows: list[tuple[Any, ...]] = [
        *store.execute(ask.format(_OF_PEOPLE), (agent_id, KEPT_CHANGES)),
        *store.execute(ask.format(_OF_UPKEEP), (agent_id, KEPT_CHANGES)),
        *store.execute(ask.format(_OF_DREAMS), (agent_id, SHOWN_STEPS)),
    ]
    return [_change(row) for row in sorted(rows, reverse=True)]


def _rows(store: Store, agent_id: str) -> Rows:
    found: Rows = {}
    for table, sql in _READ.items():
        for one, two, value, deleted in store.execute(sql, (agent_id,)):
            found[_key(table, str(one), str(two))] = [value, deleted]
    return found


def _key(table: str, one: str, two: str = "") -> str:
    return _JSON.encode((table, one, two)).decode()


def _write(tx: Tx, agent_id: str, what: str, before: Rows, after: Rows) -> int:
    tx.run(
        "INSERT INTO undo_log (agent_id, at, what, before, after, undone) VALUES (?, ?, ?, ?, ?, 0)",
        (agent_id, tx.store.clock.now_ms(), what, _JSON.encode(before).decode(), _JSON.encode(after).decode()),
    )
    if not what.startswith(DREAM):
        kind = _OF_UPKEEP if what.startswith(UPKEEP) else _OF_PEOPLE
        tx.run(
            f"DELETE FROM undo_log WHERE {kind} AND n NOT IN"
            f" (SELECT n FROM undo_log WHERE {kind} ORDER BY n DESC LIMIT ?)",
            (agent_id, agent_id, KEPT_CHANGES),
        )
    ((n,),) = tx.execute("SELECT max(n) FROM undo_log WHERE agent_id = ?", (agent_id,))
    return int(n or 0)

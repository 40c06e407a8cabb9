"""A hand-edited managed block goes back into hot state: the person wins (docs/memory.md, 3)."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

import msgspec

from ..foreign import decoded_json
from ..model import COMMAND_PATH, fact_id
from ..store import Store, Tx
from ..store.versions import set_edit, set_hot_item
from .changes import DEFAULT_IMPORTANCE, Item, Words, current, hold, write_free
from .hot import FREE_SECTIONS
from .page import MONTHS, Block, body_hash, label
from .readback import Entry, HotChange, ReadBack, is_text, read_back

KEPT_BLOCKS = 20
"""How many bodies, written or seen, are remembered as bases."""


def read_hand_edits(store: Store, agent_id: str, block: Block, ours: str) -> ReadBack:
    """What a person changed in `block`, whose hash does not fit; `ours` is the body for today's hot state."""
    return read_back(block.body, known_body(store, agent_id, block.sha256), ours)


def known_body(store: Store, agent_id: str, sha256: str) -> str | None:
    """The remembered body of that hash, None if it is not among the last ones."""
    rows = store.execute("SELECT body FROM blocks WHERE agent_id = ? AND sha256 = ?", (agent_id, sha256))
    return str(rows[0][0]) if rows else None


def remember_body(tx: Tx, agent_id: str, body: str) -> None:
    """Keep a body that was written, or seen with a hash that fits, as a base for later edits by hand.

    One that is no text, which an older version could write, is not kept.
    """
    if not is_text(body):
        return
    # The newest row decides what is kept, also when one millisecond sees several.
    ((newest,),) = tx.execute("SELECT max(at) FROM blocks WHERE agent_id = ?", (agent_id,))
    at = max(tx.store.clock.now_ms(), newest + 1 if isinstance(newest, int) else 0)
    tx.run("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?)", (agent_id, body_hash(body), body, at))
    tx.run(
        "DELETE FROM blocks WHERE agent_id = ? AND sha256 NOT IN"
        " (SELECT sha256 FROM blocks WHERE agent_id = ? ORDER BY at DESC LIMIT ?)",
        (agent_id, agent_id, KEPT_BLOCKS),
    )


def apply_changes(tx: Tx, agent_id: str, changes: Sequence[HotChange], words: Words, today: date) -> None:
    """Make hot state say what the person wrote. A sentence that was forgotten stays forgotten."""
    for change in changes:
        if change.entry.section in FREE_SECTIONS:
            _apply_free(tx, agent_id, change, words)
        else:
            _apply_listed(tx, agent_id, change, words, today)


def day_near(month_day: str, today: date) -> float | None:
    """Epoch seconds of a `Feb 15` in the year that brings it nearest to `today`; None if it is no day."""
    month, _, number = month_day.partition(" ")
    days = []
    for year in (today.year - 1, today.year, today.year + 1):
        try:
            days.append(datetime(year, MONTHS.index(month) + 1, int(number), tzinfo=UTC))
        except ValueError:
            continue
    nearest = min(days, key=lambda day: abs((day.date() - today).days), default=None)
    return None if nearest is None else nearest.timestamp()


def _apply_free(tx: Tx, agent_id: str, change: HotChange, words: Words) -> None:
    entry = change.entry
    key = _key_of(tx, agent_id, entry)
    old = current(tx, agent_id, entry.section, key)
    if change.action == "remove":
        content: Any = None
    elif entry.section == "projects":
        content = _project(entry, old)
    else:
        content = _typed(entry.detail, old)
    write_free(tx, agent_id, entry.section, key, content, words)


def _apply_listed(tx: Tx, agent_id: str, change: HotChange, words: Words, today: date) -> None:
    entry = change.entry
    if change.action == "remove":
        set_hot_item(tx, agent_id, entry.section, _fact_of(tx, agent_id, entry.key, words), None, deleted=True)
        return
    old = _fact_of(tx, agent_id, change.old or entry.key, words)
    if change.action == "done" and _is_known(tx, agent_id, old):
        set_edit(tx, agent_id, old, "done", "done")
        return
    new = hold(tx, agent_id, _item(tx, agent_id, change, old, today), words)
    if change.action == "reword" and new != old:
        _replace(tx, agent_id, entry.section, old, new)


def _item(tx: Tx, agent_id: str, change: HotChange, old: str, today: date) -> Item:
    """The entry as an item; what a page does not show stays as it was."""
    entry = change.entry
    rows = tx.execute("SELECT category, importance FROM derived WHERE agent_id = ? AND fact_id = ?", (agent_id, old))
    category, importance = (str(rows[0][0]), float(rows[0][1] or 0)) if rows else ("general", DEFAULT_IMPORTANCE)
    if entry.section == "lessons" and entry.detail:
        category = entry.detail
    moved = entry.section == "events" and entry.detail and change.action in ("add", "change")
    stamp = day_near(entry.detail, today) if moved else None
    return Item(entry.section, entry.key, category, importance, stamp, done=change.action == "done")


def _replace(tx: Tx, agent_id: str, section: str, old: str, new: str) -> None:
    """The old wording leaves hot state; where nothing but a command stated it, the new one supersedes it."""
    set_hot_item(tx, agent_id, section, old, None, deleted=True)
    noted = tx.execute(
        "SELECT 1 FROM mentions WHERE agent_id = ? AND fact_id = ? AND path <> ? LIMIT 1", (agent_id, old, COMMAND_PATH)
    )
    if new and not noted:
        set_edit(tx, agent_id, old, "superseded_by", new)


def _fact_of(tx: Tx, agent_id: str, text: str, words: Words) -> str:
    """The id of the fact that an entry shows: its text is the fact's, unless somebody typed it."""
    shown = fact_id(agent_id, text)
    if _is_known(tx, agent_id, shown):
        return shown
    return fact_id(agent_id, words.statement(text, "general", DEFAULT_IMPORTANCE).text)


def _is_known(tx: Tx, agent_id: str, fact: str) -> bool:
    return bool(tx.execute("SELECT 1 FROM facts WHERE agent_id = ? AND id = ?", (agent_id, fact)))


def _key_of(tx: Tx, agent_id: str, entry: Entry) -> str:
    """The field or project that a label on the page stands for."""
    rows = tx.execute(
        "SELECT key FROM hot_items WHERE agent_id = ? AND section = ? AND deleted = 0 ORDER BY key",
        (agent_id, entry.section),
    )
    keys = [str(row[0]) for row in rows]
    shown = (lambda key: key) if entry.section == "projects" else label
    own = entry.key if entry.section == "projects" else entry.key.lower().replace(" ", "_")
    return next((key for key in keys if shown(key) == entry.key), own)


def _project(entry: Entry, old: Any) -> dict[str, Any]:
    value = {"name": entry.key} | (old if isinstance(old, dict) else {})
    return value | {"description": entry.detail, "status": entry.status}


def _typed(text: str, old: Any) -> Any:
    """The text as the kind of value that stood there before: a list, a number, an object, else text."""
    if isinstance(old, list):
        return [each.strip() for each in text.split(",")]
    if old is None or isinstance(old, str):
        return text
    try:
        value = decoded_json(text)
    except msgspec.DecodeError:
        return text
    kept = isinstance(value, dict) if isinstance(old, dict) else isinstance(value, int | float)
    return value if kept else text

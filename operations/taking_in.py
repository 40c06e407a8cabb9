"""Facts, hot items and tree nodes from another memory: what is known stays, what was forgotten stays forgotten."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from ..ingest.mask import mask_text
from ..ingest.parse import parse_statement
from ..model import Metadata, fact_id
from ..store import Tx
from ..store.versions import is_forgotten, name_facts, set_hot_item, set_tree_node, state_fact
from .places import merged

T = TypeVar("T")
Taken: TypeAlias = Literal["facts", "already_there", "kept_forgotten", "empty"]

BATCH = 200
"""Facts a transaction: about 40 ms on the store thread."""
_JSON = msgspec.json.Encoder(order="deterministic")


class Incoming(msgspec.Struct):
    """One fact on its way in. Times in ms; `reads` on so many days, the last of them `last_read` (days since 1970)."""

    text: str
    category: str
    importance: float
    first_seen: int
    reads: int = 0
    last_read: int = 0
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    kind: str = ""
    task_state: str = ""
    verbatim: bool = False
    """Whether the text is a fact's text already, made by the text rule."""


def take_fact(tx: Tx, agent_id: str, given: Incoming) -> tuple[Taken, str]:
    """State a fact with its date and reads; returns what became of it, and its id ('' for a text without words).

    A fact that is live here is left as it is, but for an earlier date and more reads.
    """
    mention = parse_statement(given.text, given.category, given.importance)
    text = given.text if given.verbatim and mask_text(given.text)[0] == given.text else mention.text
    fact = fact_id(agent_id, text)
    if not text:
        return "empty", ""
    if is_forgotten(tx, agent_id, fact):
        return "kept_forgotten", fact
    known = _counts_here(tx, agent_id, fact)
    if not known:
        metadata = merged(given.metadata, mention.metadata)
        category = given.category if given.verbatim else mention.category
        state_fact(
            tx, agent_id, text, category, given.importance, metadata, kind=given.kind or mention.kind,
            task_state=given.task_state,
        )  # fmt: skip
    if given.first_seen < _first_seen(tx, agent_id, fact):
        name_facts(tx, agent_id, [(agent_id, fact, text, given.first_seen, tx.next_rev())])
    _take_reads(tx, agent_id, fact, given)
    return ("already_there" if known else "facts"), fact


def take_hot_item(tx: Tx, agent_id: str, section: str, key: str, value: str | None, *, deleted: bool = False) -> bool:
    """Write an item of hot state unless this memory has, or had, one of that key."""
    if _has(tx, "hot_items", "section = ? AND key = ?", agent_id, section, key):
        return False
    set_hot_item(tx, agent_id, section, key, value, deleted=deleted)
    return True


def take_free(tx: Tx, agent_id: str, section: str, key: str, content: Any) -> bool:
    """Write a field or project of free JSON, secrets masked, unless there is, or was, one of that name."""
    name = masked(key)
    if not name.strip() or content is None:
        return False
    return take_hot_item(tx, agent_id, section, name, _JSON.encode(masked(content)).decode())


def take_tree_node(tx: Tx, agent_id: str, path: str, description: str) -> bool:
    """Add a node unless this memory has, or had, one of that path."""
    if _has(tx, "tree_nodes", "path = ?", agent_id, path):
        return False
    set_tree_node(tx, agent_id, path, masked(description))
    return True


def masked(value: Any) -> Any:
    """JSON with every text in it masked, names of fields too; a number that JSON does not have is none."""
    if isinstance(value, str):
        return mask_text(value.replace("\0", "\ufffd"))[0]
    if isinstance(value, list):
        return [masked(each) for each in value]
    if isinstance(value, Mapping):
        return {masked(str(name)): masked(each) for name, each in value.items()}
    return value


def batches(items: Sequence[T], size: int = BATCH) -> Iterator[Sequence[T]]:
    """The items in steps."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _counts_here(tx: Tx, agent_id: str, fact: str) -> bool:
    rows = tx.execute("SELECT 1 FROM mentions WHERE agent_id = ? AND fact_id = ? LIMIT 1", (agent_id, fact))
    return bool(rows)


def _first_seen(tx: Tx, agent_id: str, fact: str) -> int:
    rows = tx.execute("SELECT first_seen FROM facts WHERE agent_id = ? AND id = ?", (agent_id, fact))
    return int(rows[0][0] or 0) if rows else 0


def _take_reads(tx: Tx, agent_id: str, fact: str, given: Incoming) -> None:
    """The total of days is the larger of both; this device's own row grows by the difference."""
    ((total, last),) = tx.execute(
        "SELECT sum(days), max(last_day) FROM access WHERE agent_id = ? AND fact_id = ?", (agent_id, fact)
    )
    missing = given.reads - int(total or 0)
    if missing > 0:
        tx.run(
            "INSERT INTO access VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (agent_id, fact_id, device) DO UPDATE SET"
            " days = days + excluded.days, last_day = max(last_day, excluded.last_day), rev = excluded.rev",
            (agent_id, fact, tx.device, missing, max(int(last or 0), given.last_read), tx.next_rev()),
        )
        tx.touch(agent_id, fact)


def _has(tx: Tx, table: str, condition: str, *values: str) -> bool:
    return bool(tx.execute(f"SELECT 1 FROM {table} WHERE agent_id = ? AND {condition}", values))

"""Facts, hot items and tree nodes from another memory: what is known stays, what was forgotten stays forgotten."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from ..ingest.mask import mask_text
from ..ingest.parse import parse_statement
from ..model import Metadata, ParsedMention, fact_id
from ..store import Tx
from ..store.versions import Stated, name_facts, set_hot_item, set_tree_node, state_facts
from ..tiers.tree import segments
from .forgotten_words import Guard
from .places import merged

T = TypeVar("T")
Taken: TypeAlias = Literal["facts", "already_there", "kept_forgotten", "empty"]

BATCH = 200
"""Facts a transaction: about 60 ms on the store thread, most of it parsing."""
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
    stated: str = ""
    """The date on which it was stated last, as a mention has it, '' if that is not known."""
    verbatim: bool = False
    """Whether the text is a fact's text already, made by the text rule."""


class _Read(NamedTuple):
    """An incoming fact whose text was read; its id is '' for a text without words."""

    id: str
    text: str
    mention: ParsedMention
    given: Incoming


def take_fact(tx: Tx, agent_id: str, given: Incoming) -> tuple[Taken, str]:
    """`take_facts` for one that stays when the line of a MEMORY page goes that says it too."""
    return take_facts(tx, agent_id, [given], beside_pages=True)[0]


def take_facts(
    tx: Tx, agent_id: str, given: Sequence[Incoming], *, beside_pages: bool = False
) -> list[tuple[Taken, str]]:
    """State facts with their dates and reads; returns what became of each, and its id ('' for a text without words).

    A fact that is stated here is left as it is, but for an earlier date and more reads; with `beside_pages` one that
    only MEMORY pages state is stated for itself too.
    """
    read = [_read(agent_id, each) for each in given]
    keys = _JSON.encode(sorted({each.id for each in read if each.id})).decode()
    guard = Guard(tx, agent_id)
    forgotten = _ids(tx, "forgotten", "version > lifted_version", agent_id, keys)
    forgotten |= {each.id for each in read if each.id and guard.stops(_said(each.given))}
    stated = "path NOT GLOB 'MEMORY*'" if beside_pages else "true"
    known = _ids(tx, "mentions INDEXED BY mentions_fact", stated, agent_id, keys)
    new: dict[str, _Read] = {}
    for each in read:
        if each.id and each.id not in forgotten and each.id not in known:
            new.setdefault(each.id, each)
    if new:
        state_facts(tx, agent_id, [_stated(each, tx.store.clock.now_ms()) for each in new.values()])
    standing = [each for each in read if each.id and each.id not in forgotten]
    _take_dates(tx, agent_id, standing, keys)
    _take_reads(tx, agent_id, standing, keys)
    return [_taken(each, forgotten, is_new=new.get(each.id) is each) for each in read]


def _read(agent_id: str, given: Incoming) -> _Read:
    mention = parse_statement(given.text, given.category, given.importance)
    text = given.text if given.verbatim and masked(given.text) == given.text else mention.text
    return _Read(fact_id(agent_id, text) if text else "", text, mention, given)


def _said(given: Incoming) -> list[Any]:
    metadata = given.metadata
    return [given.text, given.category, metadata.urls, metadata.commands, metadata.paths]


def _taken(each: _Read, forgotten: set[str], *, is_new: bool) -> tuple[Taken, str]:
    if not each.id:
        return "empty", ""
    if each.id in forgotten:
        return "kept_forgotten", each.id
    return ("facts" if is_new else "already_there"), each.id


def _stated(each: _Read, now_ms: int) -> Stated:
    given, mention = each.given, each.mention
    return Stated(
        each.id, each.text, given.category if given.verbatim else mention.category, given.importance,
        merged(given.metadata, mention.metadata), given.kind or mention.kind, given.task_state, now_ms,
        given.stated,
    )  # fmt: skip


def take_hot_item(tx: Tx, agent_id: str, section: str, key: str, value: str | None, *, deleted: bool = False) -> bool:
    """Write an item of hot state unless this memory has, or had, one of that key, or it says something forgotten."""
    if _has(tx, "hot_items", "section = ? AND key = ?", agent_id, section, key):
        return False
    if Guard(tx, agent_id).stops([section, key, None if value is None else msgspec.json.decode(value)]):
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
    """Add a node unless this memory has, or had, one of that path, or it says something forgotten."""
    path = masked(path)
    if not segments(path):
        return False
    if _has(tx, "tree_nodes", "path = ?", agent_id, path) or Guard(tx, agent_id).stops([path, description]):
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


def _ids(tx: Tx, table: str, condition: str, agent_id: str, keys: str) -> set[str]:
    rows = tx.execute(
        f"SELECT fact_id FROM {table} WHERE agent_id = ? AND {condition}"
        " AND fact_id IN (SELECT value FROM json_each(?))",
        (agent_id, keys),
    )
    return {str(row[0]) for row in rows}


def _take_dates(tx: Tx, agent_id: str, facts: Sequence[_Read], keys: str) -> None:
    """The earlier date of first sight is the true one."""
    rows = tx.execute(
        "SELECT id, first_seen FROM facts WHERE agent_id = ? AND id IN (SELECT value FROM json_each(?))",
        (agent_id, keys),
    )
    seen = {str(fact): int(first or 0) for fact, first in rows}
    earlier: dict[str, _Read] = {}
    for each in facts:
        if each.given.first_seen < seen.get(each.id, 0):
            seen[each.id] = each.given.first_seen
            earlier[each.id] = each
    name_facts(
        tx, agent_id,
        [(agent_id, fact, each.text, each.given.first_seen, tx.next_rev()) for fact, each in earlier.items()],
    )  # fmt: skip


def _take_reads(tx: Tx, agent_id: str, facts: Sequence[_Read], keys: str) -> None:
    """The total of days is the larger of both; this device's own row grows by the difference."""
    rows = tx.execute(
        "SELECT fact_id, sum(days), max(last_day) FROM access WHERE agent_id = ?"
        " AND fact_id IN (SELECT value FROM json_each(?)) GROUP BY fact_id",
        (agent_id, keys),
    )
    reads = {str(fact): (int(total or 0), int(last or 0)) for fact, total, last in rows}
    for each in facts:
        total, last = reads.get(each.id, (0, 0))
        missing = each.given.reads - total
        if missing > 0:
            last = max(last, each.given.last_read)
            tx.run(
                "INSERT INTO access VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (agent_id, fact_id, device) DO UPDATE SET"
                " days = days + excluded.days, last_day = max(last_day, excluded.last_day), rev = excluded.rev",
                (agent_id, each.id, tx.device, missing, last, tx.next_rev()),
            )
            tx.touch(agent_id, each.id)
            reads[each.id] = (each.given.reads, last)


def _has(tx: Tx, table: str, condition: str, *values: str) -> bool:
    return bool(tx.execute(f"SELECT 1 FROM {table} WHERE agent_id = ? AND {condition}", values))

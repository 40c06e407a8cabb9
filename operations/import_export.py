"""`import`: takes in what `export` wrote. Known facts stay, forgotten ones stay forgotten, twice changes nothing."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache, partial

import msgspec

from ..clock import datable
from ..model import Metadata
from ..store import Store
from ..store.forget import forget_fact
from ..store.thread import Priority
from ..store.versions import is_forgotten, set_edit
from .export_file import Given, GivenFact, decode_fact, read_export
from .forgotten_words import Guard
from .memory import Memory
from .progress import report_progress
from .requests import ImportRequest
from .taking_in import Incoming, batches, masked, take_facts, take_hot_item, take_tree_node
from .tier_replies import ImportReply

_CARRIED_EDITS = ("after", "superseded_by", "merged_into", "pin", "distilled")
"""Edits that a fact's own values do not hold already."""
_NOTHING = Metadata()
_SHORT = 200
_ENCODER = msgspec.json.Encoder(order="deterministic")


async def import_export(memory: Memory, request: ImportRequest) -> ImportReply:
    """Take the file in, for the agent that the command names."""
    agent = request.agent_id
    given = await asyncio.to_thread(
        read_export, memory.workspace / request.file, agent, memory.settings.notes.max_ingest_bytes
    )
    reply = ImportReply(skipped=given.skipped, left_out=given.left_out)
    done = 0
    for some in batches(given.facts):
        await memory.thread.call(
            partial(_take, agent=agent, some=some, names=given.names, reply=reply), priority=Priority.BULK
        )
        done += len(some)
        report_progress(phase="importing", done=done, of=len(given.facts))
    await memory.thread.call(lambda store: _take_rest(store, agent, given, reply))
    memory.free_text.due = True
    await memory.settle([agent])
    return reply


def _take(store: Store, agent: str, some: Sequence[msgspec.Raw], names: dict[str, str], reply: ImportReply) -> None:
    facts = [decode_fact(each) for each in some]
    guard = Guard(store, agent)
    with store.transaction() as tx:
        outcomes = take_facts(tx, agent, [_incoming(each) for each in facts])
        for each, (taken, fact) in zip(facts, outcomes, strict=True):
            if taken == "empty":
                reply.skipped += 1
                continue
            setattr(reply, taken, getattr(reply, taken) + 1)
            if taken == "facts":
                for field in _CARRIED_EDITS:
                    value = each.edits.get(field)
                    if value is not None and not guard.stops(value):
                        set_edit(tx, agent, fact, field, _clean(names.get(value, value)))


def _incoming(given: GivenFact) -> Incoming:
    return Incoming(
        given.text, _clean(given.category), min(1.0, max(0.0, given.importance)),
        datable(min(given.first_seen, given.created_at) * 1000), given.reads, given.last_read,
        masked_metadata(given.metadata), _clean(given.kind), _clean(given.task_state),
        stated=_day_that_exists(given.stated), verbatim=True,
    )  # fmt: skip


def _clean(text: str) -> str:
    """A text without secrets and NULs; many facts share a short one."""
    return _clean_name(text) if len(text) <= _SHORT else str(masked(text))


@lru_cache(maxsize=1_024)
def _clean_name(text: str) -> str:
    return str(masked(text))


def _day_that_exists(date: str) -> str:
    try:
        datetime.fromisoformat(date)
    except ValueError:
        return ""  # none, or 30 February in an export that was edited by hand
    return date


def masked_metadata(metadata: Metadata) -> Metadata:
    """Metadata of somebody else's making, with secrets masked."""
    if metadata == _NOTHING:
        return metadata
    return msgspec.convert(masked(msgspec.to_builtins(metadata)), Metadata)


def _take_rest(store: Store, agent: str, given: Given, reply: ImportReply) -> None:
    with store.transaction() as tx:
        for item in given.items:
            in_facts = item.section in ("lessons", "events", "tasks")
            key = given.names.get(item.key, item.key) if in_facts else item.key
            value = None if item.value is None else _ENCODER.encode(masked(item.value)).decode()
            reply.hot_items += take_hot_item(tx, agent, _clean(item.section), _clean(key), value, deleted=item.deleted)
        for node in given.nodes:
            reply.tree_nodes += take_tree_node(tx, agent, node.path, node.description)
        for fact in given.forgotten if given.agent_id == agent else ():
            known = store.execute("SELECT 1 FROM facts WHERE agent_id = ? AND id = ?", (agent, fact))
            if not known and not is_forgotten(tx, agent, fact):
                forget_fact(tx, agent, fact)

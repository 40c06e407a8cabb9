"""`import-legacy`: the original skill's memory becomes memoryd's, with dates and counts, and twice changes nothing."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from ..clock import datable
from ..errors import NoInputError, UsageError
from ..store import Store, Tx
from ..store.thread import Priority
from ..tiers.changes import KIND_OF_SECTION
from ..tiers.counters import read_counters, write_counters
from ..tiers.tree import segments
from ..tiers.tree_edits import add_node
from .aliases import set_alias
from .forgotten_words import Guard
from .legacy_cloud import read_legacy_cloud
from .legacy_files import LegacyAgent, LegacyFact, LegacyItem, LegacyMemory, read_legacy
from .legacy_rest import left_there
from .memory import Memory
from .progress import report_progress
from .requests import ImportLegacyRequest
from .taking_in import Incoming, Taken, batches, masked, take_fact, take_facts, take_free, take_hot_item
from .tier_replies import LegacyReply

GENERAL = "general"
_JSON = msgspec.json.Encoder()


async def import_legacy(memory: Memory, request: ImportLegacyRequest) -> LegacyReply:
    """Take in every agent's files; notes that stand in this workspace are taken in first, so they own their facts."""
    folder = _workspace(memory, request)
    found = await asyncio.to_thread(read_legacy, folder, memory.settings.notes.max_ingest_bytes)
    if request.cloud:
        await read_legacy_cloud(memory, found)
    if not found.agents and not found.damaged:
        raise NoInputError(
            "There are no files of the original skill here.", "Name its workspace: memoryd import-legacy --from FOLDER"
        )
    await memory.rescan()
    reply = LegacyReply(sorted(found.agents), found.files)
    for agent in found.agents.values():
        await _take_agent(memory, agent, reply)
    _tell(reply, found)
    await memory.settle(found.agents)
    reply.notices += await asyncio.to_thread(left_there, folder, memory.workspace)
    return reply


def _workspace(memory: Memory, request: ImportLegacyRequest) -> Path:
    folder = memory.workspace / request.from_
    if not folder.is_dir():
        raise NoInputError(f"{folder} is no folder.", "Name the workspace of the original skill.")
    return folder


async def _take_agent(memory: Memory, agent: LegacyAgent, reply: LegacyReply) -> None:
    done = 0
    for some in batches(agent.facts):
        await memory.thread.call(
            partial(_take_facts, agent=agent.agent_id, some=some, reply=reply), priority=Priority.BULK
        )
        done += len(some)
        report_progress(phase=f"facts of {agent.agent_id}", done=done, of=len(agent.facts))
    await memory.thread.call(lambda store: _take_rest(store, memory, agent, reply))


def _take_facts(store: Store, agent: str, some: Sequence[LegacyFact], reply: LegacyReply) -> None:
    incoming = [
        Incoming(
            each.text, each.category or GENERAL, each.importance, _ms(store, each.created_at), each.access_count,
            metadata=msgspec.convert(masked(msgspec.to_builtins(each.metadata)), type(each.metadata)),
        )
        for each in some
    ]  # fmt: skip
    guard = Guard(store, agent)
    with store.transaction() as tx:
        for each, taken in zip(some, take_facts(tx, agent, incoming), strict=True):
            fact = _counted(taken, reply)
            if fact and each.id and each.id != fact and not guard.stops(each.id):
                set_alias(tx, agent, each.id, fact)


def _counted(outcome: tuple[Taken, str], reply: LegacyReply) -> str:
    """Count what became of a fact; its id, '' for one that is not there."""
    taken, fact = outcome
    if taken != "empty":
        setattr(reply, taken, getattr(reply, taken) + 1)
    return "" if taken == "kept_forgotten" else fact


def _take_rest(store: Store, memory: Memory, agent: LegacyAgent, reply: LegacyReply) -> None:
    with store.transaction() as tx:
        for item in agent.items:
            reply.hot_items += _take_item(tx, agent.agent_id, item, reply)
        for section, fields in agent.free.items():
            for name, content in fields.items():
                reply.hot_items += take_free(tx, agent.agent_id, section, name, content)
        for path, description in agent.nodes.items():
            reply.tree_nodes += _take_node(tx, memory, agent.agent_id, path, description, reply)
        _take_metrics(tx, agent)


def _take_item(tx: Tx, agent: str, item: LegacyItem, reply: LegacyReply) -> bool:
    """The fact of a lesson, event or task, and its place in hot state."""
    tasks = item.section == "tasks"
    incoming = Incoming(
        item.text, item.category or GENERAL, item.importance, _ms(tx.store, item.timestamp),
        kind=KIND_OF_SECTION[item.section], task_state=("done" if item.done else "open") if tasks else "",
    )  # fmt: skip
    fact = _counted(take_fact(tx, agent, incoming), reply)
    stamp = _JSON.encode({"timestamp": _ms(tx.store, item.timestamp) // 1000}).decode()
    return bool(fact) and take_hot_item(tx, agent, item.section, fact, stamp)


def _take_node(tx: Tx, memory: Memory, agent: str, path: str, description: str, reply: LegacyReply) -> bool:
    path = masked(path)
    known = tx.execute("SELECT 1 FROM tree_nodes WHERE agent_id = ? AND path = ?", (agent, "/".join(segments(path))))
    if known or Guard(tx, agent).stops([path, description]):
        return False
    try:
        add_node(tx, agent, path, description, memory.settings, masked)
    except UsageError as error:
        reply.notices.append(f"{error.message} The node was left out.")
        return False
    return True


def _take_metrics(tx: Tx, agent: LegacyAgent) -> None:
    """Counts become the larger of both; a last consolidation to come was added up (docs/original.md, F3)."""
    counters = read_counters(tx.store, agent.agent_id)
    counters.retrievals = max(counters.retrievals, int(agent.metrics.get("retrieval_count", 0)))
    counters.consolidations = max(counters.consolidations, int(agent.metrics.get("consolidation_count", 0)))
    last = agent.metrics.get("last_consolidation", 0.0)
    if last <= tx.store.clock.now_ms() / 1000:
        counters.last_consolidation = max(counters.last_consolidation, last)
    write_counters(tx, agent.agent_id, counters)


def _ms(store: Store, seconds: float | None) -> int:
    """A time in ms; without one, and for times to come, now."""
    now = store.clock.now_ms()
    return now if seconds is None else min(now, datable(seconds * 1000))


def _tell(reply: LegacyReply, found: LegacyMemory) -> None:
    reply.corrected = found.corrected
    reply.damaged = [{"file": file, "reason": reason} for file, reason in found.damaged.items()]
    reply.notices = found.notices + reply.notices

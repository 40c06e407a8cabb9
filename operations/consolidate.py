"""`consolidate`: the regular upkeep of each agent's memory, and its reports (docs/memory.md, 3).

Most of it happens with every change anyway: a fact leaves warm in the transaction that puts it into cold. So the
numbers count from the consolidation before, by commits: what was evicted, archived and taken in since then.
"""

import asyncio
from functools import partial
from typing import Any

from ..clock import day_number
from ..errors import MemorydError
from ..store import Store
from ..store.log import NEWER
from ..store.thread import Priority
from ..tiers.counters import read_counters, write_counters
from ..tiers.hot import hot_state
from ..tiers.tree_edits import prune
from .change_log import UPKEEP, recorded
from .consolidation_report import write_report
from .contradictions import settle_contradictions
from .llm import llm_of
from .memory import Memory
from .progress import report_progress
from .requests import ConsolidateRequest
from .tier_replies import ConsolidateReply
from .tree_words import describe_tree

MODES = ("quick", "daily", "monthly", "full")
_COUNT_ROWS = 4_000
_DERIVE_ROWS = 1_000
"""Facts that `full` derives between two moments in which others may write."""


async def consolidate(memory: Memory, request: ConsolidateRequest) -> ConsolidateReply:
    """Consolidate one agent's memory; each mode does what the ones before it do, and more."""
    agent, depth = request.agent_id, MODES.index(request.mode)
    endpoint = llm_of(memory.settings, request.llm_endpoint)
    reply = ConsolidateReply(request.mode, agent, memory.clock.now_ms() / 1000)
    if depth >= MODES.index("daily"):
        await _take_in(memory, reply)
    if depth >= MODES.index("full"):
        await _derive_all(memory, agent)
    await memory.settle([agent])
    reply.superseded = await settle_contradictions(memory, agent)
    if depth >= MODES.index("daily"):
        reply.pruned_nodes = len(await memory.thread.call(lambda store: _prune(store, memory, agent)))
    if depth >= MODES.index("monthly"):
        reply.tree_rebuilt, reply.described_nodes = await describe_tree(memory, agent, endpoint)
        reply.expired = await memory.thread.call(lambda store: _expired(store, agent), priority=Priority.READ)
    await memory.settle([agent])
    if depth >= MODES.index("daily"):
        await _count_notes(memory, agent, reply)
    await memory.thread.call(lambda store: _count(store, memory, agent, reply))
    if depth >= MODES.index("full"):
        reply.report = await write_report(memory, reply)
    return reply


async def consolidate_quick(memory: Memory) -> list[ConsolidateReply]:
    """Consolidate every agent of this memory; for the daemon's scheduler, every 2 h."""
    return await _all_agents(memory, "quick")


async def consolidate_daily(memory: Memory) -> list[ConsolidateReply]:
    """The same after local midnight."""
    return await _all_agents(memory, "daily")


async def consolidate_monthly(memory: Memory) -> list[ConsolidateReply]:
    """The same on the first of the month."""
    return await _all_agents(memory, "monthly")


async def last_consolidated(memory: Memory, mode: str) -> float | None:
    """When every agent was last consolidated in that mode or a deeper one [epoch seconds]; None = never."""
    modes = MODES[MODES.index(mode) :]

    def read(store: Store) -> float | None:
        return max((float(at) for each in modes if (at := store.meta(f"consolidated/{each}"))), default=None)

    return await memory.thread.call(read, priority=Priority.READ)


async def _all_agents(memory: Memory, mode: Any) -> list[ConsolidateReply]:
    agents = sorted({*memory.agents, memory.settings.agent_id})
    replies = [await consolidate(memory, ConsolidateRequest(agent_id=agent, mode=mode)) for agent in agents]

    def remember(store: Store) -> None:
        with store.transaction() as tx:
            tx.set_meta(f"consolidated/{mode}", str(memory.clock.now_ms() / 1000))

    await memory.thread.call(remember)
    return replies


async def _take_in(memory: Memory, reply: ConsolidateReply) -> None:
    try:
        await memory.rescan()
    except MemorydError as error:
        reply.ingest_error = error.message


async def _derive_all(memory: Memory, agent_id: str) -> None:
    """Derive every fact anew, in parts, so that a command in between waits for one part only."""
    after, done = 0, 0
    total = await memory.thread.call(lambda store: _facts(store, agent_id), priority=Priority.READ)
    while True:
        last, marked = await memory.thread.call(partial(_mark, agent_id=agent_id, after=after), priority=Priority.BULK)
        if not marked:
            return
        after, done = last, done + marked
        await memory.settle()
        report_progress(phase="deriving", done=done, of=total)
        await asyncio.sleep(0)


def _mark(store: Store, agent_id: str, after: int) -> tuple[int, int]:
    rows = store.execute(
        "SELECT n, id FROM facts NOT INDEXED WHERE agent_id = ? AND n > ? ORDER BY n LIMIT ?",
        (agent_id, after, _DERIVE_ROWS),
    )
    with store.transaction() as tx:
        for _, fact in rows:
            tx.touch(agent_id, str(fact))
    return (int(rows[-1][0] or 0) if rows else after), len(rows)


def _facts(store: Store, agent_id: str) -> int:
    ((count,),) = store.execute("SELECT count(*) FROM facts WHERE agent_id = ?", (agent_id,))
    return int(count or 0)


def _prune(store: Store, memory: Memory, agent_id: str) -> list[str]:
    with store.transaction() as tx, recorded(tx, agent_id, f"{UPKEEP}prune"):
        return prune(tx, agent_id, day_number(memory.clock.today()))


def _expired(store: Store, agent_id: str) -> int:
    ((count,),) = store.execute("SELECT count(*) FROM derived WHERE agent_id = ? AND state = 'expired'", (agent_id,))
    return int(count or 0)


def _count(store: Store, memory: Memory, agent_id: str, reply: ConsolidateReply) -> None:
    """Fill in what happened since the consolidation before, and begin to count anew."""
    with store.transaction() as tx:
        counters = read_counters(store, agent_id)
        reply.evicted_warm = reply.archived_cold = counters.evictions - counters.at_evictions
        reply.hot_size_bytes = hot_state(store, agent_id, day_number(memory.clock.today()), memory.settings).size_bytes
        counters.at_evictions = counters.evictions
        counters.consolidations += 1
        counters.last_consolidation = reply.timestamp
        write_counters(tx, agent_id, counters)


async def _count_notes(memory: Memory, agent_id: str, reply: ConsolidateReply) -> None:
    """Facts and repeated lines that notes brought since the last consolidation that counted them."""
    counters = await memory.thread.call(lambda store: read_counters(store, agent_id), priority=Priority.READ)
    facts, after, last = 0, counters.at_n, counters.at_n
    while True:
        step = partial(_new_facts, agent_id=agent_id, after=after)
        found, after, seen = await memory.thread.call(step, priority=Priority.READ)
        facts, last = facts + found, max(last, after)
        if seen < _COUNT_ROWS:
            break
    mentions = await memory.thread.call(
        lambda store: _new_mentions(store, agent_id, counters.at_rev), priority=Priority.READ
    )
    reply.ingested_facts, reply.ingest_skipped = facts, max(0, mentions - facts)

    def remember(store: Store) -> None:
        with store.transaction() as tx:
            now = read_counters(store, agent_id)
            now.at_n, now.at_rev = last, store.rev
            write_counters(tx, agent_id, now)

    await memory.thread.call(remember)


def _new_facts(store: Store, agent_id: str, after: int) -> tuple[int, int, int]:
    """Of the next rows: how many facts notes state, the last row, and how many rows there were."""
    ((found, last, seen),) = store.execute(
        "SELECT sum(EXISTS (SELECT 1 FROM mentions m WHERE m.agent_id = f.agent_id AND m.fact_id = f.id"
        " AND m.path <> '')), max(n), count(*) FROM (SELECT n, agent_id, id FROM facts NOT INDEXED"
        " WHERE n > ? AND agent_id = ? ORDER BY n LIMIT ?) f",
        (after, agent_id, _COUNT_ROWS),
    )
    return int(found or 0), int(last or after), int(seen or 0)


def _new_mentions(store: Store, agent_id: str, rev: int) -> int:
    ((count,),) = store.execute(
        f"SELECT count(*) FROM mentions INDEXED BY mentions_rev WHERE {NEWER} AND agent_id = ? AND path <> ''",
        (rev, agent_id),
    )
    return int(count or 0)

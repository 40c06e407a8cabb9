"""`retrieve`: facts of all tiers, best first, with their places, and honest about what is not in yet."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from ..clock import day_number
from ..search.rank import Found, find
from ..store import Store
from ..store.thread import Priority
from ..store.versions import record_access
from ..tiers.counters import count_reads, count_retrievals
from .memory import Memory
from .places import shown, standings
from .replies import Envelope, Hit
from .requests import RetrieveRequest

_JSON = msgspec.json.Encoder()
_UNCOUNTED = 20


async def retrieve(memory: Memory, request: RetrieveRequest) -> list[Hit] | Envelope:
    """Answer from all tiers. What is returned counts as read, at most once a day a fact."""
    if request.after_write:
        await memory.rescan()
    pending = memory.pending
    hits = await find_hits(memory, request)
    memory.later(count_answer(memory, request.agent_id, hits))
    if not request.envelope:
        return hits
    as_of = datetime.fromtimestamp(memory.clock.now_ms() / 1000, UTC).isoformat(timespec="milliseconds")
    return Envelope(as_of, pending, pending > 0 or not memory.is_fresh, hits)


async def find_hits(memory: Memory, request: RetrieveRequest) -> list[Hit]:
    """What the memory holds of a question, best first; nothing is counted."""
    return await memory.thread.call(lambda store: _hits(store, memory, request), priority=Priority.READ)


def _hits(store: Store, memory: Memory, request: RetrieveRequest) -> list[Hit]:
    agents = None if request.all_agents else [request.agent_id]
    found = find(store, request.query, agents=agents, limit=request.limit, today=day_number(memory.clock.today()))
    hits: dict[tuple[str, str], Hit] = {}
    for agent in {each.agent_id for each in found}:
        for hit in described(store, agent, [each for each in found if each.agent_id == agent]):
            hits[agent, hit.id] = hit
    return [hits[each.agent_id, each.fact_id] for each in found]


def described(store: Store, agent: str, found: Sequence[Found]) -> list[Hit]:
    """The live facts that were found, as hits, in no order."""
    by_id = {each.fact_id: each for each in found}
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT f.id, f.text, d.category, d.importance, d.created_at, d.access_days, d.score, d.tier, d.kind"
        " FROM derived d JOIN facts f ON f.n = d.n WHERE d.agent_id = ?"
        " AND d.fact_id IN (SELECT value FROM json_each(?))",
        (agent, _JSON.encode(list(by_id)).decode()),
    )
    standing = standings(store, agent, list(by_id))
    return [
        Hit(
            id=fact, text=text, category=category, importance=importance, created_at=created_at / 1000,
            access_count=access, score=score, metadata=shown(standing[fact].metadata), tier=tier,
            search_method=by_id[fact].method, relevance=by_id[fact].relevance, agent_id=agent, kind=kind,
            sources=standing[fact].sources,
        )
        for fact, text, category, importance, created_at, access, score, tier, kind in rows
    ]  # fmt: skip


async def count_answer(memory: Memory, agent_id: str, hits: Sequence[Hit]) -> None:
    """Count one answered question of an agent, and a read of each hit, at most one a day."""
    day = day_number(memory.clock.today())
    memory.uncounted[agent_id] += 1

    def write(store: Store) -> int:
        counted = 0
        with store.transaction() as tx:
            for agent in {hit.agent_id for hit in hits}:
                reads = record_access(tx, agent, [hit.id for hit in hits if hit.agent_id == agent], day)
                count_reads(tx, agent, reads)
                counted += reads
        # Questions alone are written a score at a time: each write waits for the disk.
        if counted or sum(memory.uncounted.values()) >= _UNCOUNTED:
            count_retrievals(store, memory.uncounted)
        return counted

    if await memory.thread.call(write):
        await memory.settle()

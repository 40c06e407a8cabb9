"""`metrics`: the memory in numbers, as the original skill shows them, each computed or counted where it happens."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from ..clock import day_number
from ..store import Store
from ..store.thread import Priority
from ..tiers.counters import read_counters
from ..tiers.hot import hot_state
from ..tiers.tiering import BYTES_PER_KB, tier_counts
from ..tiers.tree import size_bytes, tree
from .memory import Memory
from .requests import MetricsRequest
from .tier_replies import MetricsReply

BYTES_PER_TOKEN = 4
"""The usual estimate for English text."""
_LINE_BYTES = 3
"""What a line of a flat file adds to its words: `- ` and the line end."""
_ROWS = 10_000


async def metrics(memory: Memory, request: MetricsRequest) -> MetricsReply:
    """All fields of docs/original.md."""
    await memory.reads.write()
    flat = await flat_bytes(memory, request.agent_id)
    return await memory.thread.call(
        lambda store: _metrics(store, memory, request.agent_id, flat), priority=Priority.READ
    )


async def flat_bytes(memory: Memory, agent_id: str) -> int:
    """UTF-8 bytes of all live facts as one flat list: what an agent without tiers would have to load."""
    after: int | None = 0
    total = 0
    while after is not None:
        step: Callable[[Store], tuple[int, int | None]] = partial(_flat_step, agent_id=agent_id, after=after)
        size, after = await memory.thread.call(step, priority=Priority.READ)
        total += size
    return total


def _flat_step(store: Store, agent_id: str, after: int) -> tuple[int, int | None]:
    ((size, count, last),) = store.execute(
        "SELECT sum(octet_length(f.text)), count(*), max(d.n) FROM"
        " (SELECT n FROM derived NOT INDEXED WHERE n > ? AND agent_id = ? AND state = 'live' ORDER BY n LIMIT ?) d"
        " JOIN facts f ON f.n = d.n",
        (after, agent_id, _ROWS),
    )
    number = int(count or 0)
    return int(size or 0) + _LINE_BYTES * number, int(last or 0) if number == _ROWS else None


def _metrics(store: Store, memory: Memory, agent_id: str, flat: int) -> MetricsReply:
    counters = read_counters(store, agent_id)
    nodes = tree(store, agent_id, memory.settings)
    counts = tier_counts(store, agent_id)
    hot_bytes = hot_state(store, agent_id, day_number(memory.clock.today()), memory.settings).size_bytes
    tree_bytes = size_bytes(nodes)
    now = datetime.fromtimestamp(memory.clock.now_ms() / 1000, UTC).astimezone()
    return MetricsReply(
        tree_index_size_bytes=tree_bytes,
        tree_node_count=len(nodes),
        hot_memory_size_bytes=hot_bytes,
        warm_memory_count=counts["warm"],
        warm_memory_size_kb=round(counts["warm_bytes"] / BYTES_PER_KB, 1),
        retrieval_count=counters.retrievals,
        evictions_today=counters.evictions_today,
        reinforcements_today=counters.reinforcements_today,
        consolidation_count=counters.consolidations,
        last_consolidation=counters.last_consolidation,
        context_tokens_saved=max(0, flat - hot_bytes - tree_bytes) // BYTES_PER_TOKEN,
        timestamp=now.isoformat(timespec="seconds"),
        llm_fallbacks=counters.llm_fallbacks,
    )

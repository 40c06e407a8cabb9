"""The readable report of a full consolidation, in the state folder: never among the notes."""

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from ..clock import day_number
from ..model import TIERS
from ..store import Store
from ..store.thread import Priority
from ..tiers.hot import hot_state
from ..tiers.limits import agent_limits
from ..tiers.page import managed_block
from ..tiers.tiering import BYTES_PER_KB, tier_counts
from ..tiers.tree import show, tree
from .memory import Memory
from .tier_replies import ConsolidateReply

FOLDER = "reports"
_LARGEST = 10


async def write_report(memory: Memory, reply: ConsolidateReply) -> str:
    """Write the report; returns its path."""
    text = await memory.thread.call(lambda store: _report(store, memory, reply), priority=Priority.READ)
    stamp = datetime.fromtimestamp(reply.timestamp, UTC).strftime("%Y-%m-%dT%H%M%SZ")
    path = memory.places.state / FOLDER / f"consolidation-{reply.agent_id}-{stamp}.md"
    await asyncio.to_thread(_write, path, text)
    return str(path)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _report(store: Store, memory: Memory, reply: ConsolidateReply) -> str:
    agent, settings = reply.agent_id, memory.settings
    limits = agent_limits(store, agent, settings)
    counts = tier_counts(store, agent)
    hot = hot_state(store, agent, day_number(memory.clock.today()), settings)
    nodes = tree(store, agent, settings)
    numbers = msgspec.to_builtins(reply)
    text = "\n".join(
        [
            f"# Consolidation of {agent}",
            "",
            *(f"- {name.replace('_', ' ')}: {value}" for name, value in numbers.items() if name != "report"),
            "",
            "## Tiers",
            "",
            *(f"- {tier}: {counts[tier]:,} facts" for tier in TIERS),
            f"- warm size: {counts['warm_bytes']:,} of {limits.warm.max_kb * BYTES_PER_KB:,} bytes",
            f"- hot size: {hot.size_bytes:,} of {hot.max_bytes:,} bytes",
            *(f"- left out of hot state ({each['reason']}): {each['text']}" for each in hot.left_out),
            "",
            "## Tree",
            "",
            "```",
            show(nodes, limits.tree),
            "```",
            "",
            *_folded(store, agent, {node.path for node in nodes}),
        ]
    )
    # As a managed block, so that a copy among the notes is known as our own output (TR-7).
    return managed_block(text.replace("<!--", "<! --")) + "\n"


def _folded(store: Store, agent_id: str, paths: set[str]) -> list[str]:
    """Categories without a node of their own, which the tree's limits folded."""
    rows = store.execute(
        "SELECT category, count(*) FROM derived WHERE agent_id = ? AND state = 'live' GROUP BY category"
        " ORDER BY count(*) DESC",
        (agent_id,),
    )
    hidden = [(str(path), int(count or 0)) for path, count in rows if str(path) not in paths]
    if not hidden:
        return ["Every category has its own node."]
    largest = [f"- {path}: {count:,} facts" for path, count in hidden[:_LARGEST]]
    return [f"{len(hidden):,} categories show at the nearest node above them; the largest:", "", *largest]

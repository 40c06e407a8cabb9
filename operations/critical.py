"""One agent's hot state and tree, together: the cloud's `critical_state`, and the numbers of status."""

from typing import Any

from ..clock import Clock, day_number
from ..config import Settings
from ..model import TIERS
from ..store import Store
from ..tiers.hot import hot_state
from ..tiers.tiering import tier_counts
from ..tiers.tree import as_file, size_bytes, tree
from .replies import AgentStatus


def critical_state(store: Store, agent_id: str, clock: Clock, settings: Settings) -> dict[str, Any]:
    """`{"hot_state", "tree_nodes", "timestamp"}` as the original keeps it (docs/original.md); epoch seconds."""
    return {
        "hot_state": hot_state(store, agent_id, day_number(clock.today()), settings).state,
        "tree_nodes": as_file(tree(store, agent_id, settings)),
        "timestamp": clock.now_ms() / 1000,
    }


def agent_numbers(store: Store, agent_id: str, clock: Clock, settings: Settings) -> AgentStatus:
    """Facts by tier and the sizes of what is always loaded."""
    counts = tier_counts(store, agent_id)
    nodes = tree(store, agent_id, settings)
    return AgentStatus(
        facts={tier: counts[tier] for tier in TIERS},
        hot_bytes=hot_state(store, agent_id, day_number(clock.today()), settings).size_bytes,
        warm_bytes=counts["warm_bytes"],
        tree_nodes=len(nodes),
        tree_bytes=size_bytes(nodes),
    )

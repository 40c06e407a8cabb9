"""`tree`: show, add, remove and prune categories."""

from typing import Any

from ..clock import day_number
from ..errors import UsageError
from ..ingest.mask import mask_text
from ..store import Store
from ..store.thread import Priority
from ..tiers.limits import agent_limits
from ..tiers.tree import show, size_bytes, tree
from ..tiers.tree_edits import add_node, prune, remove_node
from .change_log import recorded
from .memory import Memory
from .requests import TreeRequest
from .tier_replies import TreeReply


async def tree_command(memory: Memory, request: TreeRequest) -> Any:
    """One change, or the tree: as text with `show`, else as data."""
    given = [bool(request.show), request.add is not None, bool(request.remove), request.prune]
    if sum(given) > 1:
        raise UsageError("tree does one thing at a time.", "Give one of --show, --add, --remove and --prune.")
    if request.add is None and not request.remove and not request.prune:
        return await memory.thread.call(lambda store: _shown(store, memory, request), priority=Priority.READ)
    reply = await memory.thread.call(lambda store: _change(store, memory, request))
    await memory.settle([request.agent_id])
    return reply


def _shown(store: Store, memory: Memory, request: TreeRequest) -> str | TreeReply:
    limits = agent_limits(store, request.agent_id, memory.settings).tree
    nodes = tree(store, request.agent_id, memory.settings)
    if request.show:
        return show(nodes, limits)
    return TreeReply(nodes, size_bytes(nodes), limits.max_size_bytes, limits.max_nodes)


def _change(store: Store, memory: Memory, request: TreeRequest) -> dict[str, Any]:
    agent, settings = request.agent_id, memory.settings
    with store.transaction() as tx, recorded(tx, agent, _named(request)):
        if request.add is not None:
            return {"path": add_node(tx, agent, *request.add, settings, lambda text: mask_text(text)[0]), "added": True}
        if request.remove:
            return {"path": remove_node(tx, agent, request.remove, settings), "removed": True}
        pruned = prune(tx, agent, day_number(memory.clock.today()))
        return {"pruned": len(pruned), "paths": pruned}


def _named(request: TreeRequest) -> str:
    if request.add is not None:
        return f"tree --add {request.add[0]}"
    return f"tree --remove {request.remove}" if request.remove else "tree --prune"

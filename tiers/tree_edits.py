"""Adding, removing and pruning nodes of the tree (`tree --add`, `--remove`, `--prune`)."""

from collections.abc import Callable

from ..config import Settings
from ..errors import NoInputError, UsageError
from ..store import Store, Tx
from ..store.versions import set_tree_node
from .limits import agent_limits
from .tree import DESCRIPTION_LIMIT, categories, segments, tree

PRUNE_DAYS = 60
"""A node without facts goes when nothing happened to it for this long."""


def add_node(tx: Tx, agent_id: str, path: str, description: str, settings: Settings, mask: Callable[[str], str]) -> str:
    """Add a node, or describe one anew; returns its path as it is kept. `mask` takes secrets out of the description.

    Raises `UsageError` for a path that is empty, too deep, or holds control characters or a secret.
    """
    parts = segments(path)
    limits = agent_limits(tx.store, agent_id, settings).tree
    if not parts or not path.isprintable():
        raise UsageError(f"{path!r} is no category path.", "Use words with / between them, e.g. projects/evoclaw.")
    if len(parts) > limits.max_depth:
        raise UsageError(f"{path!r} is deeper than {limits.max_depth} levels.", "Use a shorter path.")
    if mask(path) != path:
        raise UsageError("The category path holds what looks like a secret.", "Name the node by plain words.")
    kept = "/".join(parts)
    set_tree_node(tx, agent_id, kept, mask(" ".join(description.split()))[:DESCRIPTION_LIMIT])
    return kept


def remove_node(tx: Tx, agent_id: str, path: str, settings: Settings) -> str:
    """Remove an empty node; returns its path. Raises `UsageError` for an unknown one and one that is in use."""
    kept = "/".join(segments(path))
    known = _own_nodes(tx.store, agent_id)
    if kept not in known and all(node.path != kept for node in tree(tx.store, agent_id, settings)[1:]):
        raise NoInputError(f"The tree has no node {path!r}.", "memoryd tree --show lists them.")
    if any(is_below(each.path, kept) for each in categories(tx.store, agent_id)):
        raise UsageError(f"The node {kept!r} holds facts.", "A node goes when its last fact has gone.")
    if any(each != kept and is_below(each, kept) for each in known):
        raise UsageError(f"The node {kept!r} has nodes below it.", "Remove those first.")
    set_tree_node(tx, agent_id, kept, "", deleted=True)
    return kept


def prune(tx: Tx, agent_id: str, today: int) -> list[str]:
    """Remove nodes without facts here or below and without activity for 60 days; returns their paths."""
    used = [each.path for each in categories(tx.store, agent_id)]
    nodes = _own_nodes(tx.store, agent_id)
    fresh = [path for path, day in nodes.items() if today - day < PRUNE_DAYS]
    pruned = [path for path in nodes if not any(is_below(each, path) for each in (*used, *fresh))]
    for path in pruned:
        set_tree_node(tx, agent_id, path, "", deleted=True)
    return sorted(pruned)


def is_below(path: str, node: str) -> bool:
    """Whether a category lies at or below a node, by whole segments (docs/original.md, W9)."""
    parts = segments(node)
    return segments(path)[: len(parts)] == parts


def _own_nodes(store: Store, agent_id: str) -> dict[str, int]:
    """The nodes that somebody added or described, with the day of that (days since 1970)."""
    rows = store.execute(
        "SELECT path, CAST(substr(version, 1, 13) AS INTEGER) / 86400000 FROM tree_nodes"
        " WHERE agent_id = ? AND deleted = 0",
        (agent_id,),
    )
    return {str(path): int(day or 0) for path, day in rows}

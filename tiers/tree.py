"""The category tree: nodes from categories, limits kept by folding (docs/memory.md, 3).

A fact's category is never rewritten; where its node was folded, the fact counts at the nearest node above.
Folded first is the node with the oldest activity, then the one with the fewest facts, then by path. Activity
is the latest day on which a fact below was mentioned or read, or the node itself was added or described.
"""

import heapq
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from ..clock import MS_PER_DAY
from ..config import Settings, TreeSettings
from ..store import Store
from .limits import agent_limits

ROOT = "root"
"""How the original's file names the root; a category of that name is the root itself."""
SCHEMA_VERSION = "2.0"
DESCRIPTION_LIMIT = 100
"""Characters of a node's description (docs/original.md)."""

_SECONDS_PER_DAY = 86_400
_SHOWN_WIDTH = 50


class Category(msgspec.Struct):
    """The live facts of one category: how many are hot or warm, how many cold or frozen, and the last activity."""

    path: str
    warm: int = 0
    cold: int = 0
    last_day: int = 0


class TreeNode(msgspec.Struct):
    """One node. Counts hold all facts below it, as the seed's example does; `last_access` in epoch seconds, 0 = never.

    The root's path is ''. `children` are full paths in order.
    """

    path: str
    description: str
    warm_count: int
    cold_count: int
    children: list[str]
    last_access: float


def tree(store: Store, agent_id: str, settings: Settings) -> list[TreeNode]:
    """The agent's tree, the root first, then depth first by path; always within every limit."""
    limits = agent_limits(store, agent_id, settings).tree
    described = _described(store, agent_id)
    return build(categories(store, agent_id), described, limits)


def categories(store: Store, agent_id: str) -> list[Category]:
    """Counts and last activity of every category that has live facts; reading a fact is activity too."""
    rows = store.execute(
        "SELECT t.category, t.tier, t.facts, (SELECT max(d.latest_day) FROM derived d INDEXED BY derived_tier"
        " WHERE d.agent_id = t.agent_id AND d.state = 'live' AND d.tier = t.tier AND d.category = t.category),"
        " (SELECT max(d.last_read) FROM derived d INDEXED BY derived_read WHERE d.agent_id = t.agent_id"
        " AND d.state = 'live' AND d.last_read > 0 AND d.category = t.category) FROM totals t WHERE t.agent_id = ?",
        (agent_id,),
    )
    found: dict[str, Category] = {}
    for path, tier, count, mentioned, read in rows:
        one = found.setdefault(str(path), Category(str(path)))
        one.last_day = max(one.last_day, int(mentioned or 0), int(read or 0))
        if tier in ("hot", "warm"):
            one.warm += int(count or 0)
        else:
            one.cold += int(count or 0)
    return list(found.values())


def build(facts: Iterable[Category], described: dict[str, tuple[str, int]], limits: TreeSettings) -> list[TreeNode]:
    """The tree of these categories and of the paths that somebody described (path → description, day)."""
    root = _Node("")
    for each in facts:
        root.place(segments(each.path)[: limits.max_depth]).count(each.warm, each.cold, each.last_day)
    for path, (description, day) in described.items():
        node = root.place(segments(path)[: limits.max_depth])
        node.description = description
        node.count(0, 0, day)
    root.sum_up()
    _fold_wide(root, limits.max_children)
    _fold_many(root, limits)
    return [node.as_row() for node in root.walk()]


def segments(path: str) -> list[str]:
    """The parts of a category path below the root; empty ones do not count."""
    parts = [part for part in (each.strip() for each in path.split("/")) if part]
    return parts[1:] if parts[:1] == [ROOT] else parts


def node_line(node: TreeNode) -> str:
    """The line whose bytes the size limit counts: `path — description`."""
    return f"{node.path} — {node.description}"


def size_bytes(nodes: Iterable[TreeNode]) -> int:
    """UTF-8 bytes of all lines with their line ends, the root aside."""
    return sum(len(node_line(each).encode()) + 1 for each in nodes if each.path)


def nearest(nodes: Iterable[TreeNode], category: str) -> str:
    """The path of the node at which a fact of this category shows, '' for the root."""
    paths = {each.path for each in nodes}
    parts = segments(category)
    while parts and "/".join(parts) not in paths:
        parts.pop()
    return "/".join(parts)


def show(nodes: list[TreeNode], limits: TreeSettings) -> str:
    """The text of `tree --show`, as in the seed."""
    root = nodes[0]
    lines = ["Memory Tree Index", "=" * _SHOWN_WIDTH, f"📂 Root (warm:{root.warm_count}, cold:{root.cold_count})"]
    for node in nodes[1:]:
        indent = "  " * (node.path.count("/") + 1)
        lines.append(f"{indent}📁 {node_line(node)}")
        lines.append(f"{indent}   Memories: warm={node.warm_count}, cold={node.cold_count}")
    lines += [
        "",
        f"Nodes: {len(nodes)}/{limits.max_nodes}",
        f"Size: {size_bytes(nodes)} / {limits.max_size_bytes} bytes",
    ]
    return "\n".join(lines)


def as_file(nodes: Iterable[TreeNode]) -> dict[str, Any]:
    """The original's file (docs/original.md): a flat object of nodes, `_schema_version` among them."""
    flat: dict[str, Any] = {
        node.path or ROOT: {
            "desc": node.description,
            "warm_count": node.warm_count,
            "cold_count": node.cold_count,
            "last_access": node.last_access,
            "children": node.children,
        }
        for node in nodes
    }
    return flat | {"_schema_version": SCHEMA_VERSION}


class _Node:
    """A node while the tree is built."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.description = ""
        self.warm = 0
        self.cold = 0
        self.last_day = 0
        self.children: dict[str, _Node] = {}

    def place(self, parts: list[str]) -> "_Node":
        """The node below this one at `parts`, made if need be."""
        node = self
        for part in parts:
            if part not in node.children:
                node.children[part] = _Node(f"{node.path}/{part}" if node.path else part)
            node = node.children[part]
        return node

    def count(self, warm: int, cold: int, day: int) -> None:
        """Add facts and activity to this node."""
        self.warm += warm
        self.cold += cold
        self.last_day = max(self.last_day, day)

    def sum_up(self) -> None:
        """Let every node count what is below it."""
        for child in self.children.values():
            child.sum_up()
            self.count(child.warm, child.cold, child.last_day)

    def walk(self) -> "Iterator[_Node]":
        """This node and all below, depth first by path."""
        yield self
        for _, child in sorted(self.children.items()):
            yield from child.walk()

    @property
    def activity(self) -> tuple[int, int, str]:
        """The smaller, the sooner it is folded."""
        return self.last_day, self.warm + self.cold, self.path

    def as_row(self) -> TreeNode:
        """The node as others see it."""
        return TreeNode(
            path=self.path,
            description=self.description or _default_description(self.path),
            warm_count=self.warm,
            cold_count=self.cold,
            children=[child.path for _, child in sorted(self.children.items())],
            last_access=float(self.last_day * _SECONDS_PER_DAY),
        )


def _fold_wide(node: _Node, max_children: int) -> None:
    """Of too many children the least active go, with all below them; their facts are in the sums already."""
    ordered = sorted(node.children.items(), key=lambda pair: pair[1].activity, reverse=True)
    node.children = dict(ordered[: max(0, max_children)])
    for child in node.children.values():
        _fold_wide(child, max_children)


def _fold_many(root: _Node, limits: TreeSettings) -> None:
    """While there are too many nodes or bytes, fold the least active leaf."""
    nodes = list(root.walk())
    parents = {child.path: node for node in nodes for child in node.children.values()}
    number, size = len(nodes), size_bytes(node.as_row() for node in nodes)
    leaves = [(node.activity, node) for node in nodes if node is not root and not node.children]
    heapq.heapify(leaves)
    while leaves and (number > limits.max_nodes or size > limits.max_size_bytes):
        _, leaf = heapq.heappop(leaves)
        parent = parents[leaf.path]
        del parent.children[leaf.path.rpartition("/")[2]]
        number, size = number - 1, size - size_bytes([leaf.as_row()])
        if parent is not root and not parent.children:
            heapq.heappush(leaves, (parent.activity, parent))


def added_paths(store: Store) -> dict[str, list[str]]:
    """The paths that somebody added or described, by agent: what new notes are sorted into by their words."""
    found: dict[str, list[str]] = {}
    for agent, path in store.execute("SELECT agent_id, path FROM tree_nodes WHERE deleted = 0 AND path <> ''"):
        found.setdefault(str(agent), []).append(str(path))
    return found


def _default_description(path: str) -> str:
    """The last segment in words, as the original makes it."""
    return path.rpartition("/")[2].replace("_", " ").title()[:DESCRIPTION_LIMIT] if path else "Root"


def _described(store: Store, agent_id: str) -> dict[str, tuple[str, int]]:
    rows = store.execute(
        "SELECT path, description, version FROM tree_nodes WHERE agent_id = ? AND deleted = 0", (agent_id,)
    )
    return {str(path): (str(text), int(str(version)[:13]) // MS_PER_DAY) for path, text, version in rows}

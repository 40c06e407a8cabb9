"""What the tree's nodes are said to be about: a word of a description leads to the facts of its node."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from ..store import Store
from .candidates import Scope, Weighed
from .tokens import index_tokens

NODES = 400
"""Described nodes that are looked at; one agent's tree holds 50 at most."""
PLACES = 20
"""Categories, each in one tier, at and below a node whose newest facts are looked at: those with most facts."""


class Node(msgspec.Struct, frozen=True):
    """One described node: whose, where, the tokens of its description, and where its facts stand."""

    agent_id: str
    path: str
    tokens: tuple[str, ...]
    places: tuple[tuple[str, str], ...]
    """Categories and tiers."""
    facts: int
    """How many live facts stand at and below it."""

    def covers(self, agent_id: str, category: str) -> bool:
        """Whether a fact of that category is at or below the node."""
        return self.agent_id == agent_id and f"{category}/".startswith(f"{self.path}/")


def nodes_about(store: Store, scope: Scope, terms: Iterable[Weighed]) -> list[Node]:
    """The nodes with facts whose description holds one of the terms; one Chinese character says too little."""
    asked = {each.term.text for each in terms if len(each.term.text) > 1}
    marks = ", ".join("?" * len(scope.agents or ()))
    owned = f" AND agent_id IN ({marks})" if scope.agents is not None else ""
    rows = store.execute(
        f"SELECT agent_id, path, description FROM tree_nodes WHERE deleted = 0 AND path <> ''{owned} LIMIT {NODES}",
        scope.values,
    )
    found = []
    for agent, path, description in rows:
        tokens = _tokens(str(description))
        if not asked.isdisjoint(tokens):
            node = _node(store, str(agent), str(path), tokens)
            found += [node] if node.facts else []
    return found


def spoken(terms: Sequence[Weighed], nodes: Sequence[Node]) -> list[Weighed]:
    """The terms that stand in no fact but in descriptions, counted by the facts of those nodes."""
    absent = [each.term for each in terms if not each.count]
    counts = {term: sum(node.facts for node in nodes if term.text in node.tokens) for term in absent}
    return [Weighed(term, count) for term, count in counts.items() if count]


def of_nodes(store: Store, scope: Scope, nodes: Sequence[Node]) -> list[int]:
    """The newest facts of the nodes, at most `scope.kept` of each."""
    found: list[int] = []
    sql = (
        "SELECT n, latest_day FROM derived WHERE agent_id = ? AND state = 'live' AND tier = ? AND category = ?"
        f" ORDER BY latest_day DESC LIMIT {scope.kept}"
    )
    for node in nodes:
        rows = [row for category, tier in node.places for row in store.execute(sql, (node.agent_id, tier, category))]
        newest = sorted(rows, key=lambda row: (row[1], row[0]), reverse=True)
        found += [n for n, _ in newest[: scope.kept] if isinstance(n, int)]
    return found


def widened(nodes: Sequence[Node], agent_id: str, category: str, tokens: str) -> str:
    """The tokens of a fact's category, and those of the nodes that it belongs to."""
    return " ".join([tokens, *(token for node in nodes if node.covers(agent_id, category) for token in node.tokens)])


def _node(store: Store, agent_id: str, path: str, tokens: tuple[str, ...]) -> Node:
    # Half-open: all that begins with `path/`, as 0 is the character after /.
    rows = store.execute(
        "SELECT category, tier, facts FROM totals WHERE agent_id = ? AND facts > 0"
        " AND (category = ? OR (category > ? AND category < ?)) ORDER BY facts DESC",
        (agent_id, path, f"{path}/", f"{path}0"),
    )
    places = tuple((str(category), str(tier)) for category, tier, _ in rows[:PLACES])
    return Node(agent_id, path, tokens, places, sum(int(facts or 0) for *_, facts in rows))


@lru_cache(maxsize=512)
def _tokens(description: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(index_tokens(description)))

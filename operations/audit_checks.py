"""What `audit` looks at, in steps that let others in between."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from ..clock import day_number
from ..config import Settings
from ..model import TIERS, Derived
from ..store import Store
from ..tiers.derive import derive
from ..tiers.hot import hot_facts, hot_state
from ..tiers.limits import Limits, agent_limits
from ..tiers.ranking import Ranking
from ..tiers.score import FROZEN_BELOW, age_of, score
from ..tiers.tiering import BYTES_PER_KB, tier_counts, warm_facts
from ..tiers.tree import size_bytes, tree
from .memory import Memory
from .tier_replies import AgentAudit

Off: TypeAlias = tuple[str, str]
"""What is off, and where."""

_ROWS = 400
_STATES = ("retracted", "superseded", "merged", "forgotten", "expired")
_SCORE_SLACK = 0.0002
"""Stored scores are rounded to four digits."""
STRAYS = {
    "derived values belong to no fact": (
        "SELECT d.fact_id FROM derived d LEFT JOIN facts f ON f.n = d.n WHERE f.n IS NULL OR f.id <> d.fact_id"
    ),
    "words of a forgotten fact are still here": (
        "SELECT f.id FROM forgotten g JOIN facts f ON f.agent_id = g.agent_id AND f.id = g.fact_id"
        " WHERE g.version > g.lifted_version"
    ),
    "an index entry belongs to no fact": (
        "SELECT i.id FROM (SELECT id FROM search_index_docsize UNION ALL SELECT id FROM url_index_docsize) i"
        " LEFT JOIN facts f ON f.n = i.id WHERE f.n IS NULL"
    ),
    "a note's row counts other mentions than there are": (
        "SELECT n.path FROM notes n WHERE n.device = (SELECT v FROM meta WHERE k = 'device') AND n.mentions <>"
        " (SELECT count(*) FROM mentions m WHERE m.agent_id = n.agent_id AND m.device = n.device AND m.path = n.path)"
    ),
    "the totals do not count what there is": (
        "SELECT agent_id || ' ' || category || ' ' || tier FROM (SELECT agent_id, category, tier, count(*) AS facts,"
        " sum(octet_length(distilled)) AS bytes FROM derived WHERE state = 'live' GROUP BY agent_id, category, tier"
        " UNION ALL SELECT agent_id, category, tier, facts, bytes FROM totals)"
        " GROUP BY agent_id, category, tier, facts, bytes HAVING count(*) <> 2"
    ),
}
"""Rows that belong to nothing or count wrongly, with the question that finds them."""
_JSON = msgspec.json.Encoder()


def audited_agents(store: Store) -> list[str]:
    """Every agent that has facts, tombstones or hot items."""
    rows = store.execute(
        "SELECT agent_id FROM facts UNION SELECT agent_id FROM forgotten"
        " UNION SELECT agent_id FROM hot_items ORDER BY 1"
    )
    return [str(row[0]) for row in rows]


def facts_off(store: Store, agent_id: str, after: int, today: int, settings: Settings) -> tuple[list[Off], int | None]:
    """Compare a batch of facts with what their rows say today; facts that wait to be derived are left out.

    Returns what is off, and the row to go on after, None at the end.
    """
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT n, id FROM facts NOT INDEXED WHERE agent_id = ? AND n > ? AND NOT EXISTS (SELECT 1 FROM dirty d"
        " WHERE d.agent_id = facts.agent_id AND d.fact_id = facts.id) ORDER BY n LIMIT ?",
        (agent_id, after, _ROWS),
    )
    stored = _stored(store, agent_id, [fact for _, fact in rows])
    indexed = _indexed(store, [n for n, _ in rows])
    scoring = agent_limits(store, agent_id, settings).scoring
    found: list[Off] = []
    for each in derive(store, agent_id, [fact for _, fact in rows], today, settings):
        row = stored.get(each.fact_id)
        if row is None:
            found.append(("a fact has no derived values", each.fact_id))
            continue
        exact = score(each.importance, age_of(each.latest_day, each.on_page, today), each.access_days, scoring)
        found += [(what, each.fact_id) for what in _differences(each, row, exact, indexed=row.n in indexed)]
    return found, rows[-1][0] if len(rows) == _ROWS else None


class _Stored(NamedTuple):
    """What the store holds of a fact's derived values."""

    n: int
    state: str
    tier: str
    score: float
    category: str
    importance: float
    reads: int


def _stored(store: Store, agent_id: str, facts: Sequence[str]) -> dict[str, _Stored]:
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT fact_id, n, state, tier, score, category, importance, access_days FROM derived WHERE agent_id = ?"
        " AND fact_id IN (SELECT value FROM json_each(?))",
        (agent_id, _JSON.encode(facts).decode()),
    )
    return {row[0]: _Stored(*row[1:]) for row in rows}


def _indexed(store: Store, numbers: Sequence[int]) -> set[int]:
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT i.id FROM json_each(?) w CROSS JOIN search_index_docsize i ON i.id = w.value",
        (_JSON.encode(numbers).decode(),),
    )
    return {row[0] for row in rows}


def _differences(each: Derived, row: _Stored, exact: float, *, indexed: bool) -> Iterator[str]:
    said = (each.state, each.category, each.importance, each.access_days)
    if (row.state, row.category, row.importance, row.reads) != said:
        yield "derived values do not follow from the rows"
    if indexed != (row.state == "live"):
        yield "the index does not hold exactly the live facts"
    if row.state != "live":
        if row.tier != "":
            yield "a fact that is not live has a tier"
        return
    if row.tier not in TIERS:
        yield "a live fact has no tier"
    if abs(row.score - exact) > _SCORE_SLACK:
        yield "a score is not today's"
    elif row.tier in ("cold", "frozen") and (row.tier == "cold") != (exact >= FROZEN_BELOW):
        yield "a fact is in the wrong one of cold and frozen"


def whole(store: Store, memory: Memory, agent_id: str) -> tuple[AgentAudit, list[Off]]:
    """Counts, balance, the sets of hot and warm, and the limits."""
    limits = agent_limits(store, agent_id, memory.settings)
    today = day_number(memory.clock.today())
    counts = _counts(store, agent_id)
    ((ingested,),) = store.execute(
        "SELECT (SELECT count(*) FROM facts f WHERE f.agent_id = ?) + (SELECT count(*) FROM forgotten g"
        " WHERE g.agent_id = ? AND g.version > g.lifted_version AND NOT EXISTS"
        " (SELECT 1 FROM facts f WHERE f.agent_id = g.agent_id AND f.id = g.fact_id))",
        (agent_id, agent_id),
    )
    sizes = _sizes(store, memory, agent_id, limits, today)
    total = int(ingested or 0)
    numbers = AgentAudit(total, total == sum(counts.values()), counts, sizes)
    found = [(f"{name} is over its limit", f"{each['is']} of {each['limit']}") for name, each in sizes.items()
             if each["is"] > each["limit"]]  # fmt: skip
    if not numbers.balanced:
        found.append(
            ("the balance does not hold", f"{numbers.ingested} ingested, {sum(counts.values())} accounted for")
        )
    return numbers, found + _misplaced(store, agent_id, limits, today)


def _counts(store: Store, agent_id: str) -> dict[str, int]:
    counts = dict.fromkeys((*TIERS, *_STATES), 0)
    rows = store.execute(
        "SELECT state, tier, count(*) FROM derived WHERE agent_id = ? GROUP BY state, tier", (agent_id,)
    )
    for state, tier, number in rows:
        counts[str(tier if state == "live" else state)] = int(number or 0)
    ((tombstones,),) = store.execute(
        "SELECT count(*) FROM forgotten WHERE agent_id = ? AND version > lifted_version", (agent_id,)
    )
    counts["forgotten"] = int(tombstones or 0)
    return counts


def _sizes(store: Store, memory: Memory, agent_id: str, limits: Limits, today: int) -> dict[str, dict[str, int]]:
    nodes = tree(store, agent_id, memory.settings)
    hot = hot_state(store, agent_id, today, memory.settings)
    warm = tier_counts(store, agent_id)["warm_bytes"]
    return {
        "hot_bytes": {"is": hot.size_bytes, "limit": hot.max_bytes},
        "warm_bytes": {"is": warm, "limit": limits.warm.max_kb * BYTES_PER_KB},
        "tree_nodes": {"is": len(nodes), "limit": limits.tree.max_nodes},
        "tree_bytes": {"is": size_bytes(nodes), "limit": limits.tree.max_size_bytes},
        "tree_children": {
            "is": max((len(node.children) for node in nodes), default=0), "limit": limits.tree.max_children,
        },
    }  # fmt: skip


def _misplaced(store: Store, agent_id: str, limits: Limits, today: int) -> list[Off]:
    """Facts whose tier is not the one that hot state and the warm tier give them today."""
    ranking = Ranking(store, agent_id, today, limits.scoring)
    hot = hot_facts(store, agent_id, ranking, limits)
    warm = {each.fact_id for each in warm_facts(ranking, limits, today, hot)}
    rows = store.execute(
        "SELECT fact_id, tier FROM derived WHERE agent_id = ? AND state = 'live' AND tier IN ('hot', 'warm')",
        (agent_id,),
    )
    now = {str(fact): str(tier) for fact, tier in rows}
    wanted = dict.fromkeys(warm, "warm") | dict.fromkeys(hot, "hot")
    return [
        (f"a fact is {now.get(fact, 'neither hot nor warm')} and should be {wanted.get(fact, 'neither hot nor warm')}",
         fact)
        for fact in sorted(now.keys() | wanted.keys()) if now.get(fact) != wanted.get(fact)
    ]  # fmt: skip


def strays(store: Store, what: str) -> list[str]:
    """Where one of `STRAYS` is found."""
    return [str(row[0]) for row in store.execute(STRAYS[what])]

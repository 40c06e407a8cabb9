"""Every live fact has exactly one tier (docs/memory.md, 3, docs/data.md, 3).

hot = hot state holds it; else warm, if it is recent or strong and fits into the warm tier by
(score, id); else cold or frozen by its own score. A fact gets its own tier when it is derived;
`retier` then moves only what enters or leaves hot and warm.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

import msgspec

from ..clock import MS_PER_DAY
from ..config import ScoringSettings, Settings
from ..model import TIERS, Derived, Tier
from ..store import Store, Tx
from .counters import count_evictions
from .hot import hot_facts
from .limits import Limits, agent_limits
from .ranking import Ranked, Ranking
from .score import FROZEN_BELOW, age_of, days_above, score

BYTES_PER_KB = 1000
"""`warm.max_kb` counts units of 1,000 bytes."""
REST_BATCH = 500
"""Facts a step of the day change: about 20 ms on the store thread."""
MOVES = 400
"""Facts that one call of `retier` moves at most: about 20 ms on the store thread."""
_SCORE_DIGITS = 4
"""Stored scores are rounded, so that old facts whose score hardly moves need no daily write."""

_JSON = msgspec.json.Encoder()

NoTier: TypeAlias = Literal[""]


def own_tier(derived: Derived, today: int, scoring: ScoringSettings) -> tuple[float, Tier | NoTier]:
    """Score and tier of a fact by itself, cold or frozen; no tier for a fact that is not live."""
    if derived.state != "live":
        return 0.0, ""
    age = age_of(derived.latest_day, derived.on_page, today)
    return _placed(score(derived.importance, age, derived.access_days, scoring))


def retier(tx: Tx, agent_id: str, today: int, settings: Settings) -> bool:
    """Move what enters or leaves hot and warm today; everything else keeps its own tier.

    Reads hot and warm as they are and as they should be, not the rest of memory. Moves at most
    `MOVES` facts, what leaves first, so that warm is never over its limit; returns whether more wait.
    """
    limits = agent_limits(tx.store, agent_id, settings)
    ranking = Ranking(tx.store, agent_id, today, limits.scoring)
    hot = hot_facts(tx.store, agent_id, ranking, limits)
    warm = {each.fact_id for each in warm_facts(ranking, limits, today, hot)}
    wanted: dict[str, Tier] = {**dict.fromkeys(warm, "warm"), **dict.fromkeys(hot, "hot")}
    rows = tx.execute(
        "SELECT fact_id, tier FROM derived WHERE agent_id = ? AND state = 'live' AND tier IN ('hot', 'warm')",
        (agent_id,),
    )
    now = {str(fact): str(tier) for fact, tier in rows}
    leaving = [fact for fact in now if fact not in wanted]
    entering = [fact for fact, tier in wanted.items() if now.get(fact) != tier]
    step = (leaving + entering)[:MOVES]
    _put_back(tx, agent_id, [fact for fact in step if fact not in wanted], today, limits.scoring)
    _move(tx, agent_id, {fact: wanted[fact] for fact in step if fact in wanted})
    count_evictions(tx, agent_id, sum(fact not in wanted and now.get(fact) == "warm" for fact in step))
    return len(leaving) + len(entering) > MOVES


def retier_rest(
    tx: Tx, agent_id: str, today: int, settings: Settings, *, after: int = 0, limit: int = REST_BATCH
) -> int | None:
    """One step of the day change: new scores, cold or frozen, for the next `limit` live facts after row `after`.

    Returns the row to go on after, None when done, at once if the day was walked before, e.g. by a daemon
    that was started again. Hot and warm facts keep their tier until `retier`. Facts that may have expired
    are marked for deriving.
    """
    limits = agent_limits(tx.store, agent_id, settings)
    scoring = limits.scoring
    walked = f"{today} {limits.expiry_days} {_JSON.encode(scoring).decode()}"
    if tx.store.meta(f"tiers/{agent_id}") == walked:
        return None
    rows = tx.execute(
        "SELECT n, importance, latest_day, on_page, access_days, score, tier, state FROM derived NOT INDEXED"
        " WHERE n > ? AND agent_id = ? ORDER BY n LIMIT ?",
        (after, agent_id, limit),
    )
    changed: list[tuple[int, float, str]] = []
    for n, importance, day, on_page, access, old_score, old_tier, state in rows:
        if state != "live":
            continue
        age = age_of(int(day or 0), bool(on_page), today)
        new_score, tier = _placed(score(float(importance or 0), age, int(access or 0), scoring))
        kept = str(old_tier) if old_tier in ("hot", "warm") else tier
        if (new_score, kept) != (old_score, old_tier):
            changed.append((int(n or 0), new_score, kept))
    _write(tx, changed)
    last = int(rows[-1][0] or 0) if rows else after
    _touch_expiring(tx, agent_id, today - limits.expiry_days, after, last)
    if len(rows) == limit:
        return last
    tx.set_meta(f"tiers/{agent_id}", walked)
    return None


def tier_counts(store: Store, agent_id: str) -> dict[str, int]:
    """How many live facts each tier has, and `warm_bytes`, the UTF-8 size of their distilled text in warm."""
    rows = store.execute(
        "SELECT tier, sum(facts), sum(bytes) FROM totals WHERE agent_id = ? GROUP BY tier", (agent_id,)
    )
    sizes = {str(tier): int(size or 0) for tier, _, size in rows}
    counts: dict[str, int] = dict.fromkeys(TIERS, 0) | {str(tier): int(facts or 0) for tier, facts, _ in rows}
    return counts | {"warm_bytes": sizes.get("warm", 0)}


def warm_facts(ranking: Ranking, limits: Limits, today: int, hot: Iterable[str]) -> list[Ranked]:
    """What is warm: strong or recent facts that are not hot, best first, until the warm tier is full."""
    warm, held = limits.warm, set(hot)
    days = max(warm.retention_days, days_above(warm.eviction_threshold, limits.scoring))

    def keep(each: Ranked) -> bool:
        return each.score >= warm.eviction_threshold or each.age_days <= warm.retention_days

    found: list[Ranked] = []
    room = warm.max_kb * BYTES_PER_KB
    for each in ranking.best(today - days, keep):
        if each.fact_id in held:
            continue
        room -= each.size
        if room < 0:
            break
        found.append(each)
    return found


def _placed(exact: float) -> tuple[float, Tier]:
    return round(exact, _SCORE_DIGITS), "cold" if exact >= FROZEN_BELOW else "frozen"


def _move(tx: Tx, agent_id: str, moves: Mapping[str, Tier]) -> None:
    for tier in sorted(set(moves.values())):
        facts = [fact for fact, target in moves.items() if target == tier]
        tx.run(
            "UPDATE derived INDEXED BY derived_fact SET tier = ?"
            " WHERE agent_id = ? AND fact_id IN (SELECT value FROM json_each(?))",
            (tier, agent_id, _JSON.encode(facts).decode()),
        )


def _put_back(tx: Tx, agent_id: str, facts: list[str], today: int, scoring: ScoringSettings) -> None:
    """Give facts that left hot or warm their own tier: leaving warm means arriving in cold (README, promise 2)."""
    rows = tx.execute(
        "SELECT n, importance, latest_day, on_page, access_days FROM derived INDEXED BY derived_fact"
        " WHERE agent_id = ? AND fact_id IN (SELECT value FROM json_each(?))",
        (agent_id, _JSON.encode(facts).decode()),
    )
    changed: list[tuple[int, float, str]] = []
    for n, importance, day, on_page, access in rows:
        age = age_of(int(day or 0), bool(on_page), today)
        changed.append((int(n or 0), *_placed(score(float(importance or 0), age, int(access or 0), scoring))))
    _write(tx, changed)


def _write(tx: Tx, changed: list[tuple[int, float, str]]) -> None:
    if changed:
        tx.run(
            "UPDATE derived SET score = new.value ->> 1, tier = new.value ->> 2 FROM json_each(?) new"
            " WHERE derived.n = new.value ->> 0",
            (_JSON.encode(changed).decode(),),
        )


def _touch_expiring(tx: Tx, agent_id: str, expired: int, after: int, last: int) -> None:
    """Mark retracted facts, and stored ones that are frozen, once they are old enough (docs/data.md, 3).

    Facts first seen on the day `expired` or before are; a longer retention brings back those that are not any more.
    """
    tx.run(
        "INSERT OR IGNORE INTO dirty SELECT d.agent_id, d.fact_id FROM derived d NOT INDEXED JOIN facts f ON f.n = d.n"
        " WHERE d.n > ? AND d.n <= ? AND d.agent_id = ? AND (d.state = 'expired' AND f.first_seen >= ?"
        " OR f.first_seen < ? AND (d.state = 'retracted' OR d.state = 'live' AND d.tier = 'frozen' AND NOT EXISTS"
        " (SELECT 1 FROM mentions m WHERE m.agent_id = d.agent_id AND m.fact_id = d.fact_id AND m.path <> '')))",
        (after, last, agent_id, *[(expired + 1) * MS_PER_DAY] * 2),
    )

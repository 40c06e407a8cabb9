"""Which layer facts are in today, and which of them time has moved since an earlier day."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ..store import Store
from ..tiers.layers import Referred
from .places import merged_wordings

_JSON = msgspec.json.Encoder()
ROWS = 500
"""Facts that one step reads; some 15 ms."""


def referred(store: Store, agent_id: str, facts: Sequence[str]) -> dict[str, Referred]:
    """What the layers of these live facts depend on; facts that are not live are absent."""
    keys = _JSON.encode(list(facts)).decode()
    parts = merged_wordings(store, agent_id, facts)
    said = _JSON.encode([*facts, *parts]).decode()
    stated = dict.fromkeys(facts, 0)
    for fact, count in store.execute(
        "SELECT fact_id, count(*) FROM (SELECT DISTINCT fact_id, path, line_from, date FROM mentions INDEXED BY"
        " mentions_fact WHERE agent_id = ? AND fact_id IN (SELECT value FROM json_each(?))) GROUP BY fact_id",
        (agent_id, said),
    ):
        stated[parts.get(str(fact), str(fact))] += int(count or 0)
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT fact_id, kind, tier, on_page, latest_day, access_days, last_read FROM derived INDEXED BY derived_fact"
        " WHERE agent_id = ? AND fact_id IN (SELECT value FROM json_each(?)) AND state = 'live'",
        (agent_id, keys),
    )
    return {
        fact: Referred(kind, tier, bool(on_page), day, reads, last_read, stated[fact])
        for fact, kind, tier, on_page, day, reads, last_read in rows
    }


def walk_live(store: Store, agent_id: str, after: int) -> tuple[dict[str, Referred], int | None]:
    """The live facts among the next rows, and the row to go on after, None at the end."""
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT n, fact_id, agent_id, state FROM derived NOT INDEXED WHERE n > ? ORDER BY n LIMIT ?", (after, ROWS)
    )
    live = [fact for _, fact, agent, state in rows if agent == agent_id and state == "live"]
    return referred(store, agent_id, live), rows[-1][0] if len(rows) == ROWS else None

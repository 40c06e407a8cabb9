"""The log of dreams: what each did to each fact, with before and after. It holds ids, no words."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ..store import Store, Tx
from .change_log import UNDONE
from .layer_replies import DreamLogRow

KEPT = 2_000
"""Rows that are kept of an agent, beside those whose changes can be undone."""
SHOWN = 200
_JSON = msgspec.json.Encoder()

Sides = tuple[Mapping[str, Any], Mapping[str, Any]]
"""What was before, and what is after."""


def log_steps(tx: Tx, agent_id: str, step: str, facts: Mapping[str, Sides], change: int = 0) -> None:
    """Keep what a step did; `change` is what `undo` takes back, 0 where nothing was written."""
    now = tx.store.clock.now_ms()
    rows = [
        (agent_id, now, step, fact, _JSON.encode(before).decode(), _JSON.encode(after).decode(), change)
        for fact, (before, after) in facts.items()
    ]
    tx.run_bulk(
        "INSERT INTO dream_log (agent_id, at, step, fact_id, before, after, change) SELECT "
        + ", ".join(f"value ->> {place}" for place in range(7))
        + " FROM json_each(?)",
        rows,
    )


def trim_log(tx: Tx, agent_id: str, change: int) -> None:
    """Let go of old rows but those of this change and later ones."""
    tx.run(
        "DELETE FROM dream_log WHERE agent_id = ? AND change < ? AND n <="
        " (SELECT n FROM dream_log WHERE agent_id = ? ORDER BY n DESC LIMIT 1 OFFSET ?)",
        (agent_id, change, agent_id, KEPT),
    )


def logged(store: Store, agent_id: str) -> list[DreamLogRow]:
    """The newest rows first."""
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT l.n, l.at, l.step, l.fact_id, l.before, l.after, l.change, u.undone FROM dream_log l"
        " LEFT JOIN undo_log u ON u.n = l.change WHERE l.agent_id = ? ORDER BY l.n DESC LIMIT ?",
        (agent_id, SHOWN),
    )
    return [
        DreamLogRow(
            n, at / 1000, step, fact, msgspec.json.decode(before), msgspec.json.decode(after), change, undone == UNDONE
        )
        for n, at, step, fact, before, after, change, undone in rows
    ]

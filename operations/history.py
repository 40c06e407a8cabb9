"""`history`: where a fact comes from, and the wordings before and after it."""

from typing import Any

from ..clock import day_number
from ..errors import NoInputError
from ..store import Store
from ..store.thread import Priority
from ..tiers.layers import layer_of
from .aliases import resolved
from .forget import named_fact
from .layers_now import referred
from .memory import Memory
from .places import standings
from .replies import HistoryReply
from .why_requests import HistoryRequest


async def history(memory: Memory, request: HistoryRequest) -> HistoryReply:
    """Show the fact's places and its chain of wordings, oldest first."""
    fact = named_fact(request.agent_id, request.id, request.text)
    today = day_number(memory.clock.today())
    return await memory.thread.call(
        lambda store: _history(store, request.agent_id, fact, today), priority=Priority.READ
    )


def _history(store: Store, agent_id: str, fact: str, today: int) -> HistoryReply:
    fact = resolved(store, agent_id, fact)
    row = _fact(store, agent_id, fact)
    if row is None:
        rows = store.execute("SELECT version FROM forgotten WHERE agent_id = ? AND fact_id = ?", (agent_id, fact))
        if rows:
            return HistoryReply(fact, "", "forgotten", int(str(rows[0][0])[:13]) / 1000, [], [])
        raise NoInputError(f"There is no fact {fact}.", "memoryd retrieve shows the ids.")
    before = _walk(store, agent_id, fact, backwards=True)
    after = _walk(store, agent_id, fact, backwards=False)
    chain = [each for each in (_fact(store, agent_id, one) for one in [*reversed(before), fact, *after]) if each]
    links = _links(store, agent_id, fact)
    places = standings(store, agent_id, [fact])[fact].sources
    found = referred(store, agent_id, [fact]).get(fact)
    layer = None if found is None else layer_of(found, today)
    return HistoryReply(row["id"], row["text"], row["state"], row["first_seen"], places, chain, layer=layer, **links)


def _links(store: Store, agent_id: str, fact: str) -> dict[str, Any]:
    """What the fact gave way to, and what gave way to it: by contradiction, and as a shorter wording."""
    return {
        "superseded_by": _later(store, agent_id, fact, "superseded_by"),
        "supersedes": _earlier(store, agent_id, fact, "superseded_by"),
        "merged_into": _later(store, agent_id, fact, "merged_into"),
        "merged": _earlier(store, agent_id, fact, "merged_into"),
    }


def _later(store: Store, agent_id: str, fact: str, field: str) -> dict[str, Any] | None:
    rows = store.execute(
        "SELECT value FROM edits WHERE agent_id = ? AND fact_id = ? AND field = ? AND value IS NOT NULL",
        (agent_id, fact, field),
    )
    return _fact(store, agent_id, str(rows[0][0])) if rows else None


def _earlier(store: Store, agent_id: str, fact: str, field: str) -> list[dict[str, Any]]:
    rows = store.execute(
        "SELECT fact_id FROM edits WHERE agent_id = ? AND value = ? AND field = ? ORDER BY fact_id",
        (agent_id, fact, field),
    )
    return [each for row in rows if (each := _fact(store, agent_id, str(row[0]))) is not None]


def _fact(store: Store, agent_id: str, fact: str) -> dict[str, Any] | None:
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT f.text, f.first_seen, d.state, d.access_days FROM facts f LEFT JOIN derived d ON d.n = f.n"
        " WHERE f.agent_id = ? AND f.id = ?",
        (agent_id, fact),
    )
    if not rows:
        return None
    text, seen, state, access = rows[0]
    return {"id": fact, "text": text, "state": state or "live", "first_seen": seen / 1000, "access_count": access or 0}


def _walk(store: Store, agent_id: str, fact: str, *, backwards: bool) -> list[str]:
    """Follow `after` to older wordings, or from older to newer ones; each fact once."""
    sql = (
        "SELECT value FROM edits WHERE agent_id = ? AND fact_id = ? AND field = 'after' AND value IS NOT NULL"
        if backwards
        else "SELECT fact_id FROM edits WHERE agent_id = ? AND value = ? AND field = 'after' ORDER BY version LIMIT 1"
    )
    found: list[str] = []
    while rows := store.execute(sql, (agent_id, found[-1] if found else fact)):
        following = str(rows[0][0])
        if following in found or following == fact:
            break
        found.append(following)
    return found

"""The readable picture beside the logs: the original's `cold_memories` and `critical_state` (docs/data.md, 4).

It is written after the segments and never read back. Triggers of the store note which facts may look
different (`undrawn`); the hash of what was drawn last (`drawn`) tells whether they do. A drawing is guarded by the
head of this device's log: one that arrives late, from before a later push, must not bring an old look back.
So where no answer came, the log has to grow before anything else is drawn (`outlast_lost_drawing`). And before a
drawing is sent, its facts lose their hash: what looks as before by the time of the next one must be drawn all the same.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from ..clock import Clock
from ..crash import crash_point
from ..errors import CloudStoppedError
from ..store import ResultRow, Store, Value
from ..store.sent import CLOUD, last_confirmed
from ..store.thread import Priority, StoreThread
from .cloud import HEAD_OF, IS_OUR_CLOUD
from .heads import SET_BACK_HINT
from .hrana import CloudClient, Statement
from .push import HeadMovedError

DRAW_ROWS = 1_000
_UNANSWERED = "drawing"
"""The local setting that holds the head under which a drawing was sent, '' once its answer came."""
_STATE = ""
"""The fact id under which `drawn` keeps the hash of an agent's `critical_state`."""
_HIDDEN = ("forgotten", "expired")

_JSON = msgspec.json.Encoder(order="deterministic")
Critical = Callable[[Store, str], dict[str, Any]]

_HERE = f"{IS_OUR_CLOUD} AND {HEAD_OF} IS ?"
_GUARD = f"UPDATE meta SET v = v WHERE k = 'cloud' AND {_HERE}"
"""Changes one row where a drawing may be made, and none elsewhere."""
_UPSERT = (
    "INSERT INTO cold_memories (id, agent_id, text, category, importance, created_at, access_count, tier, metadata)"
    " SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, value->>8"
    f" FROM json_each(?) WHERE {_HERE} ON CONFLICT (id) DO UPDATE SET agent_id = excluded.agent_id,"
    " text = excluded.text, category = excluded.category, importance = excluded.importance,"
    " created_at = excluded.created_at, access_count = excluded.access_count, tier = excluded.tier,"
    " metadata = excluded.metadata"
)
_DELETE = f"DELETE FROM cold_memories WHERE id IN (SELECT value FROM json_each(?)) AND {_HERE}"
_UPSERT_STATE = (
    f"INSERT INTO critical_state SELECT ?, ?, ? WHERE {_HERE}"
    " ON CONFLICT (agent_id) DO UPDATE SET data = excluded.data, updated_at = excluded.updated_at"
)

# Every fact that may look different, with its newest mention's metadata; facts that are gone have NULLs.
_CANDIDATES = """SELECT u.n, u.agent_id, u.fact_id, d.state, d.tier, f.text, d.category, d.importance, d.created_at,
 d.access_days, (SELECT m.metadata FROM mentions m INDEXED BY mentions_fact
  WHERE m.agent_id = u.agent_id AND m.fact_id = u.fact_id
  ORDER BY rtrim(m.date, 'Z') DESC, m.path DESC, m.line_from DESC, m.device DESC, m.n DESC LIMIT 1), w.hash
 FROM undrawn u LEFT JOIN derived d ON d.agent_id = u.agent_id AND d.fact_id = u.fact_id
 LEFT JOIN facts f ON f.agent_id = u.agent_id AND f.id = u.fact_id
 LEFT JOIN drawn w ON w.agent_id = u.agent_id AND w.fact_id = u.fact_id ORDER BY u.n LIMIT ?"""


class _Stroke(msgspec.Struct):
    """One fact's part of a drawing: `values` of its row, None when it has to go."""

    n: int
    agent_id: str
    fact_id: str
    values: list[Value] | None
    hash: str
    same: bool


class Picture:
    """Draws what changed."""

    def __init__(self, thread: StoreThread, client: CloudClient, clock: Clock, critical: Critical) -> None:
        self._thread = thread
        self._client = client
        self._clock = clock
        self._critical = critical

    async def draw(self, on_drawn: Callable[[], None] = lambda: None) -> int:
        """Bring the picture up to date; returns how many rows were written or removed."""
        drawn = 0
        while strokes := await self._thread.call(_candidates, priority=Priority.BULK):
            if changed := [each for each in strokes if not each.same]:
                await self._write(changed)
            crash_point("picture drawn")
            await self._thread.call(partial(_remember, done=strokes), priority=Priority.BULK)
            drawn += sum(not each.same for each in strokes)
            on_drawn()
        return drawn + await self._draw_states()

    async def _write(self, strokes: Sequence[_Stroke]) -> None:
        rows = [each.values for each in strokes if each.values is not None]
        gone = [each.fact_id for each in strokes if each.values is None]
        statements: list[tuple[str, tuple[Value, ...]]] = [(_UPSERT, (_JSON.encode(rows).decode(),))] if rows else []
        if gone:
            statements.append((_DELETE, (_JSON.encode(gone).decode(),)))
        await self._guarded(statements, [(each.agent_id, each.fact_id) for each in strokes])

    async def _guarded(
        self, statements: Sequence[tuple[str, tuple[Value, ...]]], facts: Sequence[tuple[str, str]]
    ) -> None:
        """Write in one transaction, or nothing; raises `HeadMovedError`, or `CloudStoppedError` for another cloud."""
        here = await self._thread.call(_where, priority=Priority.READ)
        guarded = [Statement(sql, (*values, *here)) for sql, values in [(_GUARD, ()), *statements]]
        await self._thread.call(partial(_set_unanswered, head=str(here[2]), facts=facts))
        crash_point("drawing sent")
        counts = await self._client.transact(guarded)
        await self._thread.call(partial(_set_unanswered, head=""))
        if counts[0] == 1:
            return
        (meta,) = await self._client.query(Statement("SELECT v FROM meta WHERE k = 'cloud'"))
        if meta.rows == [(here[0],)]:
            raise HeadMovedError
        raise CloudStoppedError("The cloud is not the one this device knows.", SET_BACK_HINT)

    async def _draw_states(self) -> int:
        agents = await self._thread.call(_agents, priority=Priority.READ)
        drawn = 0
        for agent in agents:
            state = await self._thread.call(partial(self._state_of, agent=agent))
            kept = {key: value for key, value in state.items() if key != "timestamp"}
            mark = _hash(kept)
            if mark == await self._thread.call(partial(_drawn_hash, agent=agent), priority=Priority.READ):
                continue
            now = self._clock.now_ms()
            data = _JSON.encode({**kept, "timestamp": now / 1000}).decode()
            await self._guarded([(_UPSERT_STATE, (agent, data, now // 1000))], [(agent, _STATE)])
            await self._thread.call(partial(_remember_state, agent=agent, mark=mark))
            drawn += 1
        return drawn

    def _state_of(self, store: Store, agent: str) -> dict[str, Any]:
        return self._critical(store, agent)


def _where(store: Store) -> tuple[str, str, str | None]:
    """The cloud, this device and the head of its log as far as it is confirmed: the values of `_HERE`."""
    last = last_confirmed(store)
    return store.meta(CLOUD), store.device, last.sha256 if last else None


def outlast_lost_drawing(store: Store) -> None:
    """Have a segment sent if a drawing under the present head was never answered: it may yet be carried out.

    A frozen server keeps a request for minutes, beyond the life of who sent it. What is drawn meanwhile, e.g. that a
    forgotten fact is gone, would be undone by it; under a later head it changes nothing.
    """
    head = store.meta(_UNANSWERED)
    if not head:
        return
    with store.transaction() as tx:
        if head == str(_where(store)[2]):
            tx.run("UPDATE devices SET rev = ? WHERE device = ?", (tx.next_rev(), tx.device))
        else:
            tx.set_meta(_UNANSWERED, "")


def _set_unanswered(store: Store, head: str, facts: Sequence[tuple[str, str]] = ()) -> None:
    """Note that a drawing of these facts is under way, or, with '' for the head, that it was answered."""
    with store.transaction() as tx:
        tx.set_meta(_UNANSWERED, head)
        tx.run_bulk(
            "INSERT INTO drawn SELECT value->>0, value->>1, '' FROM json_each(?) WHERE true"
            " ON CONFLICT (agent_id, fact_id) DO UPDATE SET hash = ''",
            facts,
        )


def redraw(store: Store) -> None:
    """Have the whole picture drawn again at the next exchange."""
    with store.transaction() as tx:
        tx.run("DELETE FROM drawn")
        tx.run("INSERT OR IGNORE INTO undrawn (agent_id, fact_id) SELECT agent_id, fact_id FROM derived")


def count_undrawn(store: Store) -> int:
    """How many facts may look different in the picture."""
    ((count,),) = store.execute("SELECT count(*) FROM undrawn")
    return count if isinstance(count, int) else 0


def _candidates(store: Store) -> list[_Stroke]:
    return [_stroke(row) for row in store.execute(_CANDIDATES, (DRAW_ROWS,))]


def _stroke(row: ResultRow) -> _Stroke:
    n, agent, fact, state, tier, text, category, importance, created_at, reads, metadata, before = row
    values: list[Value] | None = None
    if state is not None and state not in _HIDDEN and text is not None:
        seconds = int(created_at or 0) // 1000
        shown = tier if state == "live" else state
        values = [fact, agent, text, category, importance, seconds, reads, shown, metadata or "{}"]
    mark = _hash(values) if values else ""
    return _Stroke(int(n or 0), str(agent), str(fact), values, mark, bool(mark) and mark == before)


def _remember(store: Store, done: Sequence[_Stroke]) -> None:
    drawn = [(each.agent_id, each.fact_id, each.hash) for each in done if each.values is not None]
    gone = [(each.agent_id, each.fact_id) for each in done if each.values is None]
    with store.transaction() as tx:
        tx.run(
            "INSERT INTO drawn SELECT value->>0, value->>1, value->>2 FROM json_each(?) WHERE true"
            " ON CONFLICT (agent_id, fact_id) DO UPDATE SET hash = excluded.hash",
            (_JSON.encode(drawn).decode(),),
        )
        tx.run(
            "DELETE FROM drawn WHERE (agent_id, fact_id) IN (SELECT value->>0, value->>1 FROM json_each(?))",
            (_JSON.encode(gone).decode(),),
        )
        # By n: a fact that changed during the draw stands there again under another one.
        tx.run(
            "DELETE FROM undrawn WHERE n IN (SELECT value FROM json_each(?))",
            (_JSON.encode([each.n for each in done]).decode(),),
        )


def _agents(store: Store) -> list[str]:
    rows = store.execute(
        "SELECT DISTINCT agent_id FROM derived UNION SELECT DISTINCT agent_id FROM hot_items ORDER BY 1"
    )
    return [str(row[0]) for row in rows]


def _drawn_hash(store: Store, agent: str) -> str:
    rows = store.execute("SELECT hash FROM drawn WHERE agent_id = ? AND fact_id = ?", (agent, _STATE))
    return str(rows[0][0]) if rows else ""


def _remember_state(store: Store, agent: str, mark: str) -> None:
    with store.transaction() as tx:
        tx.run(
            "INSERT INTO drawn VALUES (?, ?, ?) ON CONFLICT (agent_id, fact_id) DO UPDATE SET hash = excluded.hash",
            (agent, _STATE, mark),
        )


def _hash(values: Any) -> str:
    return hashlib.sha256(_JSON.encode(values)).hexdigest()[:16]

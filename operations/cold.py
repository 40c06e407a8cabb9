"""`cold`: the cloud's readable copy, asked with bound parameters; it says when the answer came from here instead.

Here the same question is asked of the same facts: all words, in text or category, in the same order.
"""

import heapq
from collections.abc import Sequence
from functools import partial
from typing import Any

from ..errors import ConfigError, UnavailableError, UsageError
from ..model import fact_id
from ..store import Store
from ..store.thread import Priority
from ..sync.hrana import CloudError, Statement, Value
from .memory import Memory
from .requests import ColdRequest
from .synchronise import the_cloud
from .tier_replies import ColdRow

_WORDS = 20
_WALKED = 4_000
"""Rows that one step reads; some 10 ms."""
_MS_PER_S = 1000
_LIKE = "(text LIKE ? ESCAPE '\\' OR category LIKE ? ESCAPE '\\')"
_ORDER = "importance DESC, created_at DESC, id"
_ASK = "SELECT id, text, category, importance, created_at, {tier} FROM cold_memories WHERE {where}"


async def cold(memory: Memory, request: ColdRequest) -> dict[str, Any] | list[ColdRow]:
    """Make the tables, or ask them."""
    if bool(request.query.strip()) == request.init:
        raise UsageError("cold takes --init or --query.", "E.g. memoryd cold --query 'blockchain decision'")
    if request.init:
        await the_cloud(memory).exchange()
        await the_cloud(memory).client.query(Statement("SELECT count(*) FROM cold_memories"))
        return {"initialized": True}
    try:
        return await _from_cloud(memory, request)
    except (ConfigError, UnavailableError) as error:
        rows = await _from_here(memory, request, error.message)
        if not rows:
            raise type(error)(f"{error.message} Nothing here matches either.", error.hint) from None
        return rows


async def _from_cloud(memory: Memory, request: ColdRequest) -> list[ColdRow]:
    client = the_cloud(memory).client
    condition, patterns = _holding(request.query)
    args: tuple[Value, ...] = (request.agent_id, *patterns, request.limit)
    ordered = f"agent_id = ?{condition} ORDER BY {_ORDER} LIMIT ?"
    try:
        (result,) = await client.query(Statement(_ASK.format(tier="tier", where=ordered), args))
    except CloudError as error:
        if "no such column" not in error.message:
            raise
        # The original's own table, which nobody has pushed to yet.
        (result,) = await client.query(Statement(_ASK.format(tier="'cold'", where=ordered), args))
    # The original's row and our own may say the same; ours, with the fact's id, is newer.
    by_text = {str(row[1]): _row(row) for row in sorted(result.rows, key=lambda row: _is_ours(request.agent_id, row))}
    return [by_text[text] for text in dict.fromkeys(str(row[1]) for row in result.rows)]


def _is_ours(agent_id: str, row: Sequence[Value]) -> bool:
    return row[0] == fact_id(agent_id, str(row[1]))


def _holding(query: str) -> tuple[str, list[Value]]:
    """The condition that all words stand in the text or the category, and its parameters."""
    words = query.split()[:_WORDS]
    return "".join(f" AND {_LIKE}" for _ in words), [f"%{_escaped(word)}%" for word in words for _ in range(2)]


async def _from_here(memory: Memory, request: ColdRequest, reason: str) -> list[ColdRow]:
    found: list[ColdRow] = []
    after: int | None = 0
    while after is not None:
        step = partial(_rows_here, request=request, after=after, reason=reason)
        some, after = await memory.thread.call(step, priority=Priority.READ)
        found = heapq.nsmallest(request.limit, [*found, *some], key=_order)
    return found


def _rows_here(store: Store, request: ColdRequest, after: int, reason: str) -> tuple[list[ColdRow], int | None]:
    """The matching ones among the next facts, those that a cloud would hold, and where to go on."""
    condition, patterns = _holding(request.query)
    ((last, many),) = store.execute(
        "SELECT max(n), count(*) FROM (SELECT n FROM derived NOT INDEXED WHERE n > ? ORDER BY n LIMIT ?)",
        (after, _WALKED),
    )
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT f.id, f.text, d.category, d.importance, d.created_at, iif(d.state = 'live', d.tier, d.state)"
        " FROM derived d NOT INDEXED CROSS JOIN facts f ON f.n = d.n WHERE d.n > ? AND d.n <= ? AND d.agent_id = ?"
        f" AND d.state NOT IN ('forgotten', 'expired'){condition}",
        (after, int(last or 0), request.agent_id, *patterns),
    )
    found = [
        ColdRow(fact, text, category, importance, created // _MS_PER_S, tier, "local", reason)
        for fact, text, category, importance, created, tier in rows
    ]
    return found, int(last or 0) if many == _WALKED else None


def _order(row: ColdRow) -> tuple[float, int, str]:
    """As `_ORDER` has it."""
    return -row.importance, -row.created_at, row.id


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _row(row: Sequence[Value]) -> ColdRow:
    fact, text, category, importance, created_at, tier = row
    return ColdRow(
        str(fact), str(text), str(category), _number(importance), int(_number(created_at)), str(tier or "cold"), "cloud"
    )


def _number(value: Value) -> float:
    return float(value) if isinstance(value, int | float) else 0.0

"""`cold`: the cloud's readable copy, asked with bound parameters; it says when the answer came from here instead."""

from collections.abc import Sequence
from typing import Any

from ..errors import ConfigError, UnavailableError, UsageError
from ..model import fact_id
from ..sync.hrana import CloudError, Statement, Value
from .memory import Memory
from .requests import ColdRequest, RetrieveRequest
from .retrieve import find_hits
from .synchronise import the_cloud
from .tier_replies import ColdRow

_WORDS = 20
_LIKE = "(text LIKE ? ESCAPE '\\' OR category LIKE ? ESCAPE '\\')"
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
        rows = await _from_here(memory, request)
        if not rows:
            raise type(error)(f"{error.message} Nothing here matches either.", error.hint) from None
        return rows


async def _from_cloud(memory: Memory, request: ColdRequest) -> list[ColdRow]:
    client = the_cloud(memory).client
    words = request.query.split()[:_WORDS]
    where = " AND ".join(["agent_id = ?", *(_LIKE for _ in words)])
    patterns = [pattern for word in words for pattern in [f"%{_escaped(word)}%"] * 2]
    args: tuple[Value, ...] = (request.agent_id, *patterns, request.limit)
    ordered = f"{where} ORDER BY importance DESC, created_at DESC, id LIMIT ?"
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


async def _from_here(memory: Memory, request: ColdRequest) -> list[ColdRow]:
    asked = RetrieveRequest(agent_id=request.agent_id, query=request.query, limit=request.limit)
    return [
        ColdRow(hit.id, hit.text, hit.category, hit.importance, int(hit.created_at), hit.tier, "local")
        for hit in await find_hits(memory, asked)
    ]


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _row(row: Sequence[Value]) -> ColdRow:
    fact, text, category, importance, created_at, tier = row
    return ColdRow(
        str(fact), str(text), str(category), _number(importance), int(_number(created_at)), str(tier or "cold"), "cloud"
    )


def _number(value: Value) -> float:
    return float(value) if isinstance(value, int | float) else 0.0

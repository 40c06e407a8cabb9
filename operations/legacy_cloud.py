"""The original skill's rows in the cloud (docs/original.md), told from memoryd's own picture by their ids."""

from collections.abc import Iterator
from typing import Any

import msgspec

from ..errors import UsageError
from ..foreign import decoded_json
from ..model import DEFAULT_AGENT, Metadata, fact_id
from ..places import checked_name
from ..sync.hrana import CloudClient, CloudError, Statement, Value
from .legacy_files import DEFAULT_IMPORTANCE, LegacyAgent, LegacyFact, LegacyMemory, take_state
from .legacy_values import count_of
from .memory import Memory
from .synchronise import the_cloud

_PAGE = 500
_FIELDS = "id, {agent}, text, category, importance, created_at, access_count"
_ASK = "SELECT {fields} FROM cold_memories WHERE id > ? ORDER BY id LIMIT ?"


async def read_legacy_cloud(memory: Memory, found: LegacyMemory) -> None:
    """Add to `found` the rows of `cold_memories` that the original wrote, and its `critical_state`."""
    client = the_cloud(memory).client
    columns = await _columns(client, "cold_memories")
    if columns:
        found.files.append("cloud: cold_memories")
        # Version 1 knew no agents.
        fields = _FIELDS.format(agent="agent_id" if "agent_id" in columns else f"'{DEFAULT_AGENT}'")
        after = ""
        while rows := await _rows(client, _ASK.format(fields=fields), (after, _PAGE)):
            after = str(rows[-1][0])
            for agent, fact in _facts(rows, found):
                _agent(found, agent).facts.append(fact)
    if not await _is_memoryds(client) and await _columns(client, "critical_state"):
        found.files.append("cloud: critical_state")
        for agent_id, data in await _rows(client, "SELECT agent_id, data FROM critical_state", ()):
            _take_critical(found, str(agent_id), str(data))


async def _columns(client: CloudClient, table: str) -> set[str]:
    return {str(row[0]) for row in await _rows(client, "SELECT name FROM pragma_table_info(?)", (table,))}


async def _rows(client: CloudClient, sql: str, args: tuple[Value, ...]) -> list[tuple[Value, ...]]:
    (result,) = await client.query(Statement(sql, args))
    return result.rows


async def _is_memoryds(client: CloudClient) -> bool:
    """Whether memoryd has drawn here before: then `critical_state` is its own."""
    try:
        return bool(await _rows(client, "SELECT 1 FROM meta WHERE k = 'cloud'", ()))
    except CloudError as error:
        if not error.missing_table:
            raise
        return False


def _facts(rows: list[tuple[Value, ...]], found: LegacyMemory) -> Iterator[tuple[str, LegacyFact]]:
    for row, agent, text, category, importance, created_at, access_count in rows:
        if not isinstance(text, str) or row == fact_id(str(agent), text):
            continue  # a row of memoryd's picture has the fact's own id
        if _valid(found, str(agent)) and not found.is_too_large(text, f"cloud: {row!s}"):
            weight = float(importance) if isinstance(importance, int | float) else DEFAULT_IMPORTANCE
            created = float(created_at) if isinstance(created_at, int | float) else None
            reads = count_of(access_count)
            yield (
                str(agent),
                LegacyFact(str(row), text, str(category or ""), min(1.0, max(0.0, weight)), created, reads, Metadata()),
            )


def _take_critical(found: LegacyMemory, agent_id: str, data: str) -> None:
    if not _valid(found, agent_id):
        return
    try:
        content: Any = decoded_json(data)
    except msgspec.DecodeError:
        content = None
    if isinstance(content, dict):
        take_state(found, _agent(found, agent_id), content.get("hot_state"), content.get("tree_nodes"))
    else:
        found.damaged[f"cloud: critical_state of {agent_id}"] = "no valid JSON"


def _valid(found: LegacyMemory, agent_id: str) -> bool:
    try:
        checked_name(agent_id)
    except UsageError as error:
        notice = f"In the cloud: {error.message} Its rows were left out."
        if notice not in found.notices:
            found.notices.append(notice)
        return False
    return True


def _agent(found: LegacyMemory, agent_id: str) -> LegacyAgent:
    return found.agents.setdefault(agent_id, LegacyAgent(agent_id, [], [], {}, {}, {}))

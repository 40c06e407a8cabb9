"""`sync-critical`: hot state and tree are in the cloud when this says so (docs/original.md, F1)."""

from typing import Any

import msgspec

from ..errors import UnavailableError
from ..store import Store
from ..store.sent import CLOUD
from ..store.thread import Priority
from ..sync.cloud import IS_OUR_CLOUD
from ..sync.hrana import Statement
from .critical import critical_state
from .memory import Memory
from .requests import SyncCriticalRequest
from .synchronise import the_cloud

_JSON = msgspec.json.Encoder(order="deterministic")
_ASK = "SELECT updated_at FROM critical_state WHERE agent_id = ?"
_FIRST = f"INSERT INTO critical_state SELECT ?, ?, ? WHERE {IS_OUR_CLOUD} ON CONFLICT (agent_id) DO NOTHING"


async def sync_critical(memory: Memory, request: SyncCriticalRequest) -> dict[str, Any]:
    """Exchange with the cloud; returns after it was asked whether it holds the agent's state."""
    service = the_cloud(memory)
    if not memory.resident:
        await memory.rescan()  # "everything that waits" is on disk too, and without a daemon nobody has looked
    await service.exchange()
    (found,) = await service.client.query(Statement(_ASK, (request.agent_id,)))
    if not found.rows:
        # A fresh agent has nothing to draw yet; its empty state is state too.
        await _write_empty(memory, request.agent_id)
        (found,) = await service.client.query(Statement(_ASK, (request.agent_id,)))
    if not found.rows:
        raise UnavailableError("The cloud does not hold the critical state.", "Try again: memoryd sync --wait")
    return {"synced": True, "timestamp": memory.clock.now_ms() / 1000}


async def _write_empty(memory: Memory, agent_id: str) -> None:
    def read(store: Store) -> tuple[str, dict[str, Any]]:
        return store.meta(CLOUD), critical_state(store, agent_id, memory.clock, memory.settings)

    cloud, state = await memory.thread.call(read, priority=Priority.READ)
    row = (agent_id, _JSON.encode(state).decode(), memory.clock.now_ms() // 1000, cloud)
    await the_cloud(memory).client.transact([Statement(_FIRST, row)])

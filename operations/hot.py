"""`hot`: show or change hot state; MEMORY.md follows."""

from typing import Any

from ..clock import day_number
from ..store import Store
from ..store.thread import Priority
from ..tiers.changes import change_hot
from ..tiers.hot import HotState, hot_state
from .memory import Memory
from .pages import WORDS
from .requests import HotRequest


async def hot(memory: Memory, request: HotRequest) -> dict[str, Any]:
    """The state as it is; with `update` what was changed; with `rebuild` the page that was written."""
    if request.update is not None:
        key, value = request.update
        named = await memory.thread.call(lambda store: _update(store, request.agent_id, key, value))
        await memory.settle([request.agent_id])
        return {"updated": key, "id": named}
    if request.rebuild:
        await memory.settle([request.agent_id])
        page = await memory.pages.rewrite(request.agent_id)
        await memory.hint([page])
        state = await _state(memory, request.agent_id)
        return {"output": page, "size_bytes": state.size_bytes, "max_bytes": state.max_bytes}
    return (await _state(memory, request.agent_id)).state


async def _state(memory: Memory, agent_id: str) -> HotState:
    day, settings = day_number(memory.clock.today()), memory.settings
    return await memory.thread.call(lambda store: hot_state(store, agent_id, day, settings), priority=Priority.READ)


def _update(store: Store, agent_id: str, key: str, value: str) -> str:
    with store.transaction() as tx:
        return change_hot(tx, agent_id, key, value, WORDS)

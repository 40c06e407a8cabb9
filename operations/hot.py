"""`hot`: show or change hot state; MEMORY.md follows."""

from typing import Any

from ..clock import day_number
from ..errors import UsageError
from ..store import Store
from ..store.thread import Priority
from ..tiers.changes import change_hot, finish_item, remove_item
from ..tiers.hot import HotState, hot_state
from .change_log import recorded
from .memory import Memory
from .pages import WORDS
from .requests import HotRequest


async def hot(memory: Memory, request: HotRequest) -> dict[str, Any]:
    """The state; with `update`, `done`, `remove` what was changed; with `rebuild` the page that was written."""
    given = [request.update is not None, bool(request.done), bool(request.remove), request.rebuild]
    if sum(given) > 1:
        raise UsageError("hot does one thing at a time.", "Give one of --update, --done, --remove and --rebuild.")
    if request.rebuild:
        return await _rebuild(memory, request.agent_id)
    if any(given):
        reply = await memory.thread.call(lambda store: _change(store, memory, request))
        await memory.settle([request.agent_id])
        return reply
    return (await _state(memory, request.agent_id)).state


async def _rebuild(memory: Memory, agent_id: str) -> dict[str, Any]:
    await memory.settle([agent_id])
    page = await memory.pages.rewrite(agent_id)
    await memory.hint([page])
    state = await _state(memory, agent_id)
    return {
        "output": page,
        "size_bytes": state.size_bytes,
        "max_bytes": state.max_bytes,
        "nearly_full": state.nearly_full,
        "left_out": state.left_out,
    }


async def _state(memory: Memory, agent_id: str) -> HotState:
    day, settings = day_number(memory.clock.today()), memory.settings
    return await memory.thread.call(lambda store: hot_state(store, agent_id, day, settings), priority=Priority.READ)


def _change(store: Store, memory: Memory, request: HotRequest) -> dict[str, Any]:
    agent = request.agent_id
    state = hot_state(store, agent, day_number(memory.clock.today()), memory.settings)
    with store.transaction() as tx:
        if request.update is not None:
            key, value = request.update
            with recorded(tx, agent, f"hot --update {key}"):
                return {"updated": key, "id": change_hot(tx, agent, key, value, WORDS)}
        if request.done:
            with recorded(tx, agent, "hot --done"):
                return {"done": finish_item(tx, agent, state, request.done)}
        with recorded(tx, agent, "hot --remove"):
            section, name = remove_item(tx, agent, state, request.remove or "")
            return {"removed": name, "section": section}

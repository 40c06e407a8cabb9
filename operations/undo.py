"""`undo`: the last change by command or by hand goes back."""

from ..errors import UsageError
from ..store.thread import Priority
from .change_log import changes, undo_change
from .dream_undo import undo_dream
from .forgotten_words import Guard
from .memory import Memory
from .requests import UndoRequest
from .tier_replies import UndoListReply, UndoReply


async def undo(memory: Memory, request: UndoRequest) -> UndoReply | UndoListReply:
    """Undo the newest change that stands, the one of that number, or a whole dream; or list them."""
    agent = request.agent_id
    if request.list:
        return await memory.thread.call(lambda store: UndoListReply(changes(store, agent)), priority=Priority.READ)
    if request.dream:
        if request.n:
            raise UsageError("A dream goes back whole.", "Either --dream, or --n for one step.")
        reply = await undo_dream(memory, agent)
        await memory.settle([agent])
        return reply
    reply = await memory.thread.call(lambda store: undo_change(store, agent, request.n, Guard(store, agent).stops))
    if reply.notes_to_read:
        await memory.intake.read_again(reply.notes_to_read)
    await memory.settle([agent])
    return reply

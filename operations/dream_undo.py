"""A dream goes back whole (`undo --dream`): which changes each one made, and how long they are kept.

The steps of the newest dream are kept however many they are, those of earlier ones up to a number, each dream whole.
"""

from functools import partial

from ..errors import NoInputError, TryLaterError
from ..store import Store, Tx
from ..store.thread import Priority
from .change_log import DREAM, STANDS, take_back_edits
from .dream_log import trim_log
from .last_dream import keep, last_dream
from .memory import Memory
from .progress import report_progress
from .tier_replies import UndoReply

KEPT_STEPS = 2_000
"""So many steps of dreams are kept; more only where the newest dream alone has more."""
STEPS_AT_ONCE = 100
"""Steps that go back in one transaction: about 20 ms on the store thread."""
_OF_DREAMS = f"agent_id = ? AND what GLOB '{DREAM}*'"


def begin_dream(tx: Tx, agent_id: str, change: int) -> None:
    """Keep that a dream begins with this change."""
    last = last_dream(tx.store, agent_id)
    last.began.append(change)
    keep(tx, agent_id, last)


def trim_dreams(tx: Tx, agent_id: str) -> None:
    """Let go of old dreams, each whole, and of what the log says of them."""
    found = tx.execute(
        f"SELECT n FROM undo_log WHERE {_OF_DREAMS} ORDER BY n DESC LIMIT 1 OFFSET ?", (agent_id, KEPT_STEPS - 1)
    )
    oldest = int(found[0][0] or 0) if found else 0
    last = last_dream(tx.store, agent_id)
    last.began = [each for each in last.began if each >= oldest] or last.began[-1:]
    first = min(last.began, default=oldest) if oldest else 0
    tx.run(f"DELETE FROM undo_log WHERE {_OF_DREAMS} AND n < ?", (agent_id, first))
    trim_log(tx, agent_id, first)
    keep(tx, agent_id, last)


async def undo_dream(memory: Memory, agent_id: str) -> UndoReply:
    """Take back all that the newest dream did whose steps stand, the last step first.

    What was changed again since is left and counted. Raises `NoInputError` where no dream stands, `TryLaterError`
    while one goes on: it waits for whoever asks, so that waiting for it here would never end.
    """
    if memory.dream_lock.is_taken:
        raise TryLaterError("A dream is going on.", "Try again when memoryd status shows that it has ended.")
    async with memory.dream_lock:
        steps = await memory.thread.call(lambda store: _standing(store, agent_id), priority=Priority.READ)
        if not steps:
            raise NoInputError("There is no dream to undo.", "memoryd dream --log shows what dreams did.")
        reply = UndoReply(steps[-1], "dream", 0, [], [])
        for start in range(0, len(steps), STEPS_AT_ONCE):
            some = steps[start : start + STEPS_AT_ONCE]
            rows, left = await memory.thread.call(partial(take_back_edits, agent_id=agent_id, numbers=some))
            reply.rows, reply.changed_since = reply.rows + rows, reply.changed_since + left
            report_progress(phase="undoing", done=start + len(some), of=len(steps))
    return reply


def _standing(store: Store, agent_id: str) -> list[int]:
    """The steps of the newest dream that has some, the newest first."""
    standing = [
        int(row[0] or 0)
        for row in store.execute(
            f"SELECT n FROM undo_log WHERE {_OF_DREAMS} AND undone = {STANDS} ORDER BY n DESC", (agent_id,)
        )
    ]
    begin = max((each for each in last_dream(store, agent_id).began if standing and each <= standing[0]), default=0)
    return [each for each in standing if each >= begin]

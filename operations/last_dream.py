"""What is kept of dreams between them: when, and of which rows, so that nothing is dreamt of twice."""

from typing import NamedTuple

import msgspec

from ..clock import day_number
from ..store import Store, Tx
from ..store.thread import Priority
from .memory import Memory


class LastDream(msgspec.Struct):
    """What is kept of an agent's last dream: when, up to which row, and of which rows."""

    at_ms: int = 0
    day: int = 0
    """Of the last deep one, days since 1970."""
    n: int = 0
    rows: str = ""
    """What the rows were: a dream of the same rows has nothing to do."""
    began: list[int] = []
    """The first change of each dream whose steps are kept (undo_log), oldest first."""


class Rows(NamedTuple):
    """All rows at one moment: this device's revision, the newest fact, and how much of other logs was folded."""

    rev: int = 0
    newest: int = 0
    folded: int = 0

    @property
    def text(self) -> str:
        """As it is kept; it changes with every row that this device writes or folds."""
        return f"{self.rev} {self.newest} {self.folded}"


def rows_now(store: Store) -> Rows:
    """The rows as they are now."""
    ((newest,),) = store.execute("SELECT max(n) FROM facts")
    ((folded,),) = store.execute("SELECT sum(idx) FROM cursors")
    return Rows(store.rev, int(newest or 0), int(folded or 0))


def last_dream(store: Store, agent_id: str) -> LastDream:
    """What is kept of an agent's last dream."""
    text = store.meta(f"dream/{agent_id}")
    return msgspec.json.decode(text, type=LastDream) if text else LastDream()


def keep(tx: Tx, agent_id: str, last: LastDream) -> None:
    """Keep it as the agent's last dream."""
    tx.set_meta(f"dream/{agent_id}", msgspec.json.encode(last).decode())


async def has_changed(memory: Memory, agent_id: str, *, deep: bool) -> bool:
    """Whether a dream could find anything: other rows, or for a deep one another day."""
    today = day_number(memory.clock.today())

    def read(store: Store) -> bool:
        last = last_dream(store, agent_id)
        return last.rows != rows_now(store).text or (deep and last.day != today)

    return await memory.thread.call(read, priority=Priority.READ)


async def last_dreamt(memory: Memory, *, deep: bool) -> int:
    """When all agents' memories were dreamt of last [ms], by a deep dream alone or by any; 0 = never."""
    kinds = ("deep",) if deep else ("deep", "new")
    return await memory.thread.call(
        lambda store: max(int(store.meta(f"dreamt/{kind}") or "0") for kind in kinds), priority=Priority.READ
    )


def have_dreamt(store: Store, deep: bool) -> None:
    """All agents' memories have been dreamt of now."""
    with store.transaction() as tx:
        tx.set_meta(f"dreamt/{'deep' if deep else 'new'}", str(store.clock.now_ms()))

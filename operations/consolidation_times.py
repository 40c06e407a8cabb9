"""When which consolidation is due: for the daemon's scheduler. Missed runs are made up once, the deepest one first."""

from collections.abc import Mapping
from datetime import UTC, datetime, time

from ..store import Store
from ..store.thread import Priority
from .consolidate import consolidate_daily, consolidate_monthly, consolidate_quick
from .memory import Memory
from .tier_replies import ConsolidateReply

QUICK_S = 7200.0
"""`quick` runs so often [s]."""
_RUNS = {"monthly": consolidate_monthly, "daily": consolidate_daily, "quick": consolidate_quick}


async def consolidate_due(memory: Memory) -> list[ConsolidateReply]:
    """Run the one consolidation that is due now, if any; to be called every few minutes.

    The first call of a new memory only notes the time, so that nothing is in the way of a first scan.
    """
    now = memory.clock.now_ms() / 1000
    last = await memory.thread.call(_last, priority=Priority.READ)
    if not any(last.values()):
        await memory.thread.call(lambda store: _note(store, now))
        return []
    mode = due_mode(last, now)
    return await _RUNS[mode](memory) if mode else []


def due_mode(last: Mapping[str, float], now: float) -> str:
    """The deepest mode that is due, '' for none; `last` [epoch seconds, 0 = never] when each was done.

    `monthly` since the local month began, `daily` since local midnight, `quick` every 2 h. A deeper run counts for
    the lighter modes; a time to come was written under a wrong clock and counts as never.
    """
    day = datetime.fromtimestamp(now, UTC).astimezone().date()
    began = {
        "monthly": datetime.combine(day.replace(day=1), time()).astimezone().timestamp(),
        "daily": datetime.combine(day, time()).astimezone().timestamp(),
        "quick": now - QUICK_S,
    }
    done = 0.0
    for mode, since in began.items():
        done = max(done, last[mode] if last[mode] <= now else 0.0)
        if done < since:
            return mode
    return ""


def _last(store: Store) -> dict[str, float]:
    return {mode: float(store.meta(f"consolidated/{mode}") or "0") for mode in _RUNS}


def _note(store: Store, now: float) -> None:
    with store.transaction() as tx:
        tx.set_meta("consolidated/monthly", str(now))

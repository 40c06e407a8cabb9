"""What the daemon does by the calendar: consolidation, dreams, restore drills, local snapshots."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import time
from functools import partial
from typing import Any

from ..clock import Clock
from ..errors import StoreDamagedError
from ..operations.consolidate import consolidate_daily, consolidate_monthly, consolidate_quick, last_consolidated
from ..operations.dream import LONG_TERM_LIMIT, dream_all, long_term_entries
from ..operations.drill import drill_when_due
from ..operations.last_dream import last_dreamt
from ..operations.memory import Memory
from ..operations.merge_index import merge_index
from ..operations.self_recall import probe
from .calendar import every, every_day, every_minutes, is_missing
from .scheduler import Scheduler

SNAPSHOT_AT = time(3, 40)
"""Local time of the daily snapshot, where there is no cloud."""
DRILL_AT = time(4, 20)
"""Local time at which it is asked each day whether a restore drill is due, where there is one."""
DREAM_AT = time(4, 0)
"""Local time of the deep dream, which looks at everything."""
DREAM_MINUTES = 30
"""So often a dream looks at what is new, if nobody needs the machine."""
IDLE_S = 60.0
"""Idle is a memory that nobody has asked anything for so long [s]."""
SELF_RECALL_S = 3600.0
"""How often the memory asks itself some of its own words [s]."""
MERGE_S = 6 * 3600.0
"""How often the full-text index is put together [s]."""

_MODES: dict[str, tuple[str, time, Callable[[Memory], Awaitable[Any]]]] = {
    "monthly": ("tree_rebuild", time(0, 20), consolidate_monthly),
    "daily": ("tree_prune", time(0, 10), consolidate_daily),
    "quick": ("warm_eviction", time(0, 0), consolidate_quick),
}
"""Setting of `[consolidation]`, local time and work; the deepest first: what it does, the later need not do again."""


class Upkeep:
    """Enters the regular work of one memory into a scheduler."""

    def __init__(self, memory: Memory, clock: Clock) -> None:
        self._memory, self._clock = memory, clock
        self._consolidated: dict[str, int] = {}
        """When each mode, or a deeper one, was done last [ms]."""
        self._drilled = 0
        self._dreamt: dict[bool, int] = {}
        """When the last dream was, by whether it was a deep one [ms]."""
        self._chance = random.Random()  # noqa: S311 - no secret
        self._one_at_a_time = asyncio.Lock()

    async def enter(self, scheduler: Scheduler) -> None:
        """Look when each work was done last, and have the scheduler do it from now on."""
        scheduler.every(SELF_RECALL_S, self._self_recall, "self-recall")
        scheduler.every(MERGE_S, partial(merge_index, self._memory), "the merge of the index")
        for mode in _MODES:
            self._consolidated[mode] = round((await last_consolidated(self._memory, mode) or 0) * 1000)
            scheduler.calendar(
                partial(self._latest, mode),
                partial(self._consolidate, mode),
                f"{mode} consolidation",
                partial(self._last, mode),
            )
        for deep, latest in ((True, every_day(DREAM_AT)), (False, every_minutes(DREAM_MINUTES))):
            self._dreamt[deep] = await last_dreamt(self._memory, deep=deep)
            name = "the dream" if deep else "the dream of what is new"
            scheduler.calendar(latest, partial(self._dream, deep=deep), name, partial(self._dreamt.__getitem__, deep))
        if self._memory.sync is None:
            scheduler.calendar(
                every_day(SNAPSHOT_AT), self._snapshot, "the local snapshot", lambda: self._memory.snapshots.last_ms
            )
        else:
            scheduler.calendar(every_day(DRILL_AT), self._drill, "the restore drill", lambda: self._drilled)

    def _latest(self, mode: str, now_ms: int) -> int:
        """The setting is asked each time, since it may have been read again."""
        setting, at, _ = _MODES[mode]
        return every(getattr(self._memory.settings.consolidation, setting), at)(now_ms)

    def _last(self, mode: str) -> int:
        return self._consolidated[mode]

    async def _consolidate(self, mode: str) -> None:
        async with self._one_at_a_time:
            if not is_missing(self._consolidated[mode], partial(self._latest, mode), self._clock.now_ms()):
                return  # a deeper one has done it meanwhile
            await _MODES[mode][2](self._memory)
            modes = list(_MODES)
            for each in modes[modes.index(mode) :]:
                self._consolidated[each] = self._clock.now_ms()

    async def _self_recall(self) -> None:
        await probe(self._memory, self._chance)

    async def _dream(self, *, deep: bool) -> None:
        # Where the memory is never idle, a full long-term layer does not wait for that: a dream makes way anyway.
        wanted = deep or self._memory.is_idle(IDLE_S) or await long_term_entries(self._memory) > LONG_TERM_LIMIT
        if not wanted:
            return
        async with self._one_at_a_time:
            await dream_all(self._memory, deep=deep)
            for each in (deep, False):
                self._dreamt[each] = self._clock.now_ms()

    async def _drill(self) -> None:
        await drill_when_due(self._memory)
        self._drilled = self._clock.now_ms()

    async def _snapshot(self) -> None:
        try:
            await self._memory.snapshots.take()
        except StoreDamagedError as error:
            self._memory.thread.damage = self._memory.thread.damage or error
            raise

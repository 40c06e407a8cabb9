"""Answered questions and the facts they showed, counted when nobody asks: a question never waits for its own counting.

In the daemon what was read is written two seconds after the last question, and half a minute after the first one at
the latest; a single command writes it before it ends, and so does the daemon's stop. A killed daemon loses the reads
of at most that half minute.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from itertools import islice

from ..errors import MemorydError
from ..store import Store
from ..store.thread import StoreThread
from ..store.versions import record_access
from ..tiers.counters import count_reads, count_retrievals

log = logging.getLogger(__name__)

QUIET_S = 2.0
"""What was read is written so long after the last question [s]."""
LONGEST_S = 30.0
"""And so long after the first one at the latest [s]: what a killed daemon may lose."""
BATCH = 60
"""Facts a step: about 20 ms on the store thread."""


class Reads:
    """What was asked and read since it was last written. Reads of one fact on one day are one."""

    def __init__(
        self,
        thread: StoreThread,
        settle: Callable[[], Awaitable[None]],
        *,
        quiet_s: float = QUIET_S,
        longest_s: float = LONGEST_S,
    ) -> None:
        self._thread = thread
        self._settle = settle
        self._quiet_s, self._longest_s = quiet_s, longest_s
        self._questions: Counter[str] = Counter()
        self._facts: dict[tuple[str, int], dict[str, None]] = {}
        """Agent and day → the facts read, in order."""
        self._timer: asyncio.TimerHandle | None = None
        self._latest = 0.0
        self._writing = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def waiting(self) -> int:
        """How many reads and questions are not written yet."""
        return sum(map(len, self._facts.values())) + self._questions.total()

    def note(self, agent_id: str, shown: Iterable[tuple[str, str]], day: int) -> None:
        """One question to `agent_id` was answered with the facts `(agent, id)`; `day` in days since 1970."""
        self._questions[agent_id] += 1
        for agent, fact in shown:
            self._facts.setdefault((agent, day), {})[fact] = None

    def write_when_quiet(self) -> None:
        """Write a little later, unless more is asked until then."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if self._timer is None:
            self._latest = now + self._longest_s
        else:
            self._timer.cancel()
        self._timer = loop.call_at(min(now + self._quiet_s, self._latest), self._begin)

    async def write(self) -> None:
        """Write everything that waits, in short steps, and bring the derived values in step."""
        async with self._writing:
            counted = 0
            for agent, day in list(self._facts):
                facts = self._facts[agent, day]
                while some := list(islice(facts, BATCH)):
                    counted += await self._thread.call(partial(_record, agent=agent, facts=some, day=day))
                    for fact in some:
                        del facts[fact]
                del self._facts[agent, day]
            if asked := Counter(self._questions):  # a copy: more is asked while the store's thread counts
                await self._thread.call(partial(count_retrievals, answered=asked))
                self._questions -= asked
        if counted:
            await self._settle()

    async def close(self) -> None:
        """Write what waits, and wait no longer."""
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.gather(*self._tasks)
        await self._write_or_say()

    def _begin(self) -> None:
        self._timer = None
        task = asyncio.get_running_loop().create_task(self._write_or_say())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _write_or_say(self) -> None:
        """What could not be written is kept and tried again with the next question or at the end."""
        try:
            await self.write()
        except MemorydError as error:
            log.warning("%s", error.message)


def _record(store: Store, agent: str, facts: Sequence[str], day: int) -> int:
    with store.transaction() as tx:
        counted = record_access(tx, agent, facts, day)
        count_reads(tx, agent, counted)
    return counted

"""The memory of one workspace, opened: what the daemon keeps alive, and a single command opens for itself."""

import asyncio
import logging
import os
from collections import deque
from collections.abc import Coroutine, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from .. import __version__
from ..clock import Clock
from ..config import Settings
from ..errors import MemorydError, UsageError
from ..places import Places, checked_name
from ..search.aliases import Aliases
from ..search.language import Language
from ..store.thread import Priority, StoreThread
from ..sync.service import SyncService
from .asking import Asking, Turn
from .connection import connected
from .critical import agent_numbers
from .forgotten_words import FreeText, Guard
from .former import missing_of_former
from .intake import Intake
from .opening import existing_workspace, open_store
from .pages import PageKeeper
from .progress import Progress, reporting_to
from .reads import Reads
from .rebuild import Rebuilt, mark_damaged, pages_wait, rebuilt
from .replies import AgentStatus, DreamStatus, RescanReply, Save, SelfRecall
from .requests import Request
from .settle import Settler
from .snapshots import SnapshotKeeper, copies_wait
from .table import Operation, Outcome
from .unfinished import Unfinished
from .watch_report import WatchReport

log = logging.getLogger(__name__)

RESCAN_S = 300.0
"""Every note is compared with the disk at least this often [s]."""


class Memory:
    """One workspace's memory. The caller holds the instance's lock."""

    def __init__(self, places: Places, settings: Settings, clock: Clock, workspace: Path, thread: StoreThread) -> None:
        self.places = places
        self.settings = settings
        self.clock = clock
        self.workspace = workspace
        self.thread = thread
        self.sync: SyncService | None = None
        self.watch = WatchReport()
        self.intake = Intake(thread, workspace, settings, clock, Unfinished(places.state / "reading"))
        self.settler = Settler(thread, settings)
        self.intake.settler = self.settler
        self.intake.after_batch = lambda: self.settler.derive(self.clock.today())
        self.pages = PageKeeper(thread, workspace, settings, clock)
        self.snapshots = SnapshotKeeper(places, clock)
        self.language = Language(places.state / "language", workspace / "memory" / "custom_dict.txt")
        self.recall: SelfRecall | None = None
        """What the latest self-recall found; None before the first."""
        self.aliases = Aliases(workspace / "memory" / "aliases.txt")
        self.rebuilt: Rebuilt | None = None
        """How the database was rebuilt after it was damaged; None when it never was."""
        self.agents: dict[str, AgentStatus] = {}
        self.saves: deque[Save] = deque(maxlen=10)
        """The last notes that were saved and became searchable while somebody watched."""
        self.contradictions_settled: dict[str, tuple[int, str]] = {}
        """At which of the settler's steps and on which day each agent's contradictions were looked for last."""
        self.device = ""
        self.activity = "idle"
        self.scan_due = True
        """Whether something on disk may differ that nobody has looked at since the start, or since events were lost."""
        self.last_scan: float | None = None
        self.started = clock.monotonic()
        self.version = __version__
        self.pid = os.getpid()
        self.resident = False
        """Whether this is the daemon's memory, which goes on after a command is answered."""
        self.reads = Reads(thread, self.settle)
        self._unsettled = 0
        self.free_text = FreeText(thread)
        self._later: set[asyncio.Task[None]] = set()
        self._settle_lock = asyncio.Lock()
        self.tasks_lock = asyncio.Lock()
        """Held while a working task's file is read and replaced."""
        self.dream_lock = Turn()
        """Held while a dream of any agent goes on, which waits for whoever asks: no request may wait for it."""
        self.dreams: DreamStatus | None = None
        """The last dream of this process; None before the first."""
        self.asking = Asking(clock)

    @classmethod
    async def open(
        cls,
        places: Places,
        settings: Settings,
        clock: Clock | None = None,
        *,
        url: str = "",
        token: str = "",
        resident: bool = False,
        may_upgrade: bool = True,
    ) -> "Memory":
        """Open the store of `places.workspace`; `url` '' works without a cloud. Raises `ConfigError`, `StoreError`.

        `resident` is the daemon's way: what an earlier process left to derive is derived with the first
        scan, after the socket answers; otherwise it is done before this returns. Without `may_upgrade` a store
        of an older memoryd is refused with `StoreOlderError`.
        """
        clock = clock or Clock()
        workspace = existing_workspace(places)
        thread = StoreThread(lambda: open_store(places, workspace, clock, may_upgrade=may_upgrade))
        await thread.start()
        try:
            memory = cls(places, settings, clock, workspace, thread)
            memory.device = await thread.call(lambda store: store.device, priority=Priority.READ)
            memory.rebuilt = await thread.call(lambda store: rebuilt(store, places), priority=Priority.READ)
            memory.pages.trusts_nothing = not url and await thread.call(pages_wait, priority=Priority.READ)
            if url:
                memory.sync = await connected(memory, url, token)
            await memory.intake.load()
            memory.resident = resident
            if not resident:
                await memory.settle()
        except BaseException:
            await thread.close()
            raise
        return memory

    @property
    def pending(self) -> int:
        """How many things are known, or have to be assumed, not to be in yet."""
        return len(self.intake.waiting) + self.watch.pending + self._unsettled + int(self.scan_due)

    async def hint(self, paths: Iterable[str]) -> None:
        """Look again at paths (relative, `/`) that may have changed, and take in those that did."""
        self.intake.taken.clear()
        if await self._counted(self.intake.look_at(paths)):
            await self.settle()
            self._time_saves()

    def _time_saves(self) -> None:
        now = self.clock.now_ms()
        self.saves.extend(Save(path, now / 1000, now / 1000 - written / 1e9) for path, written in self.intake.taken)
        self.intake.taken.clear()

    async def rescan(self, *, confirm_deletes: bool = False) -> RescanReply:
        """Compare every note with what is stored; returns when everything is in and searchable."""
        started = self.clock.monotonic()
        before, self.activity = self.activity, "scanning"
        try:
            result = await self.intake.scan(confirm_deletes=confirm_deletes)
            self.intake.taken.clear()  # nobody saved these a moment ago
            if self.pages.trusts_nothing:
                await self.settler.settle(self.clock.today())
                await self.pages.adopt(self._agents_here())
            await self.settle()
        finally:
            self.activity = before
        if self.sync is not None:
            self.sync.status.notices += await self.thread.call(missing_of_former)
        self.scan_due = False
        self.last_scan = self.clock.monotonic()
        return RescanReply(result.scanned, result.changed, round(self.last_scan - started, 3), result.held)

    async def settle(self, named: Iterable[str] = ()) -> None:
        """Bring derived values, index, MEMORY pages and numbers in step with the rows; tells the push.

        `named` are agents that a command spoke of: they may get a page of their own.
        """
        self._unsettled += 1
        try:
            async with self._settle_lock:
                await self._settle(set(named))
        finally:
            self._unsettled -= 1

    async def perform(self, operation: Operation, request: Request, progress: Progress | None = None) -> Outcome:
        """Run one operation of the table; `progress` is called with small dicts while it lasts."""
        request = msgspec.structs.replace(request, agent_id=request.agent_id or self.settings.agent_id)
        self._refuse_case_twin(checked_name(request.agent_id))
        with reporting_to(progress):
            # A dream must not wait for itself, and status asks nothing of the store.
            if operation.name in ("dream", "status"):
                reply = await operation.load()(self, request)
            else:
                with self.asking.answering():
                    await self._refuse_forgotten(request)
                    reply = await operation.load()(self, request)
        return reply if isinstance(reply, Outcome) else Outcome(reply)

    def is_idle(self, for_s: float) -> bool:
        """Whether nothing goes on, and nobody has asked anything for so many seconds."""
        return self.asking.is_quiet(for_s) and self.activity == "idle" and not self.pending

    async def _refuse_forgotten(self, request: Request) -> None:
        if request.said and not request.only_reads:
            guard = await self.thread.call(partial(Guard, agent_id=request.agent_id), priority=Priority.READ)
            # A long text takes half a second, in which others may ask.
            await asyncio.to_thread(guard.refuse, request.said)

    def _refuse_case_twin(self, agent: str) -> None:
        """Ids that differ by case only are refused: on some file systems they would share one page."""
        known = {*self.agents, *self._agents_here()}
        twin = next((each for each in known if each.lower() == agent.lower()), agent)
        if agent not in known and twin != agent:
            raise UsageError(
                f"There is an agent {twin!r}; {agent!r} differs from it by case only.", f"Use --agent-id {twin}."
            )

    @property
    def is_fresh(self) -> bool:
        """Whether the last whole comparison with the disk is younger than two rescan periods."""
        return self.last_scan is not None and self.clock.monotonic() - self.last_scan <= 2 * RESCAN_S

    @property
    def in_doubt(self) -> bool:
        """Whether the disk may differ from what is remembered: something waits, is held or unread, or nobody hears."""
        return bool(
            self.pending
            or not self.is_fresh
            or self.intake.hold.paths
            or self.intake.last_walk.unknown
            or self.intake.records.unreadable
            or (self.resident and self.watch.state == "degraded")
        )

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something after the reply went out; `close` waits for it."""
        task = asyncio.get_running_loop().create_task(_said(work))
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    async def close(self) -> None:
        """Finish what waits in the store thread and close everything."""
        await self.language.close()
        await asyncio.gather(*self._later)
        await self.reads.close()
        if self.sync is not None:
            await self.sync.close()
        await self.thread.close()
        if self.thread.damage is not None:
            mark_damaged(self.places, self.thread.damage.message, self.clock)

    async def _counted(self, changing: Any) -> int:
        self._unsettled += 1
        try:
            changed: int = await changing
            return changed
        finally:
            self._unsettled -= 1

    async def _settle(self, named: set[str]) -> None:
        today = self.clock.today()
        await self.free_text.follow(named)
        touched = await self.settler.settle(today)
        pages, self.intake.changed_pages = self.intake.changed_pages, set()
        if pages and await self.pages.read_back(pages):
            touched |= await self.settler.settle(today)
        # Pages are made only for agents that have a note or page here or were named in a command.
        if written := await self.pages.write((touched | pages | named) & (self._agents_here() | named)):
            await self.intake.look_at(written)
            self.intake.changed_pages.difference_update(touched | pages | named)
            touched |= await self.settler.settle(today)
        for agent in sorted(touched | named | self._agents_here() - set(self.agents)):
            numbers = partial(agent_numbers, agent_id=agent, clock=self.clock, settings=self.settings)
            self.agents[agent] = await self.thread.call(numbers)
        if await self.thread.call(copies_wait, priority=Priority.READ):
            self.later(self.snapshots.renew_if_due(self.thread))
        if self.sync is not None:
            self.sync.changed()

    def _agents_here(self) -> set[str]:
        return self.intake.records.agents | {self.settings.agent_id}


async def _said(work: Coroutine[Any, Any, None]) -> None:
    """Nobody waits for this work any more, so what it meets is said in the log."""
    try:
        await work
    except MemorydError as error:
        log.warning("%s", error.message)

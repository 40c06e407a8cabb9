"""The running daemon: which parts it has, how they are joined, and in which order they start and stop."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from ..clock import Clock
from ..config import Settings, load_settings
from ..errors import MemorydError
from ..operations.memory import Memory
from ..operations.requests import Request
from ..operations.self_recall import remember
from ..operations.table import Operation, Outcome
from ..operations.workspace_lock import WorkspaceLock
from ..places import Places
from .app import Progress, create_app
from .heap import give_back
from .inbox import Heard
from .listener import Listener
from .names import Extra
from .notify import Notifier
from .pulse import Pulse, arm_last_resort, disarm_last_resort, kept_running
from .scheduler import Scheduler
from .upkeep import Upkeep
from .watcher import Watcher
from .worker import Worker

log = logging.getLogger(__name__)

TICK_S = 5.0
SCAN_S = 300.0
SCAN_WITHOUT_EVENTS_S = 30.0
STATUS_S = 10.0
MUCH_WORK = 50
"""After so many calls of the store, free memory goes back to the system at the next quiet moment."""

CLIENTS_GRACE_S = 1.0
WORKER_GRACE_S = 2.0
LAST_PUSH_S = 5.0
CLOSE_S = 1.5
STOP_S = 10.0
"""The longest a stop may take; what the parts before it used up shortens the last push."""
HUNG_STOP_S = 15.0
"""A stop that hangs ends after this long with all stacks, before a service manager kills without a word (20 s)."""


class Daemon:
    """Joins memory, watcher, worker, socket and scheduler. `start`, then `stop`; errors of `start` are for the user.

    `damaged` is called when the database says that it is damaged: the memory has to be opened anew. `lost` is called
    with a name when the database or the lock is not that file any more: what is written goes nowhere.
    """

    def __init__(
        self,
        memory: Memory,
        places: Places,
        clock: Clock,
        notifier: Notifier,
        notes: WorkspaceLock | None = None,
        damaged: Callable[[], None] = lambda: None,
        lost: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.memory, self.places = memory, places
        self._clock, self._notifier, self._notes = clock, notifier, notes
        self.worker = Worker(memory.workspace, memory.hint, memory.rescan, clock)
        self.watcher = Watcher(
            memory.workspace,
            Extra.of(memory.settings.notes.extra),
            self._heard,
            self._events_missed,
            clock=clock,
            known_note=self._known_note,
        )
        memory.watch.caught_up = self._caught_up
        self.listener = Listener(places.socket, create_app(self))
        self.pulse = Pulse(notifier, memory.thread, self.worker, clock, memory.sync)
        self.scheduler = Scheduler(clock, self._resumed)
        self.upkeep = Upkeep(memory, clock)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._damaged, self._told_damage = damaged, False
        self._lost = lost
        self._given_back = -MUCH_WORK - 1  # the first quiet moment counts: opening may have been an upgrade
        """How many calls of the store had ended when free memory was given back last."""
        self._held: dict[Path, tuple[int, int]] = {}
        """The files that must stay where they are, by device and inode."""

    @property
    def workspace(self) -> Path:
        """Whose memory it is."""
        return self.memory.workspace

    async def start(self) -> None:
        """Watch, listen, say READY, and only then compare everything."""
        self._held = {path: identity_of(path) for path in (self.places.database, self.places.lock)}
        await self.watcher.start()
        await self.listener.start()
        self.scheduler.every(TICK_S, self._tick, "the watch over watcher and socket")
        self.scheduler.every(self._scan_interval_s, self._scan_in_time, "the regular scan")
        self.scheduler.every(STATUS_S, self._say_status, "the status line")
        self.scheduler.every(self.pulse.interval_s, self.pulse.beat, "the pulse")
        await remember(self.memory)
        await self.upkeep.enter(self.scheduler)
        await self.pulse.beat()
        self._notifier.ready(self._status_line())
        log.info("ready: pid %d, instance %s, watcher %s", self.memory.pid, self.places.instance, self.watcher.state)
        self.worker.request_scan("start")
        self._keep("taking in", self.worker.run)
        self._keep("the scheduler", self.scheduler.run)
        if self.memory.sync is not None:
            self._keep("sync", self.memory.sync.run)

    async def stop(self, *, for_good: bool = True) -> None:
        """End within 10 s: no new work, the running batch, one last push, then everything closed.

        Not `for_good`: the database is damaged, nothing more is sent, and the process opens it anew.
        """
        must_end = self._clock.monotonic() + STOP_S - CLOSE_S
        if for_good:
            self._notifier.stopping()
        else:
            self._notifier.reloading(self._clock.monotonic())
        arm_last_resort(HUNG_STOP_S)  # for good it stays armed: threads that hang would keep the interpreter too
        self.worker.stop()
        await self.watcher.stop()
        await self.listener.close(CLIENTS_GRACE_S)
        await self._end("the scheduler", 0)
        await self._end("taking in", WORKER_GRACE_S)
        await self._end("sync anew", 0)
        if await self._end("sync", 0) and self.memory.sync is not None and for_good:
            limit_s = min(LAST_PUSH_S, must_end - self._clock.monotonic())
            await _within(limit_s, self.memory.sync.last_push(limit_s), "the last push")
        await _within(CLOSE_S, self.memory.close(), "closing the store")
        if not for_good:
            disarm_last_resort()

    async def reload(self) -> None:
        """Read the settings again and compare everything; wrong settings change nothing."""
        self._notifier.reloading(self._clock.monotonic())
        try:
            settings = load_settings(self.places)
        except MemorydError as error:
            log.warning("the settings stay as they were: %s", error.message)
        else:
            _take_over(self.memory.settings, settings)
            await self.watcher.watch(Extra.of(settings.notes.extra))
            log.info("the settings were read again")
        self._compare_everything("reload")
        self._notifier.ready(self._status_line())

    async def perform(self, operation: Operation, request: Request, progress: Progress | None = None) -> Outcome:
        """Perform one operation for a client, with the watcher's report up to date."""
        self._report()
        return await self.memory.perform(operation, request, progress)

    def _keep(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        self._tasks[name] = asyncio.create_task(kept_running(name, work), name=name)

    async def _end(self, name: str, grace_s: float) -> bool:
        """End a task, at the latest after its grace; False if it had never begun."""
        task = self._tasks.pop(name, None)
        if task is None:
            return False
        if grace_s:
            await asyncio.wait({task}, timeout=grace_s)
        task.cancel()
        await asyncio.wait({task})
        return True

    def _heard(self, heard: Heard) -> None:
        if heard.everything:
            self.worker.suspect_everything()
        self.worker.hint(heard.paths)

    async def _caught_up(self) -> bool:
        heard = await self.watcher.caught_up()
        self._report()
        return heard

    def _known_note(self) -> str:
        return next((path for path in self.memory.intake.records if path.startswith("memory/")), "")

    def _events_missed(self, why: str) -> None:
        self._compare_everything(f"watcher: {why}")

    def _resumed(self, _: float) -> None:
        self.pulse.resumed()
        self._compare_everything("resume")
        if self.memory.sync is not None:
            self._keep("sync anew", self._sync_anew)

    async def _sync_anew(self) -> None:
        """With new connections and without the waits of before the sleep; what was under way is repeated."""
        sync = self.memory.sync
        if sync is not None and await self._end("sync", 0):
            await sync.resumed()
            self._keep("sync", sync.run)

    def _compare_everything(self, why: str) -> None:
        self.memory.scan_due = True
        self.worker.request_scan(why)

    def _scan_interval_s(self) -> float:
        return SCAN_S if self.watcher.state == "native" else SCAN_WITHOUT_EVENTS_S

    async def _scan_in_time(self) -> None:
        self.worker.request_scan("regular")

    async def _tick(self) -> None:
        await self.watcher.check()
        await self.listener.check()
        if self._notes is not None:
            self._notes.check()
        self._report()
        if gone := next((path.name for path, held in self._held.items() if not is_there(path, held)), ""):
            self._lost(gone)
        if self.memory.thread.damage is not None and not self._told_damage:
            self._told_damage = True
            self._damaged()

    async def _say_status(self) -> None:
        self._notifier.status(self._status_line())
        done = self.memory.thread.finished
        if done - self._given_back > MUCH_WORK and not self.memory.pending:
            self._given_back = done
            await asyncio.to_thread(give_back)

    def _status_line(self) -> str:
        sync = self.memory.sync.status.state if self.memory.sync is not None else "off"
        return f"watcher {self.watcher.state}, {len(self.memory.intake.records)} files known, sync {sync}"

    def _report(self) -> None:
        """Bring what status says of the watcher up to date."""
        watch, watcher, worker = self.memory.watch, self.watcher, self.worker
        watch.state, watch.alive = watcher.state, watcher.is_alive
        watch.events, watch.rebuilds, watch.last_event = watcher.events, watcher.rebuilds, watcher.last_event
        watch.pending = worker.waiting
        watch.next_scan = self.scheduler.next_run("the regular scan")
        second = self._notes.warning if self._notes is not None else None
        said = (watcher.warning, worker.warning, self.pulse.warning(), second)
        watch.warnings = [each for each in said if each is not None]


def identity_of(path: Path) -> tuple[int, int]:
    """Device and inode. Raises `OSError`."""
    found = path.stat()
    return found.st_dev, found.st_ino


def is_there(path: Path, held: tuple[int, int]) -> bool:
    """Whether the file still stands at its path, as far as anybody can tell."""
    try:
        return identity_of(path) == held
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _take_over(current: Settings, new: Settings) -> None:
    """Write `new` into `current`: every part of the memory holds that one object."""
    for field in msgspec.structs.fields(Settings):
        setattr(current, field.name, getattr(new, field.name))


async def _within(limit_s: float, work: Awaitable[object], what: str) -> None:
    try:
        await asyncio.wait_for(work, limit_s)
    except TimeoutError:
        log.warning("%s did not end within %g s; it is made up at the next start", what, limit_s)
    except MemorydError as error:
        log.warning("%s: %s", what, error.message)

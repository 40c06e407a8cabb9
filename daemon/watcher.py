"""The file watcher: watchdog's events as hints, and a distrustful look at whether it still lives.

Events get lost without an error (docs/engine.md), so nothing here is ever taken for the truth: an
event only means "look at this path again", and whoever watches is checked from outside.
"""

import asyncio
import contextlib
import errno
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from watchdog.observers.api import BaseObserver

from ..clock import Clock
from ..ingest.names import is_left_out
from .canary import Canary
from .echo import Echo
from .inbox import EVENTS, Door, Ear, Heard, Inbox
from .mounts import silent_mount
from .names import NOTES, Extra
from .observer import make_observer
from .watcher_warnings import DEAF, failure_warning, limit_warning, mount_warning

log = logging.getLogger(__name__)

State = Literal["native", "polling", "degraded"]
RETRY_S = (1.0, 60.0)
"""First and longest pause before a watcher that failed is built again."""
LIMIT_RETRY_S = 3600.0
"""Pause after the system's inotify limit was hit."""

Identity = dict[str, tuple[int, int] | None]


class Watcher:
    """Watches a workspace and builds the watching anew when it died or its folders were replaced.

    `on_hints` is called on the loop with what was heard; `on_rebuilt` when events may have been missed.
    `observer` makes the watchdog observer; tests hand in ones that fail. `known_note` names a note below
    `memory/` that is there, '' if there is none: when nothing was heard for a while it is opened, which must be heard.
    """

    def __init__(
        self,
        workspace: Path,
        extra: Extra,
        on_hints: Callable[[Heard], None],
        on_rebuilt: Callable[[str], None],
        *,
        clock: Clock,
        observer: Callable[[], BaseObserver] = make_observer,
        silent_mount: Callable[[Path], str] = silent_mount,
        known_note: Callable[[], str] = lambda: "",
    ) -> None:
        self.workspace = workspace
        self.state: State = "degraded"
        self.warning: tuple[str, str, str] | None = None
        """Code, message and fix while the state is not native."""
        self.rebuilds = 0
        self.last_event: float | None = None
        """Monotonic time of the last event that passed the filter."""
        self._extra = extra
        self._on_hints, self._on_rebuilt = on_hints, on_rebuilt
        self._clock, self._make, self._silent_mount = clock, observer, silent_mount
        self._loop: asyncio.AbstractEventLoop | None = None
        self._observer: BaseObserver | None = None
        self._identity: Identity = {}
        self._inbox = Inbox(self._wake, self._extra)
        self._ear = Ear(self._inbox.lost)
        self._pause = RETRY_S[0]
        self._retry_at = 0.0
        self._known_note = known_note
        self._canary = Canary(workspace, self._inbox, clock)
        self._echo = Echo(workspace, self._inbox)

    @property
    def events(self) -> int:
        """How many events passed the name filter."""
        return self._inbox.events

    @property
    def is_alive(self) -> bool:
        """Whether every thread that watches is running."""
        return self._observer is not None and _is_alive(self._observer)

    async def start(self) -> None:
        """Begin to watch; a system that refuses leaves the state `polling` or `degraded`, it never raises."""
        self._loop = asyncio.get_running_loop()
        for name in _WATCHDOG_LOGGERS:
            logging.getLogger(name).addHandler(self._ear)
            logging.getLogger(name).propagate = False
        await self._build()

    async def caught_up(self) -> bool:
        """Whether what happened to notes before this call has been heard, as far as a working watcher hears at all."""
        # What another watcher does not hear is said by its state.
        return self.state != "native" or await self._echo.heard(self._known_note())

    async def check(self) -> None:
        """Look whether the watching still works, and build it anew if not. Called each tick."""
        now = self._clock.monotonic()
        if self._observer is None:
            if now >= self._retry_at:
                await self._rebuild("it was down")
        elif not self.is_alive:
            await self._rebuild("it had died")
        elif self._ear.errors:
            await self._rebuild("it reported an error")
        else:
            await self._act_upon(await asyncio.to_thread(self._inspect, self._known_note()))

    async def watch(self, extra: Extra) -> None:
        """Watch other folders beside `memory/` from now on."""
        if extra != self._extra:
            self._extra = self._inbox.extra = extra
            await self._rebuild("other folders are to be watched")

    async def stop(self) -> None:
        """Stop watching."""
        for name in _WATCHDOG_LOGGERS:
            logging.getLogger(name).removeHandler(self._ear)
        await self._drop()
        self._loop = None

    def _inspect(self, note: str) -> Literal["", "replaced", "deaf"]:
        # One visit of another thread for both questions: each visit costs an idle daemon three wake-ups.
        if self._look() != self._identity:
            return "replaced"
        return "deaf" if self._canary.is_dead(note) else ""

    async def _act_upon(self, found: str) -> None:
        if found == "replaced":
            await self._rebuild("its folder was replaced")
        elif found == "deaf":
            await self._go_deaf()
        elif self.state == "degraded" and self._canary.heard:
            self._hear_again()

    async def _go_deaf(self) -> None:
        await self._rebuild("it did not hear that a note was opened")
        if self._observer is not None and self.state == "native":
            self._go_without(DEAF, self._pause, "degraded")

    def _hear_again(self) -> None:
        log.info("the file watcher hears again")
        self.state, self.warning = "native", None

    async def _rebuild(self, why: str) -> None:
        await self._drop()
        if await self._build():
            self.rebuilds += 1
            log.info("the file watcher was set up again: %s", why)
            self._on_rebuilt(why)

    async def _build(self) -> bool:
        self._ear.errors = 0
        self._canary.reset()
        self._identity = await asyncio.to_thread(self._look)
        try:
            if self._identity[""] is None:
                raise FileNotFoundError(errno.ENOENT, "the workspace folder is missing", str(self.workspace))
            self._observer = await asyncio.to_thread(self._observe, self._folders())
        except (OSError, RuntimeError) as error:
            self._failed(error)
            return False
        self._pause = RETRY_S[0]
        if kind := self._silent_mount(self.workspace):
            # What this machine writes is still heard; the rest is found by scanning.
            self._go_without(("watcher_mount", *mount_warning(kind)), LIMIT_RETRY_S)
            return True
        if self.warning:
            log.info("the file watcher works again")
        self.state, self.warning = "native", None
        return True

    def _failed(self, error: OSError | RuntimeError) -> None:
        number = error.errno if isinstance(error, OSError) else None
        if number in (errno.EMFILE, errno.ENOSPC):
            self._go_without(limit_warning(number), LIMIT_RETRY_S)
        else:
            self._go_without(failure_warning(error), self._pause, "degraded")
            self._pause = min(self._pause * 2, RETRY_S[1])

    def _go_without(self, warning: tuple[str, str, str], pause_s: float, state: State = "polling") -> None:
        self.state = state
        self._retry_at = self._clock.monotonic() + pause_s
        if warning != self.warning:
            log.warning("%s %s", warning[1], warning[2])
        self.warning = warning

    def _observe(self, folders: list[tuple[str, str, bool]]) -> BaseObserver:
        observer = self._make()
        try:
            for root, prefix, recursive in folders:
                observer.schedule(Door(self._inbox, root, prefix), root, recursive=recursive, event_filter=EVENTS)
            observer.start()
        except BaseException:
            _end(observer)
            raise
        return observer

    def _folders(self) -> list[tuple[str, str, bool]]:
        """(real folder, its name inside the workspace, with all below it)."""
        found = [(str(self.workspace), "", self._extra.everything)]
        for name in (NOTES, *self._extra.folders):
            folder = self.workspace / name
            if folder.is_dir():
                real = os.path.realpath(folder)
                if real != str(folder):
                    log.info("%s is a link; its target is watched", name)
                elif self._extra.everything and not is_left_out(name):
                    continue  # with the workspace
                found.append((real, name, True))
        return found

    def _look(self) -> Identity:
        return {name: _identity(self.workspace / name) for name in ("", NOTES, *self._extra.folders)}

    async def _drop(self) -> None:
        observer, self._observer = self._observer, None
        if observer is not None:
            await asyncio.to_thread(_end, observer)

    def _wake(self) -> None:
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended; nobody is there to hear
                loop.call_soon_threadsafe(self._hear)

    def _hear(self) -> None:
        heard = self._inbox.take()
        if heard.paths or heard.everything:
            self.last_event = self._clock.monotonic()
            self._on_hints(heard)


_WATCHDOG_LOGGERS = ("watchdog.observers.inotify_c", "watchdog.observers.inotify", "watchdog.observers.fsevents")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    # A folder of mode 000 raises nothing in watchdog (docs/engine.md). Asked without opening it: that would be heard.
    return (found.st_dev, found.st_ino) if os.access(path, os.R_OK | os.X_OK) else None


def _is_alive(observer: BaseObserver) -> bool:
    # watchdog 7 reads the kernel's queue in a thread of the observer that `emitters` does not list.
    reader: Any = getattr(observer, "_inotify_fd", None)
    return (
        observer.is_alive()
        and bool(observer.emitters)
        and all(each.is_alive() for each in observer.emitters)
        and (reader is None or reader.is_alive())
    )


def _end(observer: BaseObserver) -> None:
    if observer.is_alive():
        observer.stop()
        observer.join(2.0)
        return
    # Never started: its emitters and, in watchdog 7, its reader thread may run already.
    observer.unschedule_all()
    reader: Any = getattr(observer, "_inotify_fd", None)
    if reader is not None:
        reader.stop()

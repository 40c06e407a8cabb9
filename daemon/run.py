"""`memoryd run`: the daemon in the foreground, from the lock to the exit code."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator
from typing import TypeAlias

import msgspec

from ..clock import Clock
from ..config import Settings
from ..errors import ConfigError, MemorydError, StoreDamagedError, StoreError
from ..operations.lock import DAEMON, InstanceLock
from ..operations.memory import Memory
from ..operations.opening import existing_workspace
from ..operations.workspace_lock import WorkspaceLock
from ..places import Places
from .daemon import Daemon
from .logs import set_up_logging
from .notify import Notifier

log = logging.getLogger(__name__)

Ending: TypeAlias = signal.Signals | str | None
"""What ends a daemon's life: a signal, the name of a file that is gone, or None for a damaged database."""

DAMAGES, DAMAGES_S = 3, 3600.0
"""A database that is damaged more often than so within so many seconds is left to a person."""
PATIENCE_STEP_S = 10.0
PATIENCE_S = 3600.0
"""The longest a migration or rebuild may take before the service manager decides [s]."""
LOCK_WAIT_S = 30.0
"""How long a starting daemon waits for a running command; it never waits for another daemon."""


def run(places: Places, settings: Settings, url: str = "", token: str = "") -> int:
    """Run until a signal ends it, and return the exit code.

    Raises the error that kept it from starting (`TryLaterError` when another daemon runs here, or serves this
    workspace). The one exception: launchd would start a daemon with wrong settings again and again, so there a
    `ConfigError` is logged, written to `last-error.json` in the state folder, and 0 returned.
    """
    os.umask(0o077)
    set_up_logging(places.instance)
    notifier, lock, notes = Notifier(), InstanceLock(places.lock, DAEMON), None
    try:
        lock.acquire(LOCK_WAIT_S)
        notes = WorkspaceLock(existing_workspace(places))
        notes.take()
        (places.state / "last-error.json").unlink(missing_ok=True)
        return asyncio.run(_serve(places, settings, url, token, notifier, notes))
    except MemorydError as error:
        notifier.failed(error.message)
        if isinstance(error, ConfigError) and _under_launchd():
            log.error("%s %s", error.message, error.hint)  # noqa: TRY400 - expected, and said in full
            (places.state / "last-error.json").write_bytes(msgspec.json.encode(error.as_dict()))
            return 0
        raise
    finally:
        if notes is not None:
            notes.release()
        lock.release()


async def _serve(
    places: Places, settings: Settings, url: str, token: str, notifier: Notifier, notes: WorkspaceLock | None = None
) -> int:
    events: asyncio.Queue[Ending] = asyncio.Queue()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, events.put_nowait, number)
    clock = Clock()
    damages: list[float] = []
    while True:
        async with _patience(notifier):
            memory = await Memory.open(places, settings, clock, url=url, token=token, resident=True)
        daemon = Daemon(
            memory,
            places,
            clock,
            notifier,
            damaged=lambda: events.put_nowait(None),
            lost=events.put_nowait,
            notes=notes,
        )
        ended = await _live(daemon, events)
        if isinstance(ended, str):
            raise StoreError(
                f"{places.state / ended} was removed or replaced while the daemon ran.",
                "Its service starts it again, else: memoryd run; the notes are read anew.",
            )
        if ended is not None:
            log.info("stopped")
            return 0
        damages = [*(each for each in damages if clock.monotonic() - each < DAMAGES_S), clock.monotonic()]
        if len(damages) > DAMAGES:
            raise StoreDamagedError("The database is damaged again and again.", "Check the disk, then start again.")


async def _live(daemon: Daemon, events: "asyncio.Queue[Ending]") -> Ending:
    """One daemon from start to stop; returns what ended it."""
    received: Ending = signal.SIGTERM
    try:
        await daemon.start()
        while (received := await events.get()) is signal.SIGHUP:
            await daemon.reload()
        log.info("stopping: %s", _reason(received))
        return received
    finally:
        await daemon.stop(for_good=received is not None)


def _reason(ending: Ending) -> str:
    if isinstance(ending, signal.Signals):
        return ending.name
    return f"{ending} is gone" if ending else "the database is damaged and is opened anew"


@contextlib.asynccontextmanager
async def _patience(notifier: Notifier) -> AsyncIterator[None]:
    """While the store is opened, which may migrate or rebuild it, the service manager is asked to wait."""

    async def ask() -> None:
        for _ in range(round(PATIENCE_S / PATIENCE_STEP_S)):
            await asyncio.sleep(PATIENCE_STEP_S)
            notifier.still_starting(3 * PATIENCE_STEP_S)

    asking = asyncio.create_task(ask())
    try:
        yield
    finally:
        asking.cancel()


def _under_launchd() -> bool:
    return sys.platform == "darwin" and os.environ.get("XPC_SERVICE_NAME", "0") not in ("", "0")

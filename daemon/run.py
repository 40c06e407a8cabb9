"""`memoryd run`: the daemon in the foreground, from the lock to the exit code."""

import asyncio
import logging
import os
import signal
import sys

import msgspec

from ..clock import Clock
from ..config import Places, Settings
from ..errors import ConfigError, MemorydError
from ..operations.lock import DAEMON, InstanceLock
from ..operations.memory import Memory
from .daemon import Daemon
from .logs import set_up_logging
from .notify import Notifier
from .pulse import disarm_last_resort

log = logging.getLogger(__name__)

LOCK_WAIT_S = 30.0
"""How long a starting daemon waits for a running command; it never waits for another daemon."""


def run(places: Places, settings: Settings, url: str = "", token: str = "") -> int:
    """Run until a signal ends it, and return the exit code.

    Raises the error that kept it from starting (`TryLaterError` when another daemon runs here). The
    one exception: launchd would start a daemon with wrong settings again and again, so there a
    `ConfigError` is logged, written to `last-error.json` in the state folder, and 0 returned.
    """
    os.umask(0o077)
    set_up_logging(places.instance)
    notifier, lock = Notifier(), InstanceLock(places.lock, DAEMON)
    try:
        lock.acquire(LOCK_WAIT_S)
        (places.state / "last-error.json").unlink(missing_ok=True)
        return asyncio.run(_serve(places, settings, url, token, notifier))
    except MemorydError as error:
        notifier.failed(error.message)
        if isinstance(error, ConfigError) and _under_launchd():
            log.error("%s %s", error.message, error.hint)  # noqa: TRY400 - expected, and said in full
            (places.state / "last-error.json").write_bytes(msgspec.json.encode(error.as_dict()))
            return 0
        raise
    finally:
        disarm_last_resort()
        lock.release()


async def _serve(places: Places, settings: Settings, url: str, token: str, notifier: Notifier) -> int:
    signals: asyncio.Queue[signal.Signals] = asyncio.Queue()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, signals.put_nowait, number)
    clock = Clock()
    memory = await Memory.open(places, settings, clock, url=url, token=token, resident=True)
    daemon = Daemon(memory, places, clock, notifier)
    try:
        await daemon.start()
        while (received := await signals.get()) is signal.SIGHUP:
            await daemon.reload()
        log.info("stopping: %s", received.name)
    finally:
        await daemon.stop()
    log.info("stopped")
    return 0


def _under_launchd() -> bool:
    return sys.platform == "darwin" and os.environ.get("XPC_SERVICE_NAME", "0") not in ("", "0")

"""Where a command is performed: in the running daemon, or here under the same lock."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..errors import MemorydError, NotRunningError, TryLaterError
from ..operations.table import Operation
from ..places import Places, find_places, find_socket
from .client import ANSWER_S, STATUS_S, Answer, Daemon
from .common import Common
from .output import progress_shown, warn

if TYPE_CHECKING:
    from ..operations.lock import InstanceLock

LOCK_WAIT_S = 30.0
_LOOK_AGAIN_S = 0.05

Progress = Callable[[dict[str, Any]], None]


def perform(operation: Operation, payload: dict[str, Any], common: Common) -> Answer:
    """Ask the daemon; where none runs, do it in this process."""
    if common.auth_token:
        warn("--auth-token shows in the list of processes; TURSO_AUTH_TOKEN does not.")
    daemon = Daemon.connect(find_socket(common.instance))
    if daemon is not None:
        return _by_daemon(daemon, operation, payload, common)
    if operation.where == "daemon":
        raise not_running(common)
    return _here(operation, payload, common)


def not_running(common: Common) -> MemorydError:
    """Why no daemon answers: there is none, or it is opening its memory, which an upgrade or a rebuild prolongs."""
    from ..operations.lock import DAEMON, held_by

    holder = held_by(find_places(common.workspace, common.instance).lock)
    if holder is not None and holder.command == DAEMON:
        return TryLaterError(
            f"The daemon does not answer yet (pid {holder.pid}, since {holder.since}).",
            "It opens its memory, which takes a while after an upgrade or damage; its log says more.",
        )
    return NotRunningError("No daemon runs here.", "Start it: memoryd service start, or memoryd run.")


def _by_daemon(daemon: Daemon, operation: Operation, payload: dict[str, Any], common: Common) -> Answer:
    if operation.where == "alone":
        daemon.close()
        raise TryLaterError(
            f"{operation.name} does not work beside a running daemon.", "Stop it first: memoryd service stop."
        )
    if common.db_url or common.auth_token:
        warn("the running daemon uses its own cloud; --db-url and --auth-token are not used.")
    with _progress(operation, common) as progress:
        answer = daemon.ask(
            operation.name,
            payload,
            workspace=common.named_workspace,
            limit_s=None if operation.long else STATUS_S if operation.name == "status" else ANSWER_S,
            progress=progress,
        )
    _compare_versions(answer)
    return answer


def _here(operation: Operation, payload: dict[str, Any], common: Common) -> Answer:
    from .alone import perform_here, places_of

    places = places_of(common)
    found = _lock_or_daemon(places, operation.name)
    if isinstance(found, Daemon):
        return _by_daemon(found, operation, payload, common)
    try:
        with _progress(operation, common) as progress:
            return perform_here(operation, payload, common, places, progress)
    finally:
        found.release()


def _lock_or_daemon(places: Places, command: str) -> "InstanceLock | Daemon":
    """The lock; or a daemon, if whoever held the lock was one that has just become ready."""
    from ..operations.lock import InstanceLock

    lock = InstanceLock(places.lock, command)
    until = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            lock.acquire()
        except TryLaterError:
            daemon = Daemon.connect(places.socket)
            if daemon is not None:
                return daemon
            if time.monotonic() > until:
                raise
            time.sleep(_LOOK_AGAIN_S)
        else:
            return lock


@contextlib.contextmanager
def _progress(operation: Operation, common: Common) -> Iterator[Progress | None]:
    if operation.long:
        with progress_shown(common, operation.name) as progress:
            yield progress
    else:
        yield None


def _compare_versions(answer: Answer) -> None:
    from .. import __version__

    if answer.version and answer.version != __version__:
        warn(f"the daemon is memoryd {answer.version}, this is {__version__}; restart the daemon.")

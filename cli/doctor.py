"""`memoryd doctor`: the memory's own checks, by the daemon where one runs, and those that only a client can make."""

import os
from collections.abc import Iterator

import msgspec

from .. import __version__
from ..cloud_config import cloud_url
from ..config import load_settings, settings_sources
from ..daemon import service
from ..daemon.mounts import silent_mount
from ..errors import MemorydError, StoreOlderError, TryLaterError
from ..operations.doctor_memory import settings_in_force
from ..operations.doctor_places import check_places
from ..operations.doctor_replies import Check, DoctorReply, failed, good, warned
from ..operations.table import OPERATIONS
from ..places import Places, find_places
from .client import Answer, Daemon
from .common import Common
from .doctor_block import block
from .perform import perform

_CLOUD_NAMES = ("TURSO_DATABASE_URL", "TURSO_URL", "TURSO_AUTH_TOKEN", "TURSO_TOKEN", "TURSO_AUTH_TOKEN_FILE")


def doctor(common: Common, manager: service.Manager | None = None) -> Answer:
    """The whole report; exit code 1 when a check failed, 0 when there are only warnings."""
    try:
        places = find_places(common.workspace, common.instance)
    except MemorydError as error:
        return _answer(DoctorReply(False, "command", [failed("places", error.message, error.hint)], []), None)
    reply, daemon = _inside(places, common)
    reply.checks += [_configuration(places), *_socket(places, daemon), *_service(places, manager), _mount(places)]
    if daemon is not None:
        reply.checks += _environment(reply)
    return _answer(reply, places)


def _answer(reply: DoctorReply, places: Places | None) -> Answer:
    reply.ok = all(check.state != "fail" for check in reply.checks)
    reply.block = block(reply, places)
    return Answer(msgspec.json.encode(reply), 0 if reply.ok else 1)


def _inside(places: Places, common: Common) -> tuple[DoctorReply, str | None]:
    """What the memory says of itself, and the daemon's version if one runs; without either, what the folders say."""
    running: str | None = None
    try:
        daemon = Daemon.connect(places.socket)
        if daemon is not None:
            daemon.close()
            running = ""
        elif not places.database.exists() or places.workspace is None:
            return _without_memory(places, good("memory", "There is none yet; the first memoryd run makes it.")), None
        answer = perform(OPERATIONS["doctor"], {}, common)
    except (StoreOlderError, TryLaterError) as error:  # a matter of time
        return _without_memory(places, warned("memory", error.message, error.hint)), running
    except MemorydError as error:
        return _without_memory(places, failed("memory", error.message, error.hint)), running
    return msgspec.json.decode(answer.body, type=DoctorReply), answer.version if daemon is not None else None


def _without_memory(places: Places, said: Check) -> DoctorReply:
    return DoctorReply(True, "command", [*check_places(places, watching=False), said], [])


def _configuration(places: Places) -> Check:
    try:
        settings = load_settings(places)
        cloud_url(settings)
        sources = settings_sources(places)
    except MemorydError as error:
        return failed("configuration", error.message, error.hint)
    said = [each for each in settings_in_force(settings, sources) if each.source != "default"]
    where = f"{places.config} is read" if places.config.exists() else f"{places.config} does not exist: all defaults"
    return good("configuration", f"{where}; {len(said)} settings are not the default.")


def _socket(places: Places, version: str | None) -> Iterator[Check]:
    path = places.socket
    length = len(os.fsencode(path))
    try:
        modes = path.parent.stat().st_mode | path.stat().st_mode
    except FileNotFoundError:
        version = None  # it has just ended
    if version is None:
        yield warned(
            "socket", f"No daemon answers at {path} ({length} bytes).", "memoryd service start, or memoryd run"
        )
        return
    if modes & 0o077:
        yield failed(
            "socket", f"Others can reach {path}.", f"Run: chmod 700 {path.parent}; then start the daemon again"
        )
    else:
        yield good("socket", f"The daemon answers at {path} ({length} bytes), for this user alone.")
    if version != __version__:
        yield failed(
            "version",
            f"The daemon is memoryd {version or 'of an unknown version'}, this command {__version__}.",
            "Restart it: memoryd service stop, then start.",
        )
    else:
        yield good("version", f"Daemon and command are both memoryd {__version__}.")


def _service(places: Places, manager: service.Manager | None) -> Iterator[Check]:
    try:
        found = manager or service.manager_for(places)
        status = service.status(places, found)
        if not status.installed:
            yield warned("service", "memoryd is no service: it does not start by itself.", "memoryd service install")
            return
        health = found.health()
    except (MemorydError, OSError) as error:
        said, hint = (error.message, error.hint) if isinstance(error, MemorydError) else (str(error), "")
        yield warned("service", said, hint or "memoryd service status")
        return
    if not status.running:
        yield warned("service", f"{status.service} is installed but does not run.", "memoryd service start")
    elif not health.enabled:
        yield warned("service", f"{status.service} does not start at the next login.", "memoryd service install")
    else:
        yield good("service", f"{status.service} runs and starts at every login.")
    if not health.as_shipped:
        yield warned("unit", f"{status.file} is not what this memoryd would write.", "memoryd service install")
    else:
        yield good("unit", f"{status.file} is as this memoryd writes it.")
    if health.lingers is False:
        yield warned("linger", "The service ends when you log out.", "loginctl enable-linger")


def _mount(places: Places) -> Check:
    kind = silent_mount(places.workspace) if places.workspace is not None else ""
    if kind:
        return warned(
            "file system",
            f"The workspace lies on {kind}: what other machines write is found by polling.",
            "Nothing, if that is meant.",
        )
    return good("file system", "Changes on the workspace's file system are heard.")


def _environment(reply: DoctorReply) -> Iterator[Check]:
    """Variables of this shell that the running daemon does not see: the original exported what nothing read (F6)."""
    tokens = [check.message for check in reply.checks if check.name == "token"]
    here = [name for name in _CLOUD_NAMES if os.environ.get(name)]
    if here and any("No cloud" in message for message in tokens):
        yield warned(
            "environment",
            f"The daemon does not see {', '.join(here)} of this shell.",
            "Put sync.url and sync.token_file into the configuration, then start the daemon again.",
        )

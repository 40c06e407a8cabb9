"""What `doctor` sees without a memory: platform, folders and their rights, disk, inotify, leftovers."""

import ctypes
import errno
import importlib.metadata
import os
import platform
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from .. import __version__, seed_config
from ..config import unknown_seed_keys
from ..errors import MemorydError, error_from_dict
from ..places import Places
from .doctor_replies import Check, failed, good, looked, warned

ENGINE = "libsql-experimental"
PYTHONS = ((3, 11), (3, 14))
"""The first Python that works, and the first that does not."""
LOW_BYTES, FULL_BYTES = 500_000_000, 50_000_000
"""Less free room than this is a warning, or a failure."""
_INOTIFY = Path("/proc/sys/fs/inotify")
_PROC = Path("/proc")
_LEFT_IN_STATE = ("*.new", "scratch-*", "snapshots/unfinished*", "memory.db.corrupt-*")
_LEFT_IN_WORKSPACE = (".MEMORY*.md.memoryd*", "memory/**/.memoryd-restore-*")
_UNDER_WAY_S = 600.0
"""A younger file may be in use at this moment."""


def check_places(places: Places, *, watching: bool) -> Iterator[Check]:
    """Everything that can be seen with the eyes of this process; `watching`: it watches the notes already."""
    yield looked("platform", _platform)
    yield looked("python", _python)
    yield looked("workspace", lambda: _workspace(places))
    yield looked("config.json", lambda: _seed_file(places))
    yield looked("state", lambda: _state(places))
    yield looked("disk", lambda: _disk(places))
    yield looked("inotify", lambda: _inotify(places, watching=watching))
    yield looked("leftovers", lambda: _leftovers(places))
    yield looked("last start", lambda: _last_start(places))


def _platform() -> Check:
    system, machine = platform.system(), platform.machine()
    here = f"{system} {machine}"
    try:
        engine = importlib.metadata.version(ENGINE)
    except importlib.metadata.PackageNotFoundError:
        return failed("platform", f"{here}: the engine {ENGINE} is not installed.", "Install memoryd again with pip.")
    wanted = next(
        (each.partition("==")[2] for each in importlib.metadata.requires("memoryd") or () if each.startswith(ENGINE)),
        "",
    )
    if engine != wanted:
        return failed(
            "platform", f"{ENGINE} is {engine}, memoryd was measured on {wanted}.", f"pip install {ENGINE}=={wanted}"
        )
    if system != "Darwin" and (system, machine) != ("Linux", "x86_64"):
        return warned("platform", f"memoryd is not tested on {here}.", "Linux x86-64 and macOS are.")
    return good("platform", f"memoryd {__version__} on {here}, {ENGINE} {engine}.")


def _python(version: tuple[int, ...] = sys.version_info[:3]) -> Check:
    shown = ".".join(map(str, version))
    first, end = PYTHONS
    if not first <= version[:2] < end:
        return failed("python", f"Python {shown} is not supported.", "Install memoryd with Python 3.11, 3.12 or 3.13.")
    return good("python", f"Python {shown}.")


def _workspace(places: Places) -> Check:
    root = places.workspace
    if root is None or not root.is_dir():
        named = "No workspace is known." if root is None else f"The workspace {root} does not exist."
        return failed("workspace", named, "Go to the folder that shall hold your notes and run: memoryd init")
    unreadable = [found for folder in (root, root / "memory") if (found := _cannot_list(folder))]
    if unreadable:
        return failed("workspace", unreadable[0], _privacy_fix(root))
    if not os.access(root, os.W_OK | os.X_OK):
        return warned(
            "workspace", f"{root} cannot be written: MEMORY.md is not kept up to date.", f"Run: chmod u+wx {root}"
        )
    if not (root / "memory").is_dir():
        return warned("workspace", f"{root} has no folder memory/.", "Run: memoryd init")
    return good("workspace", f"{root} and its memory/ can be read and written.")


def _cannot_list(folder: Path) -> str:
    try:
        with os.scandir(folder) as entries:
            next(entries, None)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{folder} cannot be listed: {error.strerror}."
    return ""


def _privacy_fix(root: Path) -> str:
    if sys.platform == "darwin":
        return f"System Settings, Privacy & Security, Files and Folders: allow {sys.executable}."
    return f"Check owner and mode: ls -ld {root} {root}/memory"


def _seed_file(places: Places) -> Check:
    path = (places.workspace or Path()) / seed_config.NAME
    if places.workspace is None or not path.exists():
        return good("config.json", "There is none of the original skill.")
    try:
        unknown = unknown_seed_keys(path)
    except MemorydError as error:
        return failed("config.json", error.message, error.hint)
    ignored = f" Ignored: {', '.join(unknown)}." if unknown else ""
    return good("config.json", f"{path} is read.{ignored}")


def _state(places: Places) -> Check:
    state = places.state
    if not state.exists():
        return warned("state", f"{state} does not exist yet.", "It is made by the first: memoryd run")
    if places.workspace is not None and state.resolve().is_relative_to(places.workspace.resolve()):
        return failed(
            "state", f"{state} lies inside the workspace.", "Set MEMORYD_STATE_DIR to a folder outside of it."
        )
    for path in (state, places.database):
        if path.exists() and (found := path.stat()).st_uid != os.getuid():
            return failed("state", f"{path} belongs to another user ({found.st_uid}).", "Use a folder of your own.")
    if not os.access(state, os.R_OK | os.W_OK | os.X_OK):
        return failed("state", f"{state} cannot be written.", f"Run: chmod 700 {state}")
    for path, mode in ((state, 0o700), (places.database, 0o600)):
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
            return failed("state", f"{path} can be entered or read by others.", f"Run: chmod {mode:o} {path}")
    return good("state", f"{state} is private and outside of the workspace.")


def _disk(places: Places) -> Check:
    folders = [each for each in (places.state, places.workspace) if each is not None and each.exists()]
    if not folders:
        return good("disk", "There is nothing on the disk yet.")
    folder = min(folders, key=lambda each: shutil.disk_usage(each).free)
    free = shutil.disk_usage(folder).free
    said = f"{free / 1e6:,.0f} MB are free on the disk of {folder}."
    if free < FULL_BYTES:
        return failed("disk", said, "Make room; until then notes wait and nothing is lost.")
    size = places.database.stat().st_size if places.database.exists() else 0
    if free < max(LOW_BYTES, 2 * size):
        return warned("disk", said, "Make room: a snapshot needs as much as the database once more.")
    return good("disk", said)


def _inotify(places: Places, *, watching: bool) -> Check:
    if sys.platform != "linux" or places.workspace is None:
        return good("inotify", "Not used here.")
    needed = 1 + sum(1 for _ in os.walk(places.workspace / "memory"))
    limit = _number(_INOTIFY / "max_user_watches")
    used = _watches_in_use()
    raised = max(2 * limit, 2 * (used + needed))
    if refused := _refused_watch(places.workspace):
        what = "instances" if refused == errno.EMFILE else "watches"
        fix = f"sudo sysctl fs.inotify.max_user_{what}={max(1024, 2 * _number(_INOTIFY / f'max_user_{what}'))}"
        return warned("inotify", f"The system gives no more inotify {what}: notes are found by polling.", fix)
    if limit and not watching and limit - used < needed:
        return warned(
            "inotify",
            f"{needed} folders are to be watched, {limit - used} of {limit} watches are free.",
            f"sudo sysctl fs.inotify.max_user_watches={raised}",
        )
    return good("inotify", f"{needed} watches are needed, {used} of {limit} are in use.")


def _refused_watch(folder: Path) -> int:
    """Whether the system lets one more folder be watched: 0, or the errno of its refusal."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_CLOEXEC)
    if fd < 0:
        return ctypes.get_errno()
    try:
        created = 0x100
        return 0 if libc.inotify_add_watch(fd, os.fsencode(folder), created) >= 0 else ctypes.get_errno()
    finally:
        os.close(fd)


def _watches_in_use(proc: Path = _PROC) -> int:
    """Watches that this user's processes hold, as far as they can be seen."""
    count = 0
    for info in proc.glob("[0-9]*/fdinfo"):
        try:
            if info.stat().st_uid != os.getuid():
                continue
            count += sum(each.read_text("ascii", "replace").count("\ninotify wd:") for each in info.iterdir())
        except OSError:
            continue  # it has just ended
    return count


def _number(path: Path) -> int:
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return 0


def _leftovers(places: Places) -> Check:
    found = [path for pattern in _LEFT_IN_STATE for path in places.state.glob(pattern)]
    if places.workspace is not None:
        found += [path for pattern in _LEFT_IN_WORKSPACE for path in places.workspace.glob(pattern)]
    old = sorted(str(path) for path in found if time.time() - path.lstat().st_mtime > _UNDER_WAY_S)
    if not old:
        return good("leftovers", "Nothing was left behind by a crash.")
    names = ", ".join(old[:5]) + (" …" if len(old) > 5 else "")
    return warned("leftovers", f"Left behind by a crash or a rebuild: {names}", "Look at them, then delete them.")


def _last_start(places: Places) -> Check:
    try:
        said = error_from_dict(msgspec.json.decode((places.state / "last-error.json").read_bytes()))
    except FileNotFoundError:
        return good("last start", "The last start met no wrong setting.")
    except msgspec.DecodeError:
        return warned("last start", "What the last start met cannot be read.", "memoryd service start")
    return failed("last start", f"The daemon did not start: {said.message}", said.hint)

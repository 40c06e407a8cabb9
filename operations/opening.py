"""Opening the store of one instance: whose workspace it is, and which device this is."""

import asyncio
import os
import platform
from pathlib import Path

import msgspec

from ..clock import Clock
from ..crash import crash_point
from ..errors import AccessError, ConfigError, StoreDamagedError, UnavailableError
from ..places import Places
from ..store import Store
from ..store.rekey import COMPARE_WITH
from ..sync.key_store import KeyStore
from ..sync.scratch import sweep_scratch
from ..sync.seal import KeyRing
from .rebuild import finish, mark_damaged, put_right

_KEYRING_LIMIT_S = 5.0
"""How long opening waits for the keyring, which may ask a person to unlock it."""
_JSON = msgspec.json.Encoder()


def open_store(places: Places, workspace: Path, clock: Clock, *, may_upgrade: bool = True) -> Store:
    """Open or make the store, and make sure that it belongs to this workspace and knows its device.

    A damaged file is moved aside and rebuilt (rebuild.py). Raises `ConfigError` when the store belongs to
    another workspace, `StoreError` when the file cannot be opened or judged, `StoreOlderError` when it would
    have to be upgraded first and may not be.
    """
    _make_private(places.state)
    sweep_scratch(places.state)
    _refuse_unwritable(places.database)
    try:
        return _opened(places, workspace, clock, may_upgrade=may_upgrade)
    except StoreDamagedError as error:
        mark_damaged(places, error.message, clock)
    return _opened(places, workspace, clock, may_upgrade=may_upgrade)


def _opened(places: Places, workspace: Path, clock: Clock, *, may_upgrade: bool) -> Store:
    put_right(places)
    store = Store.open(places.database, clock, may_upgrade=may_upgrade)
    try:
        places.database.chmod(0o600)
        _check_workspace(store, places, workspace)
        _know_device(store, places)
        finish(store, places)
    except BaseException:
        store.close()
        raise
    return store


def write_device_file(places: Places, device: str) -> None:
    """Keep the id beside the database, so that a rebuilt database can succeed this device."""
    temporary = places.device_file.with_suffix(".new")
    temporary.write_text(device + "\n", "ascii")
    crash_point("device file")
    temporary.replace(places.device_file)


def _make_private(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.stat().st_uid == os.getuid():
        folder.chmod(0o700)


def _refuse_unwritable(database: Path) -> None:
    """What the library would open, and then fail on with the first write."""
    for ending in ("", "-wal", "-shm"):
        path = database.with_name(database.name + ending)
        try:
            found = path.stat()
        except OSError:
            continue  # not there, or not reachable, which the library says itself
        if os.access(path, os.R_OK | os.W_OK):
            continue
        if found.st_uid != os.geteuid():
            raise AccessError(f"{path} belongs to another user.", f"Take it over: sudo chown {os.geteuid()} {path}")
        raise AccessError(f"{path} must not be written (mode {found.st_mode & 0o777:04o}).", f"Run: chmod 600 {path}")


def _check_workspace(store: Store, places: Places, workspace: Path) -> None:
    bound = store.meta("workspace")
    if bound and bound != str(workspace):
        raise ConfigError(
            f"This memory belongs to the workspace {bound}, not to {workspace}.",
            f"Name the right workspace, or give the other its own memory by --instance (now: {places.instance}).",
        )
    if not bound:
        with store.transaction() as tx:
            tx.set_meta("workspace", str(workspace))


def _know_device(store: Store, places: Places) -> None:
    former = places.device_file.read_text("ascii").strip() if places.device_file.exists() else ""
    if not store.execute("SELECT 1 FROM devices WHERE device = ?", (store.device,)):
        # The file outlived its database: this one is a rebuilt one and takes over the old notes.
        succeeds = [former] if former and former != store.device else []
        with store.transaction() as tx:
            tx.run(
                "INSERT INTO devices VALUES (?, ?, ?, ?, '[]', ?, ?)",
                (store.device, platform.node() or "unnamed", platform.platform(terse=True), store.clock.now_ms(),
                 _JSON.encode(succeeds).decode(), tx.next_rev()),
            )  # fmt: skip
            tx.set_meta(COMPARE_WITH, "".join(succeeds))
    if former != store.device:
        write_device_file(places, store.device)


def existing_workspace(places: Places) -> Path:
    """The workspace's folder, resolved; raises `ConfigError` where none is named or it does not exist."""
    if places.workspace is None:
        raise ConfigError(
            "No workspace is named, and this folder holds neither memory/ nor MEMORY.md.",
            "Use --workspace FOLDER, set MEMORYD_WORKSPACE, or run: memoryd init FOLDER",
        )
    if not places.workspace.is_dir():
        raise ConfigError(f"The workspace {places.workspace} does not exist.", f"Run: memoryd init {places.workspace}")
    return places.workspace.resolve()


async def keys_at_start(store: KeyStore) -> KeyRing:
    """The keys, as far as they are there at this moment: a keyring may start later than this process, or be locked."""
    if not store.in_keyring:
        return store.load()
    try:
        return await asyncio.wait_for(asyncio.to_thread(store.load), _KEYRING_LIMIT_S)
    except (TimeoutError, UnavailableError):
        return KeyRing()  # the exchange asks again, and says so

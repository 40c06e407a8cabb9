"""A damaged database: moved aside, and the memory put together again from snapshot, notes and cloud.

A mark in the state folder says that the file is suspected; whoever opens the store next looks at it first. The
mark also notes how far a rebuild got, so that one that was cut off goes on. Nothing is ever deleted here.
"""

import logging
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from ..clock import Clock
from ..crash import crash_point
from ..errors import StoreError
from ..places import Places
from ..store import Store, upkeep
from ..store.rekey import take_new_id
from ..store.sent import CLOUD
from .snapshots import snapshots, taken_at

log = logging.getLogger(__name__)

META = "rebuilt"
"""Key in `meta`: the `Rebuilt` of a store that was put together again."""
_ADOPT = "adopt_pages"
"""Key in `meta`: set while the blocks of MEMORY pages are all that is left of hot state."""
_BESIDE = ("", "-wal", "-shm")


class Rebuilt(msgspec.Struct):
    """How a database came to be rebuilt. Times in ms; `snapshot` 0 when there was no sound one.

    `kept` is the name under which the damaged file stands in the state folder.
    """

    reason: str
    at: int
    kept: str = ""
    snapshot: int = 0


def mark_damaged(places: Places, reason: str, clock: Clock) -> None:
    """Let the next one who opens the store look at its file first."""
    if _read_mark(places) is None:
        _write_mark(places, Rebuilt(reason, clock.now_ms()))


def is_marked(places: Places) -> bool:
    """Whether the database is suspected of damage, or a rebuild was cut off."""
    return _read_mark(places) is not None


def put_right(places: Places) -> None:
    """Look at a suspected file; if it is damaged, move it aside and put the newest sound snapshot in its place.

    Raises `StoreError` when nobody can tell whether the file is sound.
    """
    mark = _read_mark(places)
    if mark is None:
        return
    if not places.database.exists():  # cut off after it was moved
        _move(places, mark)
    elif fault := upkeep.check(places.database):
        _move_aside(places, mark, fault)
    elif not mark.kept:
        log.warning("the database was suspected of damage, but is sound")
        _mark_file(places).unlink(missing_ok=True)
        return
    if not places.database.exists():
        _place_snapshot(places, mark)


def finish(store: Store, places: Places) -> None:
    """After the store was opened: a snapshot goes on under a new id, the store says that it was rebuilt."""
    mark = _read_mark(places)
    if mark is None:
        return
    said = msgspec.json.encode(mark).decode()
    if store.meta(META) != said:
        if mark.snapshot and store.meta(CLOUD):
            # The cloud may hold more of the former log than the snapshot knows: it is folded like any other's.
            take_new_id(store)
        with store.transaction() as tx:
            tx.set_meta(META, said)
            tx.set_meta(_ADOPT, "" if mark.snapshot else "1")
    crash_point("rebuilt")
    _mark_file(places).unlink(missing_ok=True)


def rebuilt(store: Store, places: Places) -> Rebuilt | None:
    """How this store was rebuilt, as long as the damaged file is kept beside it."""
    said = store.meta(META)
    found = msgspec.json.decode(said, type=Rebuilt) if said else None
    return found if found is not None and found.kept and (places.state / found.kept).exists() else None


def pages_wait(store: Store) -> bool:
    """Whether the store was rebuilt without hot state, and the pages' blocks were not read back yet."""
    return store.meta(_ADOPT) != ""


def pages_adopted(store: Store) -> None:
    """The blocks were read back."""
    with store.transaction() as tx:
        tx.set_meta(_ADOPT, "")


def _move_aside(places: Places, mark: Rebuilt, fault: str) -> None:
    mark.kept = f"{places.database.name}.corrupt-{_stamp(mark.at)}"
    while (places.state / mark.kept).exists():  # an earlier one of the same second
        mark.kept += "x"
    _write_mark(places, mark)
    crash_point("damage marked")
    _move(places, mark)
    crash_point("moved aside")
    log.error("the database is damaged (%s); it is kept as %s and rebuilt", fault, mark.kept)


def _move(places: Places, mark: Rebuilt) -> None:
    for ending in _BESIDE if mark.kept else ():
        beside = places.database.with_name(places.database.name + ending)
        if beside.exists():
            beside.rename(places.state / (mark.kept + ending))


def _place_snapshot(places: Places, mark: Rebuilt) -> None:
    for snapshot in snapshots(places):
        if _is_sound(snapshot):
            mark.snapshot = taken_at(snapshot)
            _write_mark(places, mark)
            temporary = places.database.with_name(f"{places.database.name}.new")
            shutil.copyfile(snapshot, temporary)
            temporary.chmod(0o600)
            _replace(temporary, places.database)
            crash_point("snapshot placed")
            log.warning("the snapshot %s takes its place", snapshot.name)
            return
    log.warning("there is no sound snapshot; notes and cloud fill a new database")


def _is_sound(snapshot: Path) -> bool:
    try:
        fault = upkeep.check(snapshot)
    except StoreError as error:
        fault = error.message
    if fault:
        log.error("the snapshot %s is not used: %s", snapshot.name, fault)
    return not fault


def _mark_file(places: Places) -> Path:
    return places.state / "damaged.json"


def _read_mark(places: Places) -> Rebuilt | None:
    try:
        return msgspec.json.decode(_mark_file(places).read_bytes(), type=Rebuilt)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError:
        return Rebuilt("the mark of an earlier damage cannot be read", 0)


def _write_mark(places: Places, mark: Rebuilt) -> None:
    temporary = _mark_file(places).with_suffix(".new")
    temporary.write_bytes(msgspec.json.encode(mark))
    _replace(temporary, _mark_file(places))


def _replace(temporary: Path, path: Path) -> None:
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(path)


def _stamp(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")

"""Bringing a lost device's notes and memory back (DATA section 6, SPEC section 7).

Three steps, so that operations can ingest between them: `plan_restore` folds all logs and checks everything,
`write_notes` writes what is missing, `finish_restore` compares, and says last of all that this device succeeds
the other. Cut off anywhere, it is run again and goes on.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

from ..clock import Clock
from ..crash import crash_point
from ..errors import MemorydError, NoInputError, UsageError
from ..model import NoteRow
from ..store import Store
from ..store.copied import UNREAD, copy_notes
from ..store.files import FileRecord
from ..store.fold import drop_received_chunks
from ..store.log import device_row, notes_of
from ..store.rekey import take_over
from ..store.sent import cursors
from ..store.thread import Priority, StoreThread
from .cloud import CloudState
from .files import Local, Masked, is_safe, look, masked_lines, stamp, sweep, write_all
from .gather import Progress, fetch_chunks, fold_all, held_chunks
from .service import SyncService

RESTORED = "memory/.restored"
"""Where `--merge` puts the cloud's copy of a file that differs; never ingested."""
_BATCH_FILES = 100
_BATCH_CHUNKS = 100
_BATCH_BYTES = 4_000_000
_WRITERS = 8
_LISTED = 20
"""How many files or devices an error names."""


class Site(Protocol):
    """Where notes are written: this device's store and clock. A `SyncService` is one, and so is a memory."""

    @property
    def thread(self) -> StoreThread:
        """The store's thread."""

    @property
    def clock(self) -> Clock:
        """The clock."""


def silent(_phase: str, _done: int, _of: int) -> None:
    """No progress is wanted."""


class RestorePlan(msgspec.Struct):
    """What a restore will do. `missing`, `same` and `differing` are notes of `device`, by what stands here now.

    `incomplete` names notes that cannot be brought back whole, and why; `notes_extra` are the
    globs by which `device` took further files as notes. The text is in the store of `bodies`, ours if None.
    `copied` are notes that this device has rows of already, so that they need not be read again.
    """

    device: str
    state: CloudState
    root: Path
    copy: bool
    missing: list[NoteRow] = []
    same: list[NoteRow] = []
    differing: list[NoteRow] = []
    incomplete: dict[str, str] = {}
    notes_extra: list[str] = []
    masked_lines: int = 0
    forgotten_lines: int = 0
    bodies: StoreThread | None = None
    copied: list[str] = []

    @property
    def notes(self) -> list[NoteRow]:
        """Every note that stands here after `write_notes` as the cloud has it."""
        return [*self.same, *self.missing]


class Restored(msgspec.Struct):
    """How a restore ended.

    `verified`: the text of every note in `notes` and the head of every log are the cloud's, and no note is
    `incomplete`. `differing` local files were left as they are.
    """

    agents: list[str]
    notes: int
    verified: bool
    masked_lines: int
    forgotten_lines: int
    incomplete: dict[str, str]
    differing: list[str]
    succeeded: bool


async def plan_restore(
    service: SyncService,
    root: Path,
    *,
    from_: str = "",
    copy: bool = False,
    merge: bool = False,
    progress: Progress = silent,
) -> RestorePlan:
    """Fold all logs, choose the device, compare its notes with the disk; nothing is written into the workspace.

    Raises `NoInputError` without anything to restore, `UsageError` when several devices come into question,
    and `MemorydError` listing the local files that differ unless `merge`.
    """
    state = await fold_all(service, progress)
    device = await service.thread.call(partial(choose_device, state=state, wanted=from_), priority=Priority.READ)
    notes = await service.thread.call(partial(notes_of, device=device), priority=Priority.READ)
    await fetch_chunks(service, device, notes)
    known = await service.thread.call(partial(device_row, device=device), priority=Priority.READ)
    plan = RestorePlan(device, state, root, copy, notes_extra=known.notes_extra if known else [])
    await check_notes(service.thread, plan, [note for note in notes if note.deleted_at is None], progress)
    await refuse_differing(service.thread, plan, merge=merge)
    return plan


async def refuse_differing(thread: StoreThread, plan: RestorePlan, *, merge: bool) -> None:
    """Raise `MemorydError` listing the local files that differ, unless they are to be left as they are."""
    if plan.differing and not merge:
        await thread.call(_let_go)
        raise _differing_error(plan.differing)


async def write_notes(
    site: Site,
    plan: RestorePlan,
    *,
    fits: Callable[[NoteRow], bool] = lambda _: False,
    progress: Progress = silent,
) -> list[str]:
    """Write what is missing, small notes first, and copies of differing ones; returns the paths to ingest.

    Notes that `fits` takes are given to this device as the log tells them, so that they need not be read again.
    """
    texts = plan.bodies or site.thread
    missing = sorted(plan.missing, key=_size)
    await asyncio.to_thread(sweep, plan.root, [note.path for note in plan.notes])
    done = 0
    for batch in _batches(missing):
        bodies = await read_bodies(texts, batch)
        # Several at once: a file system commits the fsyncs of one moment together.
        shares = [bodies[start::_WRITERS] for start in range(_WRITERS)]
        await asyncio.gather(*(asyncio.to_thread(write_all, plan.root, share) for share in shares if share))
        await _copy(site, plan, batch, bodies, fits)
        done += len(batch)
        progress("write", done, len(missing))
    for batch in _batches(plan.same):
        await _copy(site, plan, batch, await read_bodies(texts, batch), fits)
    await _put_aside(site, plan, texts)
    copied = set(plan.copied)
    return [note.path for note in plan.notes if note.path not in copied]


async def _copy(
    site: Site,
    plan: RestorePlan,
    notes: Sequence[NoteRow],
    bodies: Sequence[tuple[str, bytes]],
    fits: Callable[[NoteRow], bool],
) -> None:
    asked = [(note, data) for note, (_, data) in zip(notes, bodies, strict=True) if fits(note)]
    records = await asyncio.to_thread(_seen, plan.root, asked, site.clock.now_ms())
    if records:
        plan.copied += await site.thread.call(partial(_copy_rows, device=plan.device, records=records))
        crash_point("restore copied")


def _seen(root: Path, notes: Sequence[tuple[NoteRow, bytes]], now_ms: int) -> list[FileRecord]:
    """What stands on disk of these notes, where it is what it should be."""
    return [
        FileRecord(
            note.path, note.agent_id, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino,
            hashlib.sha256(data).hexdigest(), UNREAD, note.state, seen_at=now_ms,
        )
        for note, data in notes
        if (seen := stamp(root, note.path, data)) is not None
    ]  # fmt: skip


def _copy_rows(store: Store, device: str, records: Sequence[FileRecord]) -> list[str]:
    with store.transaction() as tx:
        return copy_notes(tx, device, records)


async def _put_aside(site: Site, plan: RestorePlan, texts: StoreThread) -> None:
    """Copies of the notes that differ here, for the person to compare, unless an earlier restore left the same."""
    folder = f"{RESTORED}/{_stamp(site.clock)}"
    for batch in _batches(plan.differing):
        bodies = await read_bodies(texts, batch)
        new = await asyncio.to_thread(lambda some: [each for each in some if not _lies_there(plan.root, *each)], bodies)
        await asyncio.to_thread(write_all, plan.root, [(f"{folder}/{path}", data) for path, data in new])


def _lies_there(root: Path, path: str, data: bytes) -> bool:
    try:
        earlier = sorted(each.name for each in (root / RESTORED).iterdir())
    except OSError:
        return False  # none yet
    return any(look(root, f"{RESTORED}/{folder}/{path}", data) == "same" for folder in earlier)


async def finish_restore(site: Site, plan: RestorePlan) -> Restored:
    """After the notes were ingested: compare, let go of the fetched chunks, and succeed the device last of all."""
    wrong = await site.thread.call(partial(_not_taken_in, notes=plan.notes), priority=Priority.READ)
    all_folded = await site.thread.call(partial(_is_folded, state=plan.state), priority=Priority.READ)
    succeeds = not plan.copy and not plan.differing
    agents = await site.thread.call(partial(_finish, device=plan.device, succeeds=succeeds))
    return Restored(
        agents=agents,
        notes=len(plan.notes),
        verified=all_folded and not wrong and not plan.incomplete,
        masked_lines=plan.masked_lines,
        forgotten_lines=plan.forgotten_lines,
        incomplete={**plan.incomplete, **dict.fromkeys(wrong, "it changed while it was restored")},
        differing=[note.path for note in plan.differing],
        succeeded=succeeds,
    )


async def read_body(thread: StoreThread, note: NoteRow) -> bytes:
    """The bytes of a note from its chunks; the caller has made sure that all are there."""
    ((_, data),) = await read_bodies(thread, [note])
    return data


async def read_bodies(thread: StoreThread, notes: Sequence[NoteRow]) -> list[tuple[str, bytes]]:
    """Path and bytes of several notes, a few MB at most."""
    names = list(dict.fromkeys(name for note in notes for name in note.chunks))
    pieces: dict[str, bytes] = {}
    for start in range(0, len(names), _BATCH_CHUNKS):
        some = names[start : start + _BATCH_CHUNKS]
        pieces |= await thread.call(partial(_chunks, names=some), priority=Priority.BULK)
    return [(note.path, b"".join(pieces[name] for name in note.chunks)) for note in notes]


# ---- choosing and checking -------------------------------------------------------------------------------


def choose_device(store: Store, state: CloudState, wanted: str) -> str:
    """The device of that id or name, or the only other one that nobody took over from; raises `UsageError`."""
    rows = {device: device_row(store, device) for device in sorted(state.heads) if device != store.device}
    names = {device: row.name if row else "" for device, row in rows.items()}
    if wanted:
        found = [wanted] if wanted in rows else [device for device, name in names.items() if name == wanted]
        if len(found) == 1:
            return found[0]
        raise UsageError(f"{wanted!r} names no single device of this memory.", f"There are: {_listed(names)}")
    succeeded = {old for device in _all_devices(store) for old in _succeeds(store, device)}
    left = {device: name for device, name in names.items() if device not in succeeded}
    if not left:
        raise NoInputError("No other device's memory waits to be restored.", "Name one with --from: " + _listed(names))
    if len(left) > 1:
        raise UsageError("Several devices share this memory.", f"Name one with --from: {_listed(left)}")
    return next(iter(left))


def _all_devices(store: Store) -> list[str]:
    return [str(row[0]) for row in store.execute("SELECT device FROM devices")]


def _succeeds(store: Store, device: str) -> list[str]:
    row = device_row(store, device)
    return row.succeeds if row else []


def _listed(names: dict[str, str]) -> str:
    shown = [f"{device} ({name})" if name else device for device, name in list(names.items())[:_LISTED]]
    return ", ".join(shown) or "none"


async def check_notes(thread: StoreThread, plan: RestorePlan, notes: Sequence[NoteRow], progress: Progress) -> None:
    """Sort the notes into the plan by what stands on the disk; their text is in the store of `thread`."""
    held = await thread.call(held_chunks, priority=Priority.READ)
    whole = []
    for note in notes:
        if reason := _unfit(note, held):
            plan.incomplete[note.path] = reason
        else:
            whole.append(note)
    done = 0
    for batch in _batches(whole):
        bodies = await read_bodies(thread, batch)
        for note, (local, masked) in zip(batch, await asyncio.to_thread(_look_all, plan.root, bodies), strict=True):
            _bucket(plan, local).append(note)
            plan.masked_lines += masked.lines
            plan.forgotten_lines += masked.forgotten
        done += len(batch)
        progress("check", done, len(whole))


def _look_all(root: Path, bodies: Sequence[tuple[str, bytes]]) -> list[tuple[Local, Masked]]:
    return [(look(root, path, data), masked_lines(data)) for path, data in bodies]


def _bucket(plan: RestorePlan, local: Local) -> list[NoteRow]:
    return {"missing": plan.missing, "same": plan.same, "differs": plan.differing}[local]


def _unfit(note: NoteRow, held: set[str]) -> str:
    """Why a note cannot be brought back, '' if it can."""
    if not is_safe(note.path):
        return "its path is not one that a restore may write"
    if note.size and not note.chunks:
        return "its text was not backed up"
    if not held.issuperset(note.chunks):
        return "a part of its text is missing in the log"
    return ""


def _differing_error(notes: Sequence[NoteRow]) -> MemorydError:
    listed = ", ".join(note.path for note in notes[:_LISTED])
    more = f" and {len(notes) - _LISTED} more" if len(notes) > _LISTED else ""
    return MemorydError(
        f"These local files differ from the cloud's: {listed}{more}. Nothing was written.",
        "Move them away, or use --merge: it writes only what is missing.",
    )


# ---- store -----------------------------------------------------------------------------------------------


def _chunks(store: Store, names: Sequence[str]) -> dict[str, bytes]:
    rows = store.execute(
        "SELECT sha256, data FROM chunks WHERE sha256 IN (SELECT value FROM json_each(?))",
        (msgspec.json.encode(list(names)).decode(),),
    )
    return {str(name): data for name, data in rows if isinstance(data, bytes)}


def _not_taken_in(store: Store, notes: Sequence[NoteRow]) -> list[str]:
    """Paths of notes that this device does not hold exactly as the cloud does."""
    own = {(note.agent_id, note.path): note for note in notes_of(store, store.device) if note.deleted_at is None}
    return [
        note.path
        for note in notes
        if (note.agent_id, note.path) not in own or own[note.agent_id, note.path].chunks != note.chunks
    ]


def _is_folded(store: Store, state: CloudState) -> bool:
    """Whether every log of `state` was folded to its head, or further."""
    folded = {each.device: each for each in cursors(store) if not each.fault and each.device != store.device}
    return all(
        device == store.device
        or (device in folded and (folded[device].idx > head.idx or folded[device].sha256 == head.sha256))
        for device, head in state.heads.items()
    )


def _let_go(store: Store) -> None:
    with store.transaction() as tx:
        drop_received_chunks(tx)


def _finish(store: Store, device: str, *, succeeds: bool) -> list[str]:
    with store.transaction() as tx:
        drop_received_chunks(tx)
        if succeeds:
            take_over(tx, [device])
    return [str(row[0]) for row in store.execute("SELECT DISTINCT agent_id FROM facts ORDER BY agent_id")]


def _batches(notes: Sequence[NoteRow]) -> Iterator[list[NoteRow]]:
    batch: list[NoteRow] = []
    for note in notes:
        batch.append(note)
        if len(batch) >= _BATCH_FILES or sum(each.size for each in batch) >= _BATCH_BYTES:
            yield batch
            batch = []
    if batch:
        yield batch


def _size(note: NoteRow) -> int:
    return note.size


def _stamp(clock: Clock) -> str:
    return datetime.fromtimestamp(clock.now_ms() / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")

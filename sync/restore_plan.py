"""What a restore will do: which device it takes over from, and which of its notes are missing, there or in the way."""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from ..errors import MemorydError, NoInputError, UsageError
from ..model import NoteRow
from ..store import Store
from ..store.fold import drop_received_chunks
from ..store.log import device_row, notes_of
from ..store.thread import Priority, StoreThread
from .cloud import CloudState
from .files import Local, Masked, is_safe, look, masked_lines
from .gather import Progress, fetch_chunks, fold_all, held_chunks
from .service import SyncService

_BATCH_FILES = 100
_BATCH_CHUNKS = 100
_BATCH_BYTES = 4_000_000
_LISTED = 20
"""How many files or devices an error names."""


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
    for batch in batches(whole):
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


def _chunks(store: Store, names: Sequence[str]) -> dict[str, bytes]:
    rows = store.execute(
        "SELECT sha256, data FROM chunks WHERE sha256 IN (SELECT value FROM json_each(?))",
        (msgspec.json.encode(list(names)).decode(),),
    )
    return {str(name): data for name, data in rows if isinstance(data, bytes)}


def _let_go(store: Store) -> None:
    with store.transaction() as tx:
        drop_received_chunks(tx)


def batches(notes: Sequence[NoteRow]) -> Iterator[list[NoteRow]]:
    """The notes in order, in batches that fit into memory."""
    batch: list[NoteRow] = []
    for note in notes:
        batch.append(note)
        if len(batch) >= _BATCH_FILES or sum(each.size for each in batch) >= _BATCH_BYTES:
            yield batch
            batch = []
    if batch:
        yield batch

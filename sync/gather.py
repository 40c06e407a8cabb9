"""Gathering from the cloud what a restore needs: every log folded, and the text of one device's notes."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from ..errors import NoInputError
from ..model import ChunkRow, NoteRow, Row
from ..store import Store
from ..store.fold import fold
from ..store.sent import cursors
from ..store.thread import Priority
from .cloud import CloudState, count_rows_after, fetch_after, read_cloud
from .service import SyncService
from .wire import SegmentError, check_cloud, unpack

Progress = Callable[[str, int, int], None]
"""`(phase, done, of)`; phases are `read` (rows), `check` and `write` (files)."""


def held_chunks(store: Store) -> set[str]:
    """The names of all chunks that this store holds."""
    return {str(row[0]) for row in store.execute("SELECT sha256 FROM chunks")}


async def fold_all(service: SyncService, progress: Progress) -> CloudState:
    """Fold every log, going past damaged segments; returns the cloud as it was before.

    Raises `NoInputError` when there is nothing in it.
    """
    state = await read_cloud(service.client)
    if not state.value or not state.heads:
        raise NoInputError("The cloud holds no memory to restore.", "Check TURSO_DATABASE_URL.")
    check_cloud(state.value, "", service.keys)
    total = 0
    for each in await service.thread.call(partial(_positions, state=state), priority=Priority.READ):
        total += await count_rows_after(service.client, *each)
    done = 0

    def count(rows: int) -> None:
        nonlocal done
        done += rows
        progress("read", done, max(total, done))

    await service.pull(keep_chunks=True, settle=False, on_rows=count)
    for cursor in await service.thread.call(cursors, priority=Priority.READ):
        if cursor.fault and cursor.device in state.heads:
            await _fold_past(service, cursor.device, cursor.idx)
    return state


def _positions(store: Store, state: CloudState) -> list[tuple[str, int]]:
    known = {each.device: each.idx for each in cursors(store)}
    return [(device, known.get(device, 0)) for device in state.heads if device != store.device]


async def _fold_past(service: SyncService, device: str, idx: int) -> None:
    """Fold the sound segments after a damaged one; the cursor stays, so that a later snapshot still heals the log."""
    while segments := await fetch_after(service.client, device, idx):
        for segment in segments:
            idx = segment.idx
            try:
                rows = await asyncio.to_thread(unpack, segment, service.keys)
            except SegmentError:
                continue
            await service.thread.call(partial(_fold_rows, rows=rows), priority=Priority.BULK)


def _fold_rows(store: Store, rows: Sequence[Row]) -> None:
    with store.transaction() as tx:
        fold(tx, rows, keep_chunks=True)


async def fetch_chunks(
    service: SyncService, device: str, notes: Sequence[NoteRow], *, deleted_too: bool = False
) -> None:
    """Read the device's log again for text that an earlier pull passed over."""
    wanted = {sha for note in notes if deleted_too or note.deleted_at is None for sha in note.chunks}
    missing = wanted - await service.thread.call(held_chunks, priority=Priority.READ)
    idx = 0
    while missing and (segments := await fetch_after(service.client, device, idx)):
        for segment in segments:
            idx = segment.idx
            try:
                rows = await asyncio.to_thread(unpack, segment, service.keys)
            except SegmentError:
                continue
            chunks = [row for row in rows if isinstance(row, ChunkRow) and row.sha256 in missing]
            if chunks:
                await service.thread.call(partial(_fold_rows, rows=chunks), priority=Priority.BULK)
                missing.difference_update(row.sha256 for row in chunks)

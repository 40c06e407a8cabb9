"""The cloud's part of a restore drill: every log folded into a temporary store, every note written into a folder."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec

from ..model import NoteRow
from ..store.log import notes_of
from ..store.notes import note_body
from ..store.thread import Priority, StoreThread
from .cloud import read_cloud
from .files import is_safe, write_all
from .replay import Difference
from .restore_plan import read_body
from .service import SyncService
from .verify import compare_heads, folded_anew

_BATCH = 50


class Rehearsal(msgspec.Struct):
    """What a drill has found so far. `copy` is the store that a restore would have made."""

    copy: StoreThread
    differences: list[str] = []
    rows: int = 0
    notes: int = 0


@asynccontextmanager
async def rehearse(service: SyncService, on_rows: Callable[[int], None]) -> AsyncIterator[Rehearsal]:
    """Fold everything anew, compare it row by row, write this device's notes into a folder and compare their bytes.

    Raises `UnavailableError`s when the cloud cannot be asked. Damage that was found is answered with the next exchange.
    """
    state = await read_cloud(service.client)
    heads = await service.thread.call(partial(compare_heads, state=state, keys=service.keys), priority=Priority.READ)
    total = 0

    def count(rows: int) -> None:
        nonlocal total
        total = rows
        on_rows(rows)

    async with folded_anew(service, state, count, keep_chunks=True) as (copy, found):
        await service.answer_damage({each.device for each in found if each.idx})
        drill = Rehearsal(copy, [_sentence(each) for each in [*heads, *found]], total)
        if not found:
            await _rehearse_notes(service.thread, drill)
        yield drill


async def _rehearse_notes(thread: StoreThread, drill: Rehearsal) -> None:
    device, folder = await thread.call(lambda store: (store.device, store.db.path.parent), priority=Priority.READ)
    root = (await drill.copy.call(lambda store: store.db.path.parent)) / "notes"
    assert root != folder, "a drill never writes beside the memory itself"
    root.mkdir()
    notes = [
        each
        for each in await drill.copy.call(partial(notes_of, device=device))
        if each.deleted_at is None and each.chunks
    ]
    for start in range(0, len(notes), _BATCH):
        for note in notes[start : start + _BATCH]:
            if problem := await _rehearse_note(thread, drill.copy, root, note):
                drill.differences.append(problem)
    drill.notes = len(notes)


async def _rehearse_note(thread: StoreThread, copy: StoreThread, root: Path, note: NoteRow) -> str:
    """Write one note as a restore would, read it again; what is wrong with it, '' if nothing."""
    if not is_safe(note.path):
        return f"{note.path} is not one that a restore may write"
    ours = await thread.call(lambda store: note_body(store, note.agent_id, note.path), priority=Priority.BULK)
    await asyncio.to_thread(write_all, root, [(note.path, await read_body(copy, note))])
    written = await asyncio.to_thread((root / note.path).read_bytes)
    (root / note.path).unlink()
    return "" if written == ours else f"the text of {note.path} is not what this device holds"


def _sentence(each: Difference) -> str:
    where = f"device {each.device}, segment {each.idx}: " if each.idx else f"device {each.device}: "
    return (where if each.device else "") + each.what

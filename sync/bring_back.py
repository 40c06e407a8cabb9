"""Bringing back notes that were deleted by accident, or as they were at an earlier time (docs/data.md, 6).

Both plan what `write_notes` then writes, under its rules: checked first, never over a file, nobody is succeeded.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from ..clock import MS_PER_DAY
from ..errors import NoInputError, UnavailableError
from ..model import NoteRow
from ..store import Store
from ..store.log import notes_of, predecessors
from ..store.thread import Priority, StoreThread
from .cloud import CloudState, earliest, fetch_after, read_cloud, snapshots_of
from .gather import Progress, fetch_chunks
from .hrana import CloudClient
from .inherit import KEEP_DELETED_DAYS, erase_all, fold_into, standing_tombstones, use_chunks
from .restore import Site
from .restore_plan import RestorePlan, check_notes, choose_device, refuse_differing, silent
from .scratch import scratch
from .service import SyncService
from .wire import SegmentError, check_cloud, unpack_all


async def plan_deleted(
    site: Site, service: SyncService | None, root: Path, *, from_: str = "", merge: bool = False,
    progress: Progress = silent,
) -> RestorePlan:  # fmt: skip
    """Notes of this device (and of those it took over from, or of `from_`) that were deleted within 90 days.

    What was written again since under the same name stays out. Raises as `plan_restore` does.
    """
    devices = await _devices(site, service, from_)
    oldest = site.clock.now_ms() - KEEP_DELETED_DAYS * MS_PER_DAY
    notes = await site.thread.call(partial(_deleted_notes, devices=devices, oldest=oldest), priority=Priority.READ)
    if service is not None:
        for device in devices:
            theirs = [note for note in notes if note.device == device]
            await fetch_chunks(service, device, theirs, deleted_too=True)
    plan = RestorePlan(devices[0], CloudState("", {}), root, copy=True)
    await check_notes(site.thread, plan, notes, progress)
    await refuse_differing(site.thread, plan, merge=merge)
    return plan


@asynccontextmanager
async def plan_as_of(
    service: SyncService, root: Path, at_ms: int, *, from_: str = "", merge: bool = False, progress: Progress = silent
) -> AsyncIterator[RestorePlan]:
    """The notes of one device as its log tells them up to a time by the cloud's clock [ms]; ours if none is named.

    What was forgotten since stays forgotten. The plan can be carried out while the context lasts. Raises
    `NoInputError` when the log does not reach back so far.
    """
    state = await read_cloud(service.client)
    check_cloud(state.value, await service.thread.call(lambda store: store.meta("cloud")), service.keys)
    device = await service.thread.call(partial(_one_device, state=state, wanted=from_), priority=Priority.READ)
    start = await _start(service.client, device, at_ms)
    folder = await service.thread.call(lambda store: store.db.path.parent, priority=Priority.READ)
    with scratch(folder) as temporary:
        path = temporary / "copy.db"
        copy = StoreThread(lambda: Store.open(path, service.clock, new_device=lambda: device))
        await copy.start()
        try:
            await _fold_until(service, device, start, at_ms, copy, progress)
            await copy.call(use_chunks)
            await erase_all(copy, await service.thread.call(standing_tombstones, priority=Priority.READ))
            plan = RestorePlan(device, CloudState("", {}), root, copy=True, bodies=copy)
            notes = await copy.call(partial(notes_of, device=device))
            await check_notes(copy, plan, [note for note in notes if note.deleted_at is None], progress)
            await refuse_differing(service.thread, plan, merge=merge)
            yield plan
        finally:
            await copy.close()


async def _start(client: CloudClient, device: str, at_ms: int) -> int:
    """The idx after which the log is read: its newest snapshot that was whole at that time, else its beginning."""
    whole = [each for each in await snapshots_of(client, device) if each.at <= at_ms]
    if whole:
        return max(each.first for each in whole) - 1
    first = await fetch_after(client, device, 0, segments=1)
    if first and first[0].idx == 1 and first[0].at <= at_ms:
        return 0
    reach = await earliest(client, device)
    raise NoInputError(
        f"The log of device {device} does not reach back so far.",
        f"It begins at {_moment(reach)}." if reach else "It is empty.",
    )


async def _fold_until(
    service: SyncService, device: str, idx: int, at_ms: int, copy: StoreThread, progress: Progress
) -> None:
    done = 0
    while segments := await fetch_after(service.client, device, idx):
        sound = [segment for segment in segments if segment.at <= at_ms]
        try:
            rows = await unpack_all(sound, service.keys)
        except SegmentError as error:
            raise UnavailableError(f"The log of device {device} cannot be read: {error}.", "memoryd verify") from None
        await copy.call(partial(fold_into, rows=rows))
        done += len(rows)
        progress("read", done, done)
        if len(sound) < len(segments):
            return
        idx = segments[-1].idx


async def _devices(site: Site, service: SyncService | None, wanted: str) -> list[str]:
    if not wanted:
        return await site.thread.call(lambda store: [store.device, *predecessors(store)], priority=Priority.READ)
    state = await read_cloud(service.client) if service is not None else CloudState("", {})
    return [await site.thread.call(partial(choose_device, state=state, wanted=wanted), priority=Priority.READ)]


def _one_device(store: Store, state: CloudState, wanted: str) -> str:
    if not wanted and store.device in state.heads:
        return store.device
    return choose_device(store, state, wanted)


def _deleted_notes(store: Store, devices: Sequence[str], oldest: int) -> list[NoteRow]:
    standing = {(note.agent_id, note.path) for note in notes_of(store, store.device) if note.deleted_at is None}
    newest: dict[tuple[str, str], NoteRow] = {}
    for note in (note for device in devices for note in notes_of(store, device)):
        place = (note.agent_id, note.path)
        if note.deleted_at is None or note.deleted_at < oldest or place in standing:
            continue
        known = newest.get(place)
        if known is None or (known.deleted_at or 0) < note.deleted_at:
            newest[place] = note
    return list(newest.values())


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")

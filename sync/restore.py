"""Bringing a lost device's notes and memory back (docs/data.md, 6, docs/sync.md).

Three steps, so that operations can ingest between them: `plan_restore` (restore_plan.py) folds all logs and checks
everything, `write_notes` writes what is missing, `finish_restore` compares, and says last of all that this device
succeeds the other. Cut off anywhere, it is run again and goes on.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

from ..clock import Clock
from ..crash import crash_point
from ..model import NoteRow
from ..store import Store
from ..store.copied import UNREAD, copy_notes
from ..store.files import FileRecord
from ..store.fold import drop_received_chunks
from ..store.log import notes_of
from ..store.rekey import take_over
from ..store.sent import cursors
from ..store.thread import Priority, StoreThread
from .cloud import CloudState
from .files import look, stamp, sweep, write_all
from .gather import Progress
from .restore_plan import RestorePlan, batches, read_bodies, silent

RESTORED = "memory/.restored"
"""Where `--merge` puts the cloud's copy of a file that differs; never ingested."""
_WRITERS = 8
_COPIED_TOGETHER = 2_500
"""Notes that one transaction copies where nobody else waits for the store."""


class Site(Protocol):
    """Where notes are written: this device's store and clock. A `SyncService` is one, and so is a memory."""

    @property
    def thread(self) -> StoreThread:
        """The store's thread."""

    @property
    def clock(self) -> Clock:
        """The clock."""


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
    copier = _Copier(site, plan, fits)
    done = 0
    for batch in batches(missing):
        bodies = await read_bodies(texts, batch)
        # Several at once: a file system commits the fsyncs of one moment together.
        shares = [bodies[start::_WRITERS] for start in range(_WRITERS)]
        await asyncio.gather(*(asyncio.to_thread(write_all, plan.root, share) for share in shares if share))
        await copier.copy(batch, bodies)
        done += len(batch)
        progress("write", done, len(missing))
    for batch in batches(plan.same):
        await copier.copy(batch, await read_bodies(texts, batch))
    await copier.finish()
    await _put_aside(site, plan, texts)
    copied = set(plan.copied)
    return [note.path for note in plan.notes if note.path not in copied]


class _Copier:
    """Gives this device the rows of the notes that stand on disk, as many at once as others who wait allow."""

    def __init__(self, site: Site, plan: RestorePlan, fits: Callable[[NoteRow], bool]) -> None:
        self._site = site
        self._plan = plan
        self._fits = fits
        self._seen: list[FileRecord] = []

    async def copy(self, notes: Sequence[NoteRow], bodies: Sequence[tuple[str, bytes]]) -> None:
        """Take these notes, just written or found the same; those that fit have their rows here at `finish`."""
        asked = [(note, data) for note, (_, data) in zip(notes, bodies, strict=True) if self._fits(note)]
        self._seen += await asyncio.to_thread(_seen, self._plan.root, asked, self._site.clock.now_ms())
        if not self._site.thread.alone or len(self._seen) >= _COPIED_TOGETHER:
            await self.finish()

    async def finish(self) -> None:
        """Copy the rows that wait."""
        if self._seen:
            rows = partial(_copy_rows, device=self._plan.device, records=self._seen)
            self._plan.copied += await self._site.thread.call(rows)
            self._seen = []
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
    for batch in batches(plan.differing):
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


def _finish(store: Store, device: str, *, succeeds: bool) -> list[str]:
    with store.transaction() as tx:
        drop_received_chunks(tx)
        if succeeds:
            take_over(tx, [device])
    return [str(row[0]) for row in store.execute("SELECT DISTINCT agent_id FROM facts ORDER BY agent_id")]


def _size(note: NoteRow) -> int:
    return note.size


def _stamp(clock: Clock) -> str:
    return datetime.fromtimestamp(clock.now_ms() / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")

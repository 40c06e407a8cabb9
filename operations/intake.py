"""Notes into the store: what changed on disk is read, parsed and applied; what vanished is held, then let go.

Events are hints. What decides is the file's stat and then its hash, and a missing file counts as
deleted only under a folder that could be listed (docs/memory.md, 1).
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import aclosing, nullcontext
from pathlib import Path

import msgspec

from ..clock import Clock
from ..config import Settings
from ..crash import crash_point
from ..ingest.names import classify
from ..store import Store
from ..store.files import drop_file, known_files
from ..store.notes import delete_note
from ..store.thread import Priority, StoreThread
from ..tiers.tree import added_paths
from .batch_writer import BatchWriter
from .prepare import Prepared
from .preparing import LONG_QUEUE, Preparer
from .reading import Job
from .records import Records, may_differ
from .settle import Settler
from .twins import second_names
from .unfinished import Unfinished
from .vanish import Hold, is_suspicious
from .walk import Found, Walk, is_behind_link, is_below_unknown, walk

_BATCH_NOTES = 16
_BATCH_MENTIONS = 200
_KIND_NOTES = ("note", "page", "text")


class ScanResult(msgspec.Struct):
    """A finished scan: files looked at, files taken in or deleted, notes held."""

    scanned: int
    changed: int
    held: int


class Intake:
    """The one owner of what is known about the workspace's files."""

    def __init__(
        self, thread: StoreThread, root: Path, settings: Settings, clock: Clock, unfinished: Unfinished
    ) -> None:
        self._thread = thread
        self._root = root
        self.unfinished = unfinished
        self._settings = settings
        self._clock = clock
        self._lock = asyncio.Lock()
        self.records = Records()
        self.last_walk = Walk({}, {}, {}, set(), {})
        self.hold = Hold(clock)
        self.waiting: set[str] = set()
        """Paths that differ from what is stored, as far as anybody looked."""
        self.settler: Settler | None = None
        """Derives a batch in its own transaction; None leaves all of it for later."""
        self.after_batch: Callable[[], Awaitable[object]] | None = None
        """Awaited after each batch, so that what is in is searchable while the rest is still being read."""
        self.taken: list[tuple[str, int]] = []
        """What was taken in since somebody looked here: path, and when the file was written [ns]."""
        self.new_agents: list[str] = []
        self.changed_pages: set[str] = set()
        """Agents whose MEMORY page was taken in since somebody looked here."""

    async def load(self) -> None:
        """Read what was compared before this process started."""
        self.records = Records(await self._thread.call(known_files))
        await asyncio.to_thread(self.unfinished.load)
        # A crash may have come between taking a page in and reading its block back.
        self.changed_pages = {each.agent_id for each in self.records.values() if classify(each.path).kind == "page"}

    async def look_at(self, paths: Iterable[str]) -> int:
        """Look again at paths that may have changed; returns how many were taken in or deleted."""
        asked = sorted(set(paths))
        now = await asyncio.to_thread(self._walk_these, asked)
        changed = await self._take_in(now, confirm=False, priority=Priority.WRITE)
        changed += await self._let_go(now, asked, confirm=False)
        self.hold.tell()
        return changed

    async def scan(self, *, confirm_deletes: bool = False, but: Collection[str] = ()) -> ScanResult:
        """Compare the whole workspace with what is stored; the files `but` were compared a moment ago."""
        now = await asyncio.to_thread(walk, self._root, self._settings.notes.extra)
        self._set_twins_apart(now, now.files)
        self.last_walk = now
        changed = await self._take_in(now, confirm=confirm_deletes, priority=Priority.BULK, but=but)
        changed += await self._let_go(now, None, confirm=confirm_deletes)
        self.hold.tell()
        self.unfinished.acquit()
        return ScanResult(len(now.files), changed, len(self.hold.paths))

    async def read_again(self, paths: Iterable[str]) -> int:
        """Ingest notes anew although their bytes did not change: after a forget, a lift, or new rules."""
        async with self._lock:
            again = sorted(set(paths))
            for path in again:
                self.records.pop(path, None)

            def drop(store: Store) -> None:
                with store.transaction() as tx:
                    for path in again:
                        drop_file(tx, path)
                crash_point("files forgotten")

            await self._thread.call(drop)
        return await self.look_at(again)

    def _walk_these(self, paths: Sequence[str]) -> Walk:
        found = Walk({}, {}, {}, set(), {})
        for path in paths:
            name = classify(path, self._settings.notes.extra)
            try:
                stat = (self._root / path).lstat()
                if is_behind_link(self._root, path):
                    continue
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                found.unknown[path] = error.strerror or str(error)
                continue
            if name.kind in _KIND_NOTES and (stat.st_mode & 0o170000) == 0o100000:
                found.files[path] = Found(name, stat)
        beside = [path for path in self.records if not path.isascii() and (self._root / path).exists()]
        self._set_twins_apart(found, {*found.files, *beside})
        return found

    def _set_twins_apart(self, now: Walk, paths: Iterable[str]) -> None:
        """A second file of the same name is listed, not taken in; what is in of it already stays."""
        now.twins = second_names(paths, self.records.keys())
        for path in now.twins:
            if path not in self.records:
                now.files.pop(path, None)

    async def _take_in(self, now: Walk, *, confirm: bool, priority: Priority, but: Collection[str] = ()) -> int:
        looked_at = sorted(now.files.keys() - but, reverse=True)
        differing = [path for path in looked_at if may_differ(self.records.get(path), now.files[path])]
        # What stands there as it was stored did not vanish: a hold that outlives its cause would later believe
        # the next accident at once.
        self.hold.release_all(now.files.keys() - set(differing))
        # A huge note keeps the others waiting for seconds: it comes last (IN-5).
        differing.sort(key=lambda path: now.files[path].stat.st_size > self._settings.notes.max_ingest_bytes)
        self.waiting.update(differing)
        batches = [differing[at : at + _BATCH_NOTES] for at in range(0, len(differing), _BATCH_NOTES)]
        changed = 0
        tree_paths = await self._thread.call(added_paths, priority=priority) if differing else {}

        def job(path: str) -> Job:
            name, stat = now.files[path].name, now.files[path].stat
            return Job(path, name, self.records.get(path), stat.st_size, tree_paths=tree_paths.get(name.agent_id, []))

        # Newest names first, and the lock let go between batches: a note saved while the archive is still
        # being read is in within a moment.
        async with (
            self._thread.roomy() if len(differing) > LONG_QUEUE else nullcontext(),
            Preparer(self._root, self._settings.notes, len(differing), self.unfinished) as preparer,
            aclosing(preparer.in_turn(batches, job, self._clock.now_ms)) as coming,
        ):
            async for jobs, prepared in coming:
                async with self._lock:
                    ready = await self._anew(jobs, prepared)
                    changed += await self._apply_all(ready, confirm=confirm, priority=priority)
                    self.waiting.difference_update([each.path for each in jobs])
                if self.after_batch is not None:
                    await self.after_batch()
        return changed

    async def _anew(self, jobs: Sequence[Job], prepared: Sequence[Prepared]) -> list[Prepared]:
        """What was prepared; a file that somebody else took in meanwhile is read again, or older words would win."""
        again = [
            msgspec.structs.replace(job, known=now)
            for job in jobs
            if (now := self.records.get(job.path)) is not job.known
        ]
        if not again:
            return list(prepared)
        old = {job.path for job in again}
        async with Preparer(self._root, self._settings.notes, len(again), self.unfinished) as preparer:
            fresh = [await preparer.one(job, self._clock.now_ms()) for job in again]
        return [*(each for each in prepared if each.path not in old), *fresh]

    async def _apply_all(self, prepared: Sequence[Prepared], *, confirm: bool, priority: Priority) -> int:
        changed = 0
        batch: list[Prepared] = []
        size = 0
        for each in prepared:
            if each.gone:
                continue
            batch.append(each)
            size += len(each.parsed.mentions) if each.parsed else 0
            if size >= _BATCH_MENTIONS:
                changed += await self._apply_batch(batch, confirm=confirm, priority=priority)
                batch, size = [], 0
        return changed + await self._apply_batch(batch, confirm=confirm, priority=priority)

    async def _apply_batch(self, batch: Sequence[Prepared], *, confirm: bool, priority: Priority) -> int:
        if not batch:
            return 0
        today = self._clock.today()
        writer = BatchWriter(
            settler=self.settler,
            keep_bodies=self._settings.sync.notes == "backup",
            may_become_empty=lambda path: confirm or self.hold.is_due(path),
        )
        applied, emptied, derived = await self._thread.call(
            lambda store: writer.write(store, batch, today), priority=priority
        )
        if self.settler is not None:
            self.settler.derived(derived)
        for each in batch:
            if each.path in emptied:
                self.hold.add(each.path, each.record.reason or "it became empty")
                continue
            self._announce(each.record.agent_id)
            if each.name.kind == "page" and each.parsed is not None:
                self.changed_pages.add(each.name.agent_id)
            self.records[each.path] = each.record
            self.hold.release(each.path)
            if each.parsed is not None:
                self.taken.append((each.path, max(each.record.mtime_ns, each.record.ctime_ns)))
        return applied

    async def _let_go(self, now: Walk, partial: Sequence[str] | None, *, confirm: bool) -> int:
        """Delete what vanished, unless it looks like an accident."""
        async with self._lock:
            asked = list(self.records) if partial is None else [path for path in partial if path in self.records]
            unseen = [path for path in asked if path not in now.files and path not in now.unknown]
            unseen = [path for path in unseen if not is_below_unknown(path, now.unknown)]
            # The walk is older than this moment: what is there now did not vanish.
            missing = await asyncio.to_thread(self._absent, unseen)
            return await self._delete(missing, confirm=confirm) if missing else 0

    async def _delete(self, missing: Sequence[str], *, confirm: bool) -> int:
        if not confirm and not self.hold.all_due(missing):
            absent = await asyncio.to_thread(self._absent, list(self.records))
            if is_suspicious(self.records, absent, self.hold.recently_deleted()):
                for path in absent:
                    self.hold.add(path, "it vanished with many others")
                return 0
        keep = self._settings.notes.on_delete == "keep"

        def delete(store: Store) -> None:
            with store.transaction() as tx:
                for path in missing:
                    delete_note(tx, self.records[path].agent_id, path, keep_facts=keep)
            crash_point("note deleted")

        await self._thread.call(delete)
        for path in missing:
            self.hold.deleted(self.records.pop(path))
        return len(missing)

    def _absent(self, paths: Iterable[str]) -> list[str]:
        """Which of these are certainly not there: only ENOENT, ENOTDIR and a link instead of their folder say so."""
        gone: list[str] = []
        for path in paths:
            try:
                (self._root / path).lstat()
                if is_behind_link(self._root, path):
                    gone.append(path)
            except (FileNotFoundError, NotADirectoryError):
                gone.append(path)
            except OSError:
                continue
        return gone

    def _announce(self, agent: str) -> None:
        if agent and agent != self._settings.agent_id and agent not in self.records.agents:
            self.new_agents.append(agent)

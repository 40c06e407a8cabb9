"""Reading the other devices' logs: chain checked, folded segment by segment, each log on its own (docs/data.md, 5)."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from itertools import pairwise

import msgspec

from ..crash import crash_point
from ..errors import CloudStoppedError
from ..model import Row
from ..store import Store, Tx
from ..store.fold import fold, move_cursor, replace_own_rows
from ..store.fold_rows import Folded
from ..store.forget import DUTY_SNAPSHOT, add_duty
from ..store.log import predecessors
from ..store.sent import Cursor, cursor
from ..store.thread import Priority, StoreThread
from .cloud import CloudState, SnapshotRange, fetch_after, newest_snapshot
from .heads import SET_BACK_HINT
from .hrana import CloudClient
from .seal import NO_KEYS, KeyRing, is_sealed
from .wire import Head, Segment, SegmentError, is_sound, unpack

_SEALED = "sealed_logs"
"""Key in `meta`: the devices whose logs were seen encrypted."""

_ROWS_TOGETHER = 50_000
"""Rows that one transaction folds where nobody else waits for the store."""

Progress = Callable[[int], None]
"""Called with the number of rows folded since the last call."""


class Pulled(msgspec.Struct):
    """What a pull brought. `faults` names the logs that stopped, `reread` own notes to ingest again."""

    rows: int = 0
    faults: dict[str, str] = {}
    reread: list[str] = []
    lifted: bool = False

    def add(self, folded: Folded) -> None:
        """Count what one fold brought."""
        self.rows += folded.rows
        self.reread.extend(folded.reread)
        self.lifted = self.lifted or bool(folded.lifted)


class _ChainBrokenError(SegmentError):
    """A segment that a later snapshot may heal."""


class Puller:
    """Folds what is new in the other logs."""

    def __init__(
        self, thread: StoreThread, client: CloudClient, *, keys: KeyRing = NO_KEYS, keep_chunks: bool = False
    ) -> None:
        self._thread = thread
        self._client = client
        self._keys = keys
        self._keep_chunks = keep_chunks
        self._seen_faults: dict[str, Head] = {}

    async def pull(self, state: CloudState, on_rows: Progress = lambda _: None, *, retry_faults: bool = True) -> Pulled:
        """Fold every other log up to its head.

        A damaged log stops alone and is named; with `retry_faults` False it is looked at again only when its
        head has moved. Raises `CloudStoppedError` when a log was rewritten behind our cursor.
        """
        pulled = Pulled()
        own = await self._thread.call(lambda store: store.device, priority=Priority.READ)
        again = True
        while again:
            pulled.lifted = again = False
            for device, head in sorted(state.heads.items()):
                if device == own or (not retry_faults and self._seen_faults.get(device) == head):
                    continue
                await self._pull_log(head, pulled, on_rows)
            # A lifted tombstone: what it kept out is in segments that were folded already.
            again = pulled.lifted
        return pulled

    async def _pull_log(self, head: Head, pulled: Pulled, on_rows: Progress) -> None:
        self._seen_faults.pop(head.device, None)
        try:
            await self._follow(head, pulled, on_rows)
        except SegmentError as error:
            text = str(error)
            self._seen_faults[head.device] = head
            pulled.faults[head.device] = text
            await self._thread.call(lambda store: _note_fault(store, head.device, text))

    async def _follow(self, head: Head, pulled: Pulled, on_rows: Progress) -> None:
        coming: asyncio.Task[list[Segment]] | None = None
        last = -1
        try:
            while True:
                position = await self._thread.call(lambda store: cursor(store, head.device), priority=Priority.READ)
                if position.idx >= head.idx:
                    return
                if coming is not None and position.idx == last:
                    segments = await coming
                else:  # the first, or a snapshot was jumped to
                    segments = await fetch_after(self._client, head.device, position.idx)
                coming = await self._fetch_ahead(coming, head, segments)
                if not segments:
                    raise SegmentError(f"segment {position.idx + 1} is missing")
                last, before = segments[-1].idx, pulled.rows
                if segments[0].idx != position.idx + 1:
                    await self._jump(head.device, position, pulled, f"segment {position.idx + 1} is missing")
                else:
                    await self._fold_chain(position, segments, pulled)
                on_rows(pulled.rows - before)
                if pulled.lifted:
                    return
        finally:
            await _drop(coming)

    async def _fetch_ahead(
        self, former: "asyncio.Task[list[Segment]] | None", head: Head, segments: Sequence[Segment]
    ) -> "asyncio.Task[list[Segment]] | None":
        """Ask for what follows these segments, so that it is under way while they are folded."""
        await _drop(former)
        if not segments or segments[-1].idx >= head.idx:
            return None
        return asyncio.create_task(fetch_after(self._client, head.device, segments[-1].idx))

    async def _fold_chain(self, position: Cursor, segments: Sequence[Segment], pulled: Pulled) -> None:
        """Fold the segments after `position`; from where the chain breaks jump to the next snapshot."""
        run: list[tuple[Segment, list[Row]]] = []
        error: SegmentError | CloudStoppedError | None = None
        async with aclosing(self._chained(position, segments)) as chain:
            while error is None:
                try:
                    segment, rows = await anext(chain)
                except StopAsyncIteration:
                    break
                except (SegmentError, CloudStoppedError) as found:
                    error = found  # what stands before it comes in
                    continue
                # Of one kind, so that a segment that is refused for its sealing takes no sound one with it.
                if run and not (self._may_wait(run) and is_sealed(segment.payload) == is_sealed(run[0][0].payload)):
                    position, run = await self._fold_run(run, pulled), []
                    if pulled.lifted:
                        return
                run.append((segment, rows))
        if run:
            position = await self._fold_run(run, pulled)
        if pulled.lifted:
            return
        if isinstance(error, _ChainBrokenError):
            await self._jump(position.device, position, pulled, str(error))
        elif error is not None:
            raise error

    async def _chained(
        self, position: Cursor, segments: Sequence[Segment]
    ) -> AsyncGenerator[tuple[Segment, list[Row]], None]:
        idx, sha = position.idx, position.sha256
        for segment in segments:
            if segment.idx != idx + 1:
                raise SegmentError(f"segment {idx + 1} is missing")
            if segment.prev != sha:
                if is_sound(segment):
                    raise CloudStoppedError(f"The log of device {segment.device} was rewritten.", SET_BACK_HINT)
                raise _ChainBrokenError("its chain is broken")
            try:
                rows = await asyncio.to_thread(unpack, segment, self._keys)
            except SegmentError as error:
                raise _ChainBrokenError(str(error)) from None
            yield segment, rows
            idx, sha = segment.idx, segment.sha256

    def _may_wait(self, run: Sequence[tuple[Segment, list[Row]]]) -> bool:
        """Whether these segments are to be folded together with the next: each index page is written once."""
        return self._thread.alone and sum(len(rows) for _, rows in run) < _ROWS_TOGETHER

    async def _fold_run(self, run: Sequence[tuple[Segment, list[Row]]], pulled: Pulled) -> Cursor:
        """Fold segments that follow each other in one transaction; returns where the log stands then."""
        last = run[-1][0]
        await self._fold(last, [row for _, rows in run for row in rows], pulled)
        return Cursor(last.device, last.idx, last.sha256, "")

    async def _fold(self, segment: Segment, rows: Sequence[Row], pulled: Pulled, *, replace: bool = False) -> None:
        keep = self._keep_chunks
        folded = await self._thread.call(
            lambda store: _fold_one(store, segment, rows, keep_chunks=keep, replace=replace), priority=Priority.BULK
        )
        crash_point("segment folded")
        pulled.add(folded)

    async def _jump(self, device: str, position: Cursor, pulled: Pulled, reason: str) -> None:
        """Go on at the newest complete snapshot after `position`; without one the log stops here for `reason`."""
        snapshot = await newest_snapshot(self._client, device, position.idx)
        if snapshot is None:
            raise SegmentError(reason)
        parts = await _read_parts(self._client, device, snapshot)
        rows: list[Row] = []
        for part in parts:
            rows.extend(await asyncio.to_thread(unpack, part, self._keys))
        await self._fold(parts[-1], rows, pulled, replace=True)


async def _drop(task: "asyncio.Task[list[Segment]] | None") -> None:
    if task is not None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _read_parts(client: CloudClient, device: str, snapshot: SnapshotRange) -> list[Segment]:
    parts: list[Segment] = []
    while not parts or parts[-1].idx < snapshot.last:
        found = await fetch_after(client, device, parts[-1].idx if parts else snapshot.first - 1)
        if not found:
            raise SegmentError(f"the snapshot at segment {snapshot.first} is cut off")
        parts.extend(each for each in found if each.idx <= snapshot.last)
    for before, after in pairwise(parts):
        if after.prev != before.sha256 or after.idx != before.idx + 1:
            raise SegmentError(f"the snapshot at segment {snapshot.first} is broken")
    return parts


def _fold_one(store: Store, segment: Segment, rows: Sequence[Row], *, keep_chunks: bool, replace: bool) -> Folded:
    with store.transaction() as tx:
        if replace:
            replace_own_rows(tx, segment.device, rows)
        _check_sealing(tx, segment)
        # The cursor first: a lifted tombstone sets all of them back.
        move_cursor(tx, segment.device, segment.idx, segment.sha256)
        return fold(tx, rows, keep_chunks=keep_chunks)


def _check_sealing(tx: Tx, segment: Segment) -> None:
    """A log that was once encrypted takes no plain segment any more: somebody without the key would have written it."""
    known = msgspec.json.decode(tx.store.meta(_SEALED) or "[]", type=list[str])
    if is_sealed(segment.payload):
        if segment.device not in known:
            tx.set_meta(_SEALED, msgspec.json.encode([*known, segment.device]).decode())
    elif segment.device in known:
        raise SegmentError(f"segment {segment.idx} is not encrypted, which its device would never send")


def _note_fault(store: Store, device: str, fault: str) -> None:
    known = cursor(store, device)
    if known.fault != fault:
        with store.transaction() as tx:
            move_cursor(tx, device, known.idx, known.sha256, fault)
            if device in predecessors(store):
                add_duty(tx, DUTY_SNAPSHOT, device)  # nobody else can put it right

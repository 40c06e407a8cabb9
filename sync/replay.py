"""Reading whole logs from the cloud and folding them into a fresh store: what `verify --deep` and a drill stand on."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from ..model import ChunkRow, Row
from ..store import Store
from ..store.fold import fold
from ..store.fold_rows import Folded
from ..store.thread import Priority, StoreThread
from .cloud import fetch_after, newest_snapshot
from .hrana import CloudClient
from .seal import NO_KEYS, KeyRing
from .wire import Segment, SegmentError, is_sound, unpack


class Difference(msgspec.Struct, frozen=True):
    """Something that is not as it should be; `idx` is the segment, 0 where no single one is meant."""

    device: str
    idx: int
    what: str


class Replay(msgspec.Struct):
    """What reading every log showed: damage, and the chunks that each log holds."""

    damage: list[Difference] = []
    chunks: dict[str, set[str]] = {}
    rows: int = 0


async def replay(
    client: CloudClient,
    upto: Mapping[str, int],
    thread: StoreThread,
    on_rows: Callable[[int], None] = lambda _: None,
    *,
    keys: KeyRing = NO_KEYS,
    keep_chunks: bool = False,
) -> Replay:
    """Read each log up to its idx in `upto`, check every segment, fold the sound ones into the store of `thread`.

    With `keep_chunks` the text of notes is kept in that store too.
    """
    result = Replay()
    lifted = True
    while lifted:
        # A lifted tombstone lets in what it kept out of logs that were read before it: read them again.
        result, lifted = Replay(), False
        for device, last in sorted(upto.items()):
            lifted = await _replay_log(_Source(client, keys, keep_chunks), device, last, thread, result) or lifted
            on_rows(result.rows)
    return result


class _Source(NamedTuple):
    client: CloudClient
    keys: KeyRing
    keep_chunks: bool


async def _replay_log(source: _Source, device: str, last: int, thread: StoreThread, result: Replay) -> bool:
    lifted = False
    before: Segment | None = None
    start = await first_before(source.client, device)
    chunks = result.chunks.setdefault(device, set())
    while before is None or before.idx < last:
        segments = await fetch_after(source.client, device, before.idx if before else start)
        if not segments:
            result.damage.append(Difference(device, last, f"segment {last} is missing"))
            return lifted
        for segment in segments:
            if segment.idx > last:
                return lifted
            result.damage.extend(_chain_damage(before, segment))
            before = segment
            try:
                rows = await asyncio.to_thread(unpack, segment, source.keys)
            except SegmentError as error:
                result.damage.append(Difference(device, segment.idx, str(error)))
                continue
            chunks.update(row.sha256 for row in rows if isinstance(row, ChunkRow))
            folded = await thread.call(
                partial(_fold, rows=rows, keep_chunks=source.keep_chunks), priority=Priority.BULK
            )
            result.rows += folded.rows
            lifted = lifted or bool(folded.lifted)
    return lifted


async def first_before(client: CloudClient, device: str) -> int:
    """The idx after which a log is read: 0, or just before its newest snapshot if older segments were let go."""
    first = await fetch_after(client, device, 0, segments=1)
    if not first or first[0].idx == 1:
        return 0
    snapshot = await newest_snapshot(client, device, 0)
    return snapshot.first - 1 if snapshot else 0


def _chain_damage(before: Segment | None, segment: Segment) -> list[Difference]:
    """What is wrong between two neighbours of a log; a log may begin with a snapshot."""
    if before is None:
        begins = segment.idx == 1 or (segment.first == segment.idx and segment.part == 1)
        what = "" if begins else f"the segments before {segment.idx} are missing"
    elif segment.idx != before.idx + 1:
        what = f"segment {before.idx + 1} is missing"
    elif segment.prev != before.sha256 and is_sound(segment):
        what = f"segment {segment.idx} does not follow segment {before.idx}"
    else:
        what = ""
    return [Difference(segment.device, segment.idx, what)] if what else []


def _fold(store: Store, rows: Sequence[Row], *, keep_chunks: bool) -> Folded:
    with store.transaction() as tx:
        return fold(tx, rows, keep_chunks=keep_chunks)

"""Sending this device's rows: the next segment of its log, guarded so that it lands once or not at all."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from ..crash import crash_point
from ..errors import CloudStoppedError
from ..store import Store
from ..store.lines import next_lines
from ..store.log import pushed_rev
from ..store.sent import CLOUD, SentSegment, confirm, last_confirmed, write_receipt
from ..store.thread import Priority, StoreThread
from .cloud import HEAD_OF, IS_OUR_CLOUD
from .hrana import CloudClient, Statement
from .schema import make_schema
from .seal import NO_KEYS, KeyRing
from .wire import MAX_SEGMENT_BYTES, PLAIN, chain_hash, check_cloud, key_id_of, pack

SEGMENT_ROWS = 4_000
SEGMENT_RAW_BYTES = 2_000_000
"""A segment is closed at so many rows or bytes before packing: folding it takes 50 to 100 ms."""

_AT = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
"""The cloud's clock, in ms."""
_INSERT = (
    f"INSERT INTO segments (device, idx, prev, sha256, first, part, parts, rows, at, payload)"
    f" SELECT ?, ?, ?, ?, ?, ?, ?, ?, {_AT}, ? WHERE {IS_OUR_CLOUD} AND {HEAD_OF} IS ?"
)


class HeadMovedError(Exception):
    """Our log in the cloud does not end where we thought; nothing was written. Look again, then go on."""


class Page(msgspec.Struct):
    """Encoded rows of this device's log up to a revision."""

    lines: bytes
    rows: int
    end: int


class Draft(msgspec.Struct):
    """A segment that is ready to be sent."""

    sent: SentSegment
    prev: str
    payload: bytes


class Pusher:
    """Sends what the cloud has not confirmed; also the parts of snapshots (`snapshot.py`)."""

    def __init__(self, thread: StoreThread, client: CloudClient, keys: KeyRing = NO_KEYS) -> None:
        self._thread = thread
        self._client = client
        self.keys = keys

    async def push(self, on_sent: Callable[[], None] = lambda: None) -> int:
        """Send all unsent rows, segment by segment; returns how many rows the cloud confirmed.

        Raises `HeadMovedError` when the cloud holds another head of this log, and `UnavailableError`s.
        """
        await self.know_cloud()
        upto = await self._thread.call(lambda store: store.rev, priority=Priority.READ)
        position = await self._thread.call(pushed_rev, priority=Priority.READ)
        coming = asyncio.create_task(self._next_segment(position, upto))
        total = 0
        try:
            while True:
                pages, data = await coming
                if not pages:
                    return total
                # The next one is read and packed while this one is on its way.
                coming = asyncio.create_task(self._next_segment(pages[-1].end, upto))
                draft = await self.draft(pages, data)
                await self.send(draft)
                total += draft.sent.rows
                on_sent()
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)

    async def know_cloud(self) -> str:
        """The value of the cloud that this device knows; the first push makes the schema where there is none."""
        known = await self._thread.call(lambda store: store.meta(CLOUD), priority=Priority.READ)
        if known:
            return known
        held = self.keys.newest
        value = await make_schema(self._client, held.id if held else PLAIN)
        check_cloud(value, known, self.keys)
        await self._thread.call(lambda store: remember_cloud(store, value))
        return value

    async def draft(
        self, pages: Sequence[Page], data: bytes, first: int = 0, part: int = 0, parts: int = 0, cloud: str = ""
    ) -> Draft:
        """The next segment of this log: `pages`, packed as `data`; `first`, `part`, `parts` only for a snapshot.

        It is sealed with the key of `cloud`, the cloud that we know if none is given.
        """
        device, known, last = await self._thread.call(_where, priority=Priority.READ)
        prev, idx = (last.sha256, last.idx + 1) if last else ("", 1)
        key_id = key_id_of(cloud or known)
        payload = await asyncio.to_thread(self.keys.seal, key_id, (device, idx, prev), data) if key_id else data
        sent = SentSegment(
            idx=idx,
            sha256=chain_hash(prev, payload),
            last_rev=pages[-1].end,
            rows=sum(page.rows for page in pages),
            bytes=len(payload),
            first=first,
            part=part,
            parts=parts,
        )
        return Draft(sent, prev, payload)

    async def send(self, draft: Draft, *, and_remove: bool = False, become: str = "") -> None:
        """Store the receipt, send the segment, confirm it; `and_remove` takes out all before its snapshot at once.

        With `become` the cloud takes that value in the same transaction, and an encrypted one loses its picture.
        """
        sent = draft.sent
        device, cloud = await self._thread.call(lambda store: _store_receipt(store, sent))
        snapshot = (sent.first, sent.part, sent.parts) if sent.parts else (None, None, None)
        statements = [
            Statement(
                _INSERT,
                (device, sent.idx, draft.prev, sent.sha256, *snapshot, sent.rows, draft.payload,
                 cloud, device, draft.prev or None),
            )
        ]  # fmt: skip
        if and_remove:
            statements.append(
                Statement(
                    f"DELETE FROM segments WHERE device = ? AND idx < ? AND {IS_OUR_CLOUD} AND {HEAD_OF} IS ?",
                    (device, sent.first, cloud, device, sent.sha256),
                )
            )
        if become:
            statements += _becoming(become, cloud, (device, sent.sha256))
        crash_point("receipt stored")
        counts = await self._client.transact(statements)
        crash_point("segment sent")
        if counts[0] != 1:
            raise HeadMovedError
        await self._thread.call(lambda store: _confirm(store, sent, become))
        crash_point("segment confirmed")

    async def read_page(self, after: int, upto: int) -> Page:
        """One page of rows after a revision, encoded."""
        found = await self._thread.call(partial(next_lines, after=after, upto=upto), priority=Priority.BULK)
        return Page(found.lines, found.rows, found.end)

    async def _next_segment(self, position: int, upto: int) -> tuple[list[Page], bytes]:
        """The pages of the segment after a revision, and its payload; no pages when nothing is left up to `upto`."""
        pages: list[Page] = []
        rows = raw = 0
        while position < upto and rows < SEGMENT_ROWS and raw < SEGMENT_RAW_BYTES:
            page = await self.read_page(position, upto)
            position = page.end
            if page.rows:
                pages.append(page)
                rows, raw = rows + page.rows, raw + len(page.lines)
        payload = await packed(pages)
        while len(pages) > 1 and len(payload) > MAX_SEGMENT_BYTES:
            pages.pop()
            payload = await packed(pages)
        return pages, payload


async def packed(pages: Sequence[Page]) -> bytes:
    """The payload of some pages."""
    return await asyncio.to_thread(pack, b"".join(page.lines for page in pages))


def remember_cloud(store: Store, value: str) -> None:
    """From now on this is the cloud that this device knows."""
    with store.transaction() as tx:
        tx.set_meta(CLOUD, value)


def _store_receipt(store: Store, sent: SentSegment) -> tuple[str, str]:
    cloud = store.meta(CLOUD)
    if not cloud:
        raise CloudStoppedError("No cloud is known yet.", "This is a fault of memoryd: please report it.")
    with store.transaction() as tx:
        write_receipt(tx, sent)
    return store.device, cloud


def _confirm(store: Store, sent: SentSegment, become: str) -> None:
    with store.transaction() as tx:
        confirm(tx, sent)
        if become:
            tx.set_meta(CLOUD, become)


def _where(store: Store) -> tuple[str, str, SentSegment | None]:
    return store.device, store.meta(CLOUD), last_confirmed(store)


def _becoming(value: str, known: str, head: tuple[str, str]) -> list[Statement]:
    """What gives the cloud another value once our segment is its log's head; the picture first, then the guard."""
    device, sha256 = head
    drop = [
        Statement(f"DELETE FROM {table} WHERE {IS_OUR_CLOUD} AND {HEAD_OF} IS ?", (known, device, sha256))
        for table in ("cold_memories", "critical_state")
    ]
    return [*drop, Statement(f"UPDATE meta SET v = ? WHERE k = 'cloud' AND v = ? AND {HEAD_OF} IS ?",
                             (value, known, device, sha256))]  # fmt: skip

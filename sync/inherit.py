"""Looking after the log of a lost device: its successor writes it anew when something in it must go (docs/data.md, 6).

The log is read into a temporary store that believes it is the lost device. There everything that was forgotten is
erased as the device itself would have done, and what is left is sent as a snapshot of its log, after which the older
segments are removed. If the device is alive after all, it sees a stranger's segment in its log and takes a new id.
"""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

import msgspec

from ..clock import MS_PER_DAY, Clock
from ..model import ChunkRow, FactRow, ForgottenRow, Row
from ..store import Store, Value
from ..store.compare import page_of
from ..store.fold import fold
from ..store.forget import DUTY_SNAPSHOT, erase, mask_words
from ..store.log import KEYS, TABLES, next_rows
from ..store.sent import CLOUD, SentSegment, confirm, cursor, write_receipt
from ..store.thread import Priority, StoreThread
from .cloud import fetch_after
from .hrana import CloudClient
from .push import Pusher
from .replay import first_before
from .scratch import scratch
from .seal import KeyRing, sealed_with
from .snapshot import duty_done, write_snapshot
from .wire import Head, SegmentError, key_id_of, unpack

KEEP_DELETED_DAYS = 90
"""How long the text of a deleted note stays."""
_BATCH = 500
_JSON = msgspec.json.Encoder()

_T = TypeVar("_T")
_Key: TypeAlias = tuple[Value, ...] | None


class _Known(msgspec.Struct):
    """What this device knows when it begins: its revision, tombstones that stand, how far it folded that log."""

    rev: int
    cloud: str
    folder: Path
    tombstones: list[ForgottenRow]
    folded: int


class _Read(msgspec.Struct):
    """What reading the log showed."""

    sealed_otherwise: bool = False
    damaged: bool = False
    words: dict[tuple[str, str], str] = {}
    """What it still says of forgotten facts, by agent and fact."""

    @property
    def must_go(self) -> bool:
        """Whether the log must be written anew."""
        return bool(self.sealed_otherwise or self.damaged or self.words)


def inherited_duties(store: Store) -> list[str]:
    """The devices whose logs this one has to look into."""
    rows = store.execute(
        "SELECT subject FROM duties WHERE kind = ? AND subject <> '' ORDER BY subject", (DUTY_SNAPSHOT,)
    )
    return [str(row[0]) for row in rows]


class Executor:
    """Writes the logs of lost devices anew."""

    def __init__(self, thread: StoreThread, client: CloudClient, keys: KeyRing, clock: Clock) -> None:
        self._thread = thread
        self._client = client
        self._keys = keys
        self._clock = clock

    async def look_into(self, device: str, head: Head | None) -> bool:
        """Write the log of `device` anew if it holds what must go; whether it was. The duty is done with it.

        Raises `HeadMovedError` when somebody writes there at the same time.
        """
        known = await self._thread.call(partial(_known, device=device), priority=Priority.READ)
        rewritten = False
        if head is not None:
            with scratch(known.folder) as temporary:
                path = temporary / "copy.db"
                copy = StoreThread(lambda: Store.open(path, self._clock, new_device=lambda: device))
                await copy.start()
                try:
                    read = await self._read(head, copy, known)
                    if read.must_go:
                        await self._rewrite(head, copy, known, read)
                        rewritten = True
                finally:
                    await copy.close()
        await self._thread.call(lambda store: duty_done(store, device, known.rev))
        return rewritten

    async def _read(self, head: Head, copy: StoreThread, known: _Known) -> _Read:
        gone = {(each.agent_id, each.fact_id) for each in known.tombstones}
        key, read, idx = key_id_of(known.cloud), _Read(), await first_before(self._client, head.device)
        caught_up = False
        while idx < head.idx and (segments := await fetch_after(self._client, head.device, idx)):
            for segment in segments:
                if read.damaged and not caught_up and segment.idx > known.folded:
                    caught_up = await self._add_local(head.device, copy)
                idx = segment.idx
                read.sealed_otherwise = read.sealed_otherwise or sealed_with(segment.payload) != key
                try:
                    rows = await asyncio.to_thread(unpack, segment, self._keys)
                except SegmentError:
                    read.damaged = True
                    continue
                read.words.update(
                    ((row.agent_id, row.id), row.text)
                    for row in rows
                    if isinstance(row, FactRow) and (row.agent_id, row.id) in gone
                )
                await copy.call(partial(fold_into, rows=rows))
        if read.damaged and not caught_up:
            await self._add_local(head.device, copy)
        return read

    async def _add_local(self, device: str, copy: StoreThread) -> bool:
        """What this device folded of that log before it was damaged, and the text of notes that both have."""
        for table in ("devices", "facts", "mentions", "notes", "access", "edits", "hot_items", "tree_nodes"):
            after: _Key = None
            while True:
                page = partial(next_rows, table=table, device=device, after=after)
                rows, after = await self._thread.call(page, priority=Priority.BULK)
                if rows:
                    await copy.call(partial(fold_into, rows=rows))
                if after is None:
                    break
        for names in _slices(await copy.call(_chunks_missing)):
            chunks = await self._thread.call(partial(_chunks, names=names), priority=Priority.BULK)
            await copy.call(partial(fold_into, rows=chunks))
        return True

    async def _rewrite(self, head: Head, copy: StoreThread, known: _Known, read: _Read) -> None:
        oldest = self._clock.now_ms() - KEEP_DELETED_DAYS * MS_PER_DAY
        await copy.call(partial(use_chunks, oldest=oldest))
        await erase_all(copy, known.tombstones)
        # An earlier rewriting that was cut off may have left mentions that no longer fit the text.
        for (agent, _), text in read.words.items():
            for paths in _slices(await copy.call(partial(_notes_with_text, agent_id=agent))):
                await copy.call(partial(_mask, agent_id=agent, paths=paths, text=text))
        for table in (*KEYS, "chunks"):
            await _number(copy, table)
        # The note rows come after what they name.
        await _number(copy, "notes")
        await copy.call(partial(_stand_at, head=head, cloud=known.cloud))
        await write_snapshot(copy, Pusher(copy, self._client, self._keys))


async def erase_all(copy: StoreThread, tombstones: Sequence[ForgottenRow]) -> None:
    """Erase every forgotten fact from a temporary store, as its device would have done."""
    for some in _slices(tombstones):
        await copy.call(partial(_erase, tombstones=some))


def standing_tombstones(store: Store) -> list[ForgottenRow]:
    """Everything that is forgotten now."""
    rows = store.execute(
        "SELECT agent_id, fact_id, version, lifted_version, moved_to FROM forgotten WHERE version > lifted_version"
    )
    return [ForgottenRow(*map(str, row)) for row in rows]


async def _number(copy: StoreThread, table: str) -> None:
    """Give every row of a table a new revision: all of them belong into the log."""
    after: _Key = None
    while True:
        after = await copy.call(partial(_number_page, table=table, after=after))
        if after is None:
            return


def _number_page(store: Store, table: str, after: _Key) -> _Key:
    names = _keys_of(table)
    if table == "chunks":
        rows = store.execute(
            "SELECT sha256 FROM chunks WHERE sha256 > ? ORDER BY sha256 LIMIT ?", (after[0] if after else "", _BATCH)
        )
        keys = [tuple(row) for row in rows]
    else:
        keys = [row.key for row in page_of(store, table, after)]
    same = " AND ".join(f"{table}.{name} = j.value ->> {place}" for place, name in enumerate(names))
    with store.transaction() as tx:
        for some in _slices(keys):
            numbered = [[*key, tx.next_rev()] for key in some]
            tx.run(
                f"UPDATE {table} SET rev = j.value ->> {len(names)} FROM json_each(?) AS j WHERE {same}",
                (_JSON.encode(numbered).decode(),),
            )
    return keys[-1] if keys else None


def _keys_of(table: str) -> list[str]:
    columns = next(each.columns for each in TABLES if each.name == table)
    return columns.split(", ")[: KEYS.get(table, 1)]


def _known(store: Store, device: str) -> _Known:
    return _Known(
        store.rev, store.meta(CLOUD), store.db.path.parent, standing_tombstones(store), cursor(store, device).idx
    )


def fold_into(store: Store, rows: Sequence[Row]) -> None:
    """Fold rows of a log into a temporary store, with the text of notes."""
    with store.transaction() as tx:
        fold(tx, rows, keep_chunks=True)


def use_chunks(store: Store, oldest: int = 0) -> None:
    """Note which chunks the notes name, as their device did; what nobody names goes, and notes deleted before `oldest`.

    `oldest` in ms.
    """
    with store.transaction() as tx:
        tx.run(
            "INSERT OR IGNORE INTO chunk_uses SELECT c.value, n.agent_id, n.path FROM notes n, json_each(n.chunks) c"
            " WHERE n.deleted_at IS NULL OR n.deleted_at >= ?",
            (oldest,),
        )
        tx.run("DELETE FROM chunks WHERE sha256 NOT IN (SELECT sha256 FROM chunk_uses)")


def _erase(store: Store, tombstones: Sequence[ForgottenRow]) -> None:
    with store.transaction() as tx:
        fold(tx, tombstones)
        for each in tombstones:
            # Also where the log had the tombstone already and held the words before it.
            erase(tx, each.agent_id, each.fact_id)


def _notes_with_text(store: Store, agent_id: str) -> list[str]:
    rows = store.execute("SELECT path FROM notes WHERE agent_id = ? AND chunks <> '[]' ORDER BY path", (agent_id,))
    return [str(row[0]) for row in rows]


def _mask(store: Store, agent_id: str, paths: Sequence[str], text: str) -> None:
    with store.transaction() as tx:
        mask_words(tx, agent_id, paths, text)


def _stand_at(store: Store, head: Head, cloud: str) -> None:
    """Make the copy believe that it has sent everything up to the head of the log."""
    sent = SentSegment(head.idx, head.sha256, 0, 0, 0)
    with store.transaction() as tx:
        write_receipt(tx, sent)
        confirm(tx, sent)
        tx.set_meta(CLOUD, cloud)


def _chunks_missing(store: Store) -> list[str]:
    rows = store.execute(
        "SELECT DISTINCT c.value FROM notes n, json_each(n.chunks) c"
        " WHERE NOT EXISTS (SELECT 1 FROM chunks h WHERE h.sha256 = c.value)"
    )
    return [str(row[0]) for row in rows]


def _chunks(store: Store, names: Sequence[str]) -> list[Row]:
    rows = store.execute(
        "SELECT sha256, data FROM chunks WHERE sha256 IN (SELECT value FROM json_each(?))",
        (_JSON.encode(list(names)).decode(),),
    )
    return [ChunkRow.of(str(sha), data) for sha, data in rows if isinstance(data, bytes)]


def _slices(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]

"""`verify`: does the cloud hold what this device holds? By heads and hashes, or by reading and folding everything."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec

from ..errors import CloudStoppedError
from ..store import Store, Value
from ..store.compare import differing, page_of, rows_within, unsent
from ..store.log import KEYS, count_unsent
from ..store.sent import CLOUD, Cursor, cursors, last_confirmed, receipts
from ..store.thread import Priority, StoreThread
from .cloud import CloudState, count_rows_after, read_cloud
from .heads import Verdict, judge_own_head
from .replay import Difference, replay
from .scratch import scratch
from .seal import KeyRing
from .service import SyncService
from .wire import check_cloud

_MAX_DIFFERENCES = 100
"""Enough to see what is wrong; more would only bury it."""
_STRINGS = msgspec.json.Decoder(list[str])


class VerifyReport(msgspec.Struct):
    """`equal`: nothing differs. `pending` rows are not yet sent or not yet folded, which is no difference."""

    equal: bool
    pending: int
    differences: list[Difference]


async def verify(
    service: SyncService, *, deep: bool = False, on_rows: Callable[[int], None] = lambda _: None
) -> VerifyReport:
    """Compare this memory with the cloud; raises `UnavailableError`s when the cloud cannot be asked."""
    if deep:
        await _catch_up(service)
    state = await read_cloud(service.client)
    differences = await service.thread.call(
        partial(compare_heads, state=state, keys=service.keys), priority=Priority.READ
    )
    if deep and not any(each.device == "" for each in differences):
        known = {(each.device, each.idx) for each in differences}
        found = await _compare_deep(service, state, on_rows)
        await service.answer_damage({each.device for each in found if each.idx})
        differences += [each for each in found if (each.device, each.idx) not in known]
    pending = await service.thread.call(count_unsent, priority=Priority.READ)
    for cursor in await service.thread.call(cursors, priority=Priority.READ):
        if cursor.device in state.heads and state.heads[cursor.device].idx > cursor.idx:
            pending += await count_rows_after(service.client, cursor.device, cursor.idx)
    return VerifyReport(not differences, pending, differences[:_MAX_DIFFERENCES])


async def _catch_up(service: SyncService) -> None:
    try:
        await service.pull()
    except CloudStoppedError:
        return  # the comparison of the heads names it


def compare_heads(store: Store, state: CloudState, keys: KeyRing) -> list[Difference]:
    """What the heads of the logs alone show; a difference without a device means that nothing can be compared."""
    known = store.meta(CLOUD)
    if not known and not state.value:
        return []
    try:
        check_cloud(state.value, known, keys)
    except CloudStoppedError as error:
        return [Difference("", 0, error.message)]
    found = [_compare_cursor(each, state) for each in cursors(store)]
    verdict, _ = judge_own_head(state.heads.get(store.device), receipts(store))
    last = last_confirmed(store)
    if verdict is Verdict.SET_BACK:
        found.append(Difference(store.device, last.idx if last else 0, "the cloud lost segments of this device"))
    elif verdict is Verdict.FORK:
        found.append(Difference(store.device, state.heads[store.device].idx, "another machine writes under this id"))
    return [each for each in found if each is not None]


def _compare_cursor(cursor: Cursor, state: CloudState) -> Difference | None:
    head = state.heads.get(cursor.device)
    if cursor.fault:
        return Difference(cursor.device, cursor.idx + 1, cursor.fault)
    if cursor.idx == 0 or (head is not None and head.idx > cursor.idx):
        return None
    if head is None or head.idx < cursor.idx:
        return Difference(cursor.device, cursor.idx, "the cloud lost segments of this log")
    if head.sha256 != cursor.sha256:
        return Difference(cursor.device, cursor.idx, "the cloud holds another segment than the one folded here")
    return None


async def _compare_deep(service: SyncService, state: CloudState, on_rows: Callable[[int], None]) -> list[Difference]:
    async with folded_anew(service, state, on_rows) as (_, differences):
        return differences


@asynccontextmanager
async def folded_anew(
    service: SyncService,
    state: CloudState,
    on_rows: Callable[[int], None] = lambda _: None,
    *,
    keep_chunks: bool = False,
) -> AsyncIterator[tuple[StoreThread, list[Difference]]]:
    """A temporary store with every log folded as far as this memory did, and what differs between the two.

    With `keep_chunks` it holds the text of all notes.
    """
    upto = await service.thread.call(partial(_folded_upto, state=state), priority=Priority.READ)
    folder = await service.thread.call(lambda store: store.db.path.parent, priority=Priority.READ)
    with scratch(folder) as temporary:
        copy = StoreThread(partial(_open_copy, path=temporary / "copy.db", like=service))
        await copy.start()
        try:
            result = await replay(service.client, upto, copy, on_rows, keys=service.keys, keep_chunks=keep_chunks)
            if result.damage:
                yield copy, result.damage
                return
            missing = await copy.call(partial(_missing_chunks, held=result.chunks))
            yield copy, missing + await _compare_rows(service.thread, copy)
        finally:
            await copy.close()


def _folded_upto(store: Store, state: CloudState) -> dict[str, int]:
    """How far each log is part of this memory; a log that stopped is read to its end, to name its damage."""
    upto = {each.device: state.heads[each.device].idx if each.fault else each.idx for each in cursors(store)}
    last = last_confirmed(store)
    if last is not None:
        upto[store.device] = last.idx
    return {device: idx for device, idx in upto.items() if idx and device in state.heads}


def _open_copy(path: Path, like: SyncService) -> Store:
    return Store.open(path, like.clock)


def _missing_chunks(store: Store, held: dict[str, set[str]]) -> list[Difference]:
    rows = store.execute("SELECT device, path, chunks FROM notes WHERE deleted_at IS NULL ORDER BY device, path")
    return [
        Difference(str(device), 0, f"the text of {path!s} is incomplete in the log")
        for device, path, chunks in rows
        if not set(_STRINGS.decode(str(chunks))) <= held.get(str(device), set())
    ]


async def _compare_rows(ours: StoreThread, theirs: StoreThread) -> list[Difference]:
    left_out = await ours.call(unsent, priority=Priority.READ)
    found: list[Difference] = []
    for table in KEYS:
        after: tuple[Value, ...] | None = None
        while True:
            mine = await ours.call(partial(page_of, table=table, after=after), priority=Priority.BULK)
            if mine:
                upto = mine[-1].key
                other = await theirs.call(partial(rows_within, table=table, after=after, upto=upto))
            else:
                other = await theirs.call(partial(page_of, table=table, after=after))
            found.extend(Difference(device, 0, what) for device, what in differing(table, mine, other, left_out))
            if not mine and not other:
                break
            after = mine[-1].key if mine else other[-1].key
    return found

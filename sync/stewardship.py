"""What a person may decide about the cloud: adopt it as it is, encrypt it, look at what would leave."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from ..errors import CloudStoppedError, NoInputError
from ..model import NoteRow, Row
from ..store import Store
from ..store.fold import move_cursor
from ..store.log import next_page, pushed_rev, take_in_lost
from ..store.rekey import take_new_id
from ..store.sent import CLOUD, Cursor, cursors
from ..store.thread import Priority
from .cloud import CloudState, read_cloud, segment_hash
from .picture import count_undrawn, redraw
from .push import Pusher, remember_cloud
from .seal import Key
from .service import SyncService
from .snapshot import has_duty, write_snapshot
from .wire import check_cloud, cloud_id_of, cloud_value, encode_rows, key_id_of, pack

_FIRST_ROWS = 100


class Outgoing(msgspec.Struct):
    """What the next push would send. `bytes` are those of the packed rows, before encryption."""

    rows: int = 0
    bytes: int = 0
    by_kind: dict[str, int] = {}
    notes: list[str] = []
    picture_rows: int = 0
    writes_anew: bool = False
    encrypted: bool = False
    first_rows: list[Any] = []


async def look_at_outgoing(service: SyncService) -> Outgoing:
    """Pack what waits, exactly as a push does, and send nothing; the cloud is not asked."""
    thread = service.thread
    anew = await has_duty(thread)
    cloud, position, upto = await thread.call(
        lambda store: (store.meta(CLOUD), 0 if anew else pushed_rev(store), store.rev), priority=Priority.READ
    )
    found = Outgoing(writes_anew=anew, encrypted=bool(key_id_of(cloud)))
    kinds: Counter[str] = Counter()
    while position < upto:
        rows, position = await thread.call(partial(next_page, after=position, upto=upto), priority=Priority.BULK)
        _count(found, kinds, rows)
    found.by_kind = dict(sorted(kinds.items()))
    found.picture_rows = 0 if found.encrypted else await thread.call(count_undrawn, priority=Priority.READ)
    return found


async def adopt(service: SyncService) -> tuple[str, str]:
    """Accept the cloud as it is; returns `(new id, former id)`. The next exchange sends everything under the new one.

    Rows folded from segments that the cloud lost stay. Raises `CloudStoppedError` for a cloud that this
    device cannot read, `NoInputError` when there is nothing to adopt.
    """
    async with service.exclusive():
        state = await read_cloud(service.client)
        if state.value:
            check_cloud(state.value, "", service.keys)  # a plain cloud is no place for an encrypted memory
        elif not await service.thread.call(lambda store: store.meta(CLOUD), priority=Priority.READ):
            raise NoInputError("There is no cloud to adopt: the first push makes one.", "memoryd sync")
        known = {each.device: each for each in await service.thread.call(cursors, priority=Priority.READ)}
        replaced = [
            device
            for device, cursor in known.items()
            if device in state.heads
            and state.heads[device].idx > cursor.idx > 0
            and await segment_hash(service.client, device, cursor.idx) != cursor.sha256
        ]
        device = await service.thread.call(lambda store: store.device, priority=Priority.READ)
        take = partial(take_new_id, log_is_lost=device not in state.heads)
        new, former = await service.thread.call(take)
        known[former] = Cursor(former, 0, "", "")
        await service.thread.call(partial(_stand_at_heads, state=state, known=known, replaced=replaced))
        await service.took_new_id(new, former, "the cloud was adopted")
    return new, former


async def encrypt(service: SyncService, key: Key) -> None:
    """Send this device's log as a snapshot sealed with `key`, which from then on is the cloud's (docs/security.md).

    The plain segments of this log and the picture go in the same transaction. The caller has kept the key.
    """
    if await joined_key(service) != key.id:
        await service.exchange()
    service.keys.add(key)
    async with service.exclusive():
        pusher = Pusher(service.thread, service.client, service.keys)
        known = await pusher.know_cloud()
        if key_id_of(known) != key.id:
            await write_snapshot(service.thread, pusher, become=cloud_value(cloud_id_of(known), key.id))
    await service.exchange()


async def joined_key(service: SyncService) -> str:
    """The id of the key that the cloud is encrypted with, '' if it is not or there is no cloud yet."""
    state = await read_cloud(service.client)
    known = await service.thread.call(lambda store: store.meta(CLOUD), priority=Priority.READ)
    if known and cloud_id_of(state.value) != cloud_id_of(known):
        raise CloudStoppedError("The cloud is not the one this device knows.", "memoryd verify says what differs.")
    return key_id_of(state.value) if state.value else ""


def _count(found: Outgoing, kinds: Counter[str], rows: Sequence[Row]) -> None:
    found.rows += len(rows)
    found.bytes += len(pack(encode_rows(rows))) if rows else 0
    kinds.update(str(type(row).__struct_config__.tag) for row in rows)
    found.notes += [row.path for row in rows if isinstance(row, NoteRow)]
    found.first_rows += [msgspec.to_builtins(row) for row in rows[: max(0, _FIRST_ROWS - len(found.first_rows))]]


def _stand_at_heads(store: Store, state: CloudState, known: Mapping[str, Cursor], replaced: Sequence[str]) -> None:
    """Go on from the cloud's heads where logs were set back; a log that is another one now is folded whole."""
    lost: list[str] = []
    with store.transaction() as tx:
        for device, cursor in known.items():
            head = state.heads.get(device)
            if head is None or head.idx < cursor.idx:
                lost.append(device)
            if head is None:
                tx.run("DELETE FROM cursors WHERE device = ?", (device,))
            elif device in replaced or not cursor.idx:
                move_cursor(tx, device, 0, "")  # also what is left of our own former log
            elif head.idx <= cursor.idx:
                move_cursor(tx, device, head.idx, head.sha256)
        take_in_lost(tx, lost)
    remember_cloud(store, state.value)
    redraw(store)


async def redraw_picture(service: SyncService) -> None:
    """Have the whole picture drawn again by the next exchange."""
    await service.thread.call(redraw)

"""Writing this device's log anew: all its rows as one snapshot, after which older segments can go (docs/data.md, 5).

The parts are planned by size before the first is sent, since each carries their number. A row that changes
meanwhile takes a later revision: it is missing in the snapshot and follows in the next plain segment.
"""

from functools import partial

import msgspec

from ..store import Store
from ..store.forget import DUTY_SNAPSHOT
from ..store.log import NEWER, PAGE_ROWS, measure
from ..store.sent import last_confirmed
from ..store.thread import Priority, StoreThread
from .push import Page, Pusher, packed

PART_ROWS = 4_000
PART_BYTES = 900_000
"""Rows and bytes before packing of one part, at most; a packed part is therefore under 1 MB."""


class _Plan(msgspec.Struct):
    """Where the parts of a snapshot end, by revision; `first` is the idx of the first part."""

    first: int
    upto: int
    ends: list[int]


async def has_duty(thread: StoreThread) -> bool:
    """Whether this device's log holds something that must go."""
    return bool(await thread.call(_duty, priority=Priority.READ))


async def write_snapshot(thread: StoreThread, pusher: Pusher, *, remove_older: bool = True, become: str = "") -> int:
    """Send a snapshot of this device's log and, with its last part, remove everything older; returns its rows.

    The duty to do so is done with it, unless something was forgotten meanwhile. With `become` it is sealed with
    the key of that value, which the cloud takes with the last part.
    """
    await pusher.know_cloud()
    plan = await _plan(thread)
    rows, start = 0, 0
    for part, end in enumerate(plan.ends, 1):
        pages = await _pages(pusher, start, end)
        draft = await pusher.draft(pages, await packed(pages), plan.first, part, len(plan.ends), become)
        is_last = part == len(plan.ends)
        await pusher.send(draft, and_remove=remove_older and is_last, become=become if is_last else "")
        rows, start = rows + draft.sent.rows, end
    if remove_older:
        await thread.call(lambda store: _duty_done(store, plan.upto))
    return rows


async def _plan(thread: StoreThread) -> _Plan:
    upto, first = await thread.call(_start, priority=Priority.READ)
    ends: list[int] = []
    position = rows = size = 0
    while sizes := await thread.call(partial(measure, after=position, upto=upto), priority=Priority.BULK):
        for rev, each in sizes:
            if rows and (rows >= PART_ROWS or size + each > PART_BYTES):
                ends.append(position)
                rows = size = 0
            position, rows, size = rev, rows + 1, size + each
        if len(sizes) < PAGE_ROWS:
            break
    return _Plan(first, upto, [*ends, upto])


async def _pages(pusher: Pusher, start: int, end: int) -> list[Page]:
    """The rows of one part; at least one page, which is empty when all its rows have moved on."""
    pages: list[Page] = []
    position = start
    while position < end or not pages:
        pages.append(await pusher.read_page(position, end))
        position = pages[-1].end
    return pages


def _start(store: Store) -> tuple[int, int]:
    last = last_confirmed(store)
    return store.rev, last.idx + 1 if last else 1


def _duty(store: Store) -> bool:
    return bool(store.execute("SELECT 1 FROM duties WHERE kind = ? AND subject = ''", (DUTY_SNAPSHOT,)))


def _duty_done(store: Store, upto: int) -> None:
    duty_done(store, "", upto)


def duty_done(store: Store, subject: str, upto: int) -> None:
    """The log of `subject` ('' for our own) was written anew from what was known at the revision `upto`."""
    if store.execute(f"SELECT 1 FROM forgotten WHERE {NEWER}", (upto,)):
        return  # forgotten while parts were on their way: they may still hold it
    with store.transaction() as tx:
        tx.run("DELETE FROM duties WHERE kind = ? AND subject = ?", (DUTY_SNAPSHOT, subject))

"""Keeps the full-text index in few segments, in steps so short that no question waits."""

from functools import partial

from ..search.index import has_many_segments, merge_some
from ..store import Store
from ..store.thread import Priority
from .memory import Memory


async def merge_index(memory: Memory) -> None:
    """Merge the index's segments where they are many, unless the memory is busy: a question looks into each of them."""
    if memory.pending or memory.activity != "idle":
        return
    more, begin = await memory.thread.call(has_many_segments, priority=Priority.BULK), True
    while more:
        more = await memory.thread.call(partial(_step, begin=begin), priority=Priority.BULK)
        begin = False


def _step(store: Store, begin: bool) -> bool:
    with store.transaction() as tx:
        return merge_some(tx, begin=begin)

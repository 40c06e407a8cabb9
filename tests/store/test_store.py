"""The store as a whole: migrations, counters, access, the thread."""

import asyncio
import threading
import time

import pytest
from memoryd.clock import LogicalClock, ManualClock, day_number
from memoryd.errors import StoreError, StoreNewerError
from memoryd.store import Store
from memoryd.store.thread import Priority, StoreThread
from memoryd.store.versions import record_access, set_edit


def test_counters_survive_a_restart(tmp_path):
    """Revisions and versions go on where they stood."""
    clock = ManualClock()
    first = Store.open(tmp_path / "m.db", clock)
    with first.transaction() as tx:
        rev, version = tx.next_rev(), tx.next_version()
    first.close()
    clock.jump(-3600)
    second = Store.open(tmp_path / "m.db", clock)

    with second.transaction() as tx:
        assert tx.next_rev() > rev
        assert tx.next_version() > version
    second.close()


def test_a_rolled_back_transaction_gives_its_counters_back(store):
    """What was not committed did not happen, counters included."""
    with pytest.raises(ZeroDivisionError), store.transaction() as tx:
        tx.next_rev()
        tx.next_version()
        raise ZeroDivisionError
    with store.transaction() as tx:
        assert tx.next_rev() == 1


def test_a_newer_file_is_refused_and_left_alone(tmp_path, store):
    """An old memoryd does not touch what a newer one wrote."""
    store.db.execute("PRAGMA user_version = 99")
    before = store.db.path.read_bytes()

    with pytest.raises(StoreNewerError, match="newer"):
        Store.open(store.db.path, ManualClock())
    assert store.db.path.read_bytes() == before


def test_reads_count_once_a_day(store):
    """A second retrieve on the same day adds nothing, the next day does."""
    today = day_number(store.clock.today())
    for day in (today, today, today + 1):
        with store.transaction() as tx:
            record_access(tx, "default", ["f"], day)

    assert store.execute("SELECT days, last_day FROM access") == [(2, today + 1)]


def test_versions_only_grow_whatever_the_clock_does():
    """Backwards jumps, equal milliseconds and received versions from the future."""
    now = [1000]
    logical = LogicalClock("aaaaaaaa", lambda: now[0])
    versions = [logical.next(), logical.next()]
    now[0] = 500
    versions.append(logical.next())
    logical.saw("0000000009000-000007-bbbbbbbb")
    versions.append(logical.next())

    assert versions == sorted(versions)
    assert len(set(versions)) == 4
    assert all(len(each) == 13 + 1 + 6 + 1 + 8 for each in versions)


async def test_waiting_reads_go_before_bulk_work(tmp_path):
    """A question that arrives late is answered before work that can wait."""
    thread = StoreThread(lambda: Store.open(tmp_path / "m.db", ManualClock()))
    await thread.start()
    order = []
    first = asyncio.ensure_future(thread.call(lambda _: time.sleep(0.05)))
    await asyncio.sleep(0)
    bulk = [
        asyncio.ensure_future(thread.call(lambda _: order.append("bulk"), priority=Priority.BULK)) for _ in range(3)
    ]
    read = asyncio.ensure_future(thread.call(lambda _: order.append("read"), priority=Priority.READ))
    await asyncio.gather(first, read, *bulk)
    await thread.close()

    assert order == ["read", "bulk", "bulk", "bulk"]


async def test_an_error_reaches_the_one_who_asked_and_the_thread_goes_on(tmp_path):
    """A failing call fails its caller only."""
    thread = StoreThread(lambda: Store.open(tmp_path / "m.db", ManualClock()))
    await thread.start()
    with pytest.raises(ZeroDivisionError):
        await thread.call(lambda _: 1 / 0)
    with pytest.raises(RuntimeError, match="StopIteration"):  # no future takes it: its caller once waited for ever
        await asyncio.wait_for(thread.call(lambda _: next(iter(()))), 5)

    def write(store):
        with store.transaction() as tx:
            set_edit(tx, "default", "f", "category", "a/b")
        return store.execute("SELECT value FROM edits")

    assert await thread.call(write) == [("a/b",)]
    assert thread.finished == 3
    await thread.close()
    await thread.close()


async def test_a_store_that_cannot_be_opened_fails_the_start(tmp_path):
    """The error of opening reaches the caller of `start`."""
    (tmp_path / "m.db").write_bytes(b"no database at all" * 300)
    thread = StoreThread(lambda: Store.open(tmp_path / "m.db", ManualClock()))

    with pytest.raises(Exception, match="not a database"):
        await thread.start()


def room(store):
    """What the store keeps in memory, and the pages of its log."""
    return [store.execute(f"PRAGMA {name}")[0][0] for name in ("cache_size", "wal_autocheckpoint")]


@pytest.fixture
async def thread(tmp_path):
    """A thread with a new store."""
    one = StoreThread(lambda: Store.open(tmp_path / "m.db", ManualClock()))
    await one.start()
    yield one
    await one.close()


async def test_whoever_comes_after_the_end_is_told_at_once(tmp_path):
    """A call that came while the store was closed, or later, waits for nobody."""
    thread = StoreThread(lambda: Store.open(tmp_path / "m.db", ManualClock()))
    await thread.start()
    closing = asyncio.ensure_future(thread.close())
    await asyncio.sleep(0)
    late = asyncio.ensure_future(thread.call(lambda store: store.device, priority=Priority.LAST))
    await closing

    for asked in (late, thread.call(lambda store: store.device)):
        with pytest.raises(StoreError, match="closed"):
            await asyncio.wait_for(asked, 5)


async def test_room_that_was_made_for_long_work_outlasts_shorter_work_within_it(thread):
    """A command alone has the same room after each part of it, and gives it back at the end."""
    usual = await thread.call(room)
    async with thread.roomy(alone=True):
        most = await thread.call(room)
        async with thread.roomy():
            assert (thread.alone, await thread.call(room)) == (True, most)
        assert (thread.alone, await thread.call(room)) == (True, most)
    assert (thread.alone, await thread.call(room)) == (False, usual)
    async with thread.roomy():
        assert not thread.alone
        assert usual != await thread.call(room) != most


async def test_room_is_given_back_whichever_long_work_ends_first(thread):
    """Two queues overlap: the first to begin ends first, and nothing is left of either."""
    first, second, alone = thread.roomy(), thread.roomy(), thread.roomy(alone=True)
    seen = []
    for work, begins in ((first, True), (alone, True), (second, True), (first, False), (alone, False), (second, False)):
        seen.append((thread.alone, await thread.call(room)))
        await (work.__aenter__() if begins else work.__aexit__(None, None, None))

    usual, more, most = seen[0], seen[1], seen[2]
    assert len({str(each) for each in (usual, more, most)}) == 3
    assert seen == [usual, more, most, most, most, more]
    assert (thread.alone, await thread.call(room)) == usual


async def test_long_work_that_is_cancelled_before_it_begins_gives_its_room_back(thread):
    """Cancelled while the room is being made."""
    usual, goes_on = await thread.call(room), threading.Event()
    busy = asyncio.create_task(thread.call(lambda _: goes_on.wait(20)))

    async def work():
        async with thread.roomy(alone=True):
            pytest.fail("it was cancelled before")

    asked = asyncio.create_task(work())
    await asyncio.sleep(0)
    was_alone = thread.alone
    asked.cancel()
    await asyncio.sleep(0)
    goes_on.set()
    await asyncio.gather(busy, asked, return_exceptions=True)

    assert (was_alone, asked.cancelled()) == (True, True)
    assert (thread.alone, await thread.call(room)) == (False, usual)

"""Reads are counted when nobody asks, once a fact and day, and none is lost but by a kill."""

import asyncio

import pytest
from memoryd.errors import StoreError
from memoryd.operations.reads import Reads

NOTE = "# Tools\n\n- the red kettle leaks\n- the blue kettle is new\n"


@pytest.fixture
async def asked(mind):
    """A daemon's memory that has to be told when it is quiet."""
    await mind.note("memory/2026-02-13.md", NOTE)
    mind.memory.resident = True
    counts_with(mind, quiet_s=600, longest_s=600)
    return mind


async def written(mind):
    return await mind.sql("SELECT days FROM access")


def counts_with(mind, **waits):
    """Count reads after other waits; returns what is set once they are written and everything follows them."""
    done = asyncio.Event()

    async def settle():
        await mind.memory.settle()
        done.set()

    mind.memory.reads = Reads(mind.memory.thread, settle, **waits)
    return done


async def test_a_burst_of_questions_writes_nothing(asked):
    """No question waits for the bookkeeping of the one before."""
    revision = await asked.sql("SELECT v FROM meta WHERE k = 'rev'")
    for _ in range(30):
        await asked.hits("kettle")

    assert await written(asked) == []
    assert await asked.sql("SELECT v FROM meta WHERE k = 'rev'") == revision
    assert asked.memory.reads.waiting == 32


async def test_what_was_read_is_written_when_it_is_quiet(asked):
    """Once a fact and day, however often it was shown; derived values follow."""
    done = counts_with(asked, quiet_s=0.05, longest_s=600)
    for _ in range(3):
        await asked.hits("kettle")
    await done.wait()

    assert await written(asked) == [(1,), (1,)]
    assert [hit["access_count"] for hit in await asked.ask("retrieve", query="kettle")] == [1, 1]


async def test_who_asks_without_end_is_counted_meanwhile(asked):
    """The longest wait holds although it is never quiet."""
    done = counts_with(asked, quiet_s=600, longest_s=0.05)
    await asked.hits("kettle")
    await done.wait()

    assert await written(asked) == [(1,), (1,)]


async def test_a_stop_writes_what_waits(asked):
    """SIGTERM ends in `close`."""
    await asked.hits("kettle")
    await asked.memory.close()
    await asked.open()

    assert await written(asked) == [(1,), (1,)]
    assert (await asked.ask("metrics"))["retrieval_count"] == 1


async def test_metrics_count_what_waits(asked):
    """Numbers are exact at any time."""
    await asked.hits("kettle")

    found = await asked.ask("metrics")

    assert (found["retrieval_count"], found["reinforcements_today"]) == (1, 2)


async def test_reads_of_two_days_are_two(asked):
    """A read counts for the day on which it was asked, not for the one on which it is written."""
    await asked.hits("red kettle leaks")
    asked.clock.advance(86_400)
    await asked.hits("red kettle leaks")
    await asked.memory.reads.write()

    assert max(await written(asked)) == (2,)


async def test_what_could_not_be_written_is_kept(asked, monkeypatch):
    """A full disk costs no read."""
    await asked.hits("kettle")

    async def full(*_, **__):
        raise StoreError("The disk is full.", "Make room.")

    with monkeypatch.context() as patch:
        patch.setattr(asked.memory.thread, "call", full)
        with pytest.raises(StoreError):
            await asked.memory.reads.write()

    assert asked.memory.reads.waiting == 3
    await asked.memory.reads.write()
    assert await written(asked) == [(1,), (1,)]


async def test_a_question_during_the_counting_is_counted_once(asked, monkeypatch):
    """What comes while the store's thread writes waits for the next time."""
    await asked.hits("kettle")
    call = asked.memory.thread.call

    async def interrupted(work, **more):
        done = await call(work, **more)
        asked.memory.reads.note("default", [], 0)
        return done

    with monkeypatch.context() as patch:
        patch.setattr(asked.memory.thread, "call", interrupted)
        asked.memory.reads._settle = lambda: asyncio.sleep(0)
        await asked.memory.reads.write()

    assert asked.memory.reads.waiting == 1
    assert (await asked.ask("metrics"))["retrieval_count"] == 3

"""Segments that are folded in one transaction, as in a restore without a daemon, and one by one."""

import gc
import weakref

import msgspec
import pytest
from memoryd.sync import pull


@pytest.fixture
async def five_segments(peer, sqld):
    """A device whose log has five segments, one a note."""
    one = await peer()
    for n in range(1, 6):
        await one.note(f"memory/2026-02-0{n}.md", f"Sighting {n}\n")
        await one.sync.exchange()
    assert sqld.query("SELECT idx FROM segments ORDER BY idx") == [[str(n)] for n in range(1, 6)]
    return one


async def pull_alone(one, monkeypatch):
    """Pull in a process in which nobody else waits for the store; how many transactions folded segments."""
    folded = []
    monkeypatch.setattr("memoryd.sync.pull.crash_point", folded.append)
    async with one.thread.roomy(alone=True):
        await one.sync.pull()
    return folded.count("segment folded")


async def test_segments_are_folded_together_where_nobody_waits(peer, five_segments, monkeypatch):
    """One transaction for all of them, and the same memory as one for each makes."""
    alone, among_others = await peer("alone"), await peer("among")

    assert await pull_alone(alone, monkeypatch) == 1

    await among_others.sync.pull()
    for table in ("cursors", "notes", "mentions", "facts"):
        assert await alone.rows(f"SELECT * FROM {table}") == await among_others.rows(f"SELECT * FROM {table}")


@pytest.mark.parametrize("damage", ["UPDATE segments SET payload = zeroblob(9)", "DELETE FROM segments"])
async def test_what_stands_before_a_damaged_segment_comes_in_where_segments_are_folded_together(
    peer, sqld, five_segments, monkeypatch, damage
):
    """The log stands at the last sound segment and is named, and whatever came before the damage is there."""
    sqld.query(f"{damage} WHERE idx = 4")
    new = await peer("new")

    assert await pull_alone(new, monkeypatch) == 1

    ((idx, fault),) = await new.rows("SELECT idx, fault FROM cursors")
    assert idx == 3
    assert "segment 4" in fault
    assert await new.texts() == {f"Sighting {n}" for n in (1, 2, 3)}


async def test_the_answers_of_earlier_pages_are_let_go_of_without_a_search_for_cycles(peer, five_segments, monkeypatch):
    """Each holds megabytes: however many pages a log has, only what is under way is in memory."""
    monkeypatch.setattr("memoryd.sync.cloud.FETCH_BYTES", 1)  # a segment is a page of its own
    new, responses, alive = await peer("new"), [], []

    async def seen(response):
        responses.append(weakref.ref(response))

    new.sync.client._http.event_hooks = {"response": [seen]}
    monkeypatch.setattr(pull, "crash_point", lambda _: alive.append(sum(each() is not None for each in responses)))
    gc.disable()
    try:
        await new.sync.pull()
    finally:
        gc.enable()

    assert len(alive) == 5
    assert len(responses) >= 5
    assert max(alive) <= 1


async def test_a_segment_that_is_refused_is_folded_once(peer, five_segments, monkeypatch):
    """A plain segment of a log that was encrypted before stops the log at once."""
    new, tried = await peer("new"), []
    device = await five_segments.device()
    await new.write(lambda tx: tx.set_meta("sealed_logs", msgspec.json.encode([device]).decode()))
    fold_one = pull._fold_one
    monkeypatch.setattr(
        pull,
        "_fold_one",
        lambda store, segment, *a, **more: tried.append(segment.idx) or fold_one(store, segment, *a, **more),
    )

    await new.sync.pull()

    assert tried == [1]
    assert "not encrypted" in (await new.rows("SELECT fault FROM cursors"))[0][0]

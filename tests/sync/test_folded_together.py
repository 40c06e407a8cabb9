"""Segments that are folded in one transaction, as in a restore without a daemon."""

import pytest


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

"""A lost device's log is looked after by its successor: what is forgotten leaves it too (docs/data.md, 6)."""

import base64

import pytest
from memoryd.model import fact_id
from memoryd.store.forget import forget_fact
from memoryd.store.notes import delete_note
from memoryd.store.rekey import take_over
from memoryd.store.versions import record_access, set_edit
from memoryd.sync import inherit, snapshot
from memoryd.sync.verify import verify
from memoryd.sync.wire import Segment, unpack

from .conftest import AGENT

WORDS = "The code word is hyrax"
FACT = fact_id(AGENT, WORDS)


def held(sqld_rows):
    """Devices of segments in which the word stands."""
    fields = [(device, int(idx), prev, sha, _bytes(data)) for device, idx, prev, sha, data in sqld_rows]
    return {each[0] for each in fields if "hyrax" in repr(unpack(Segment(*each)))}


def _bytes(text):
    return base64.b64decode(text + "=" * (-len(text) % 4))


def logs(sqld):
    """All segments."""
    return sqld.query("SELECT device, idx, prev, sha256, payload FROM segments ORDER BY device, idx")


async def lost_and_restored(peer):
    """A device that said the words and is lost, its successor, and a third device that shares the memory."""
    one, two, three = await peer("one"), await peer("two"), await peer("three")
    await one.note("memory/2026-02-12.md", f"Said before\n{WORDS}\n")
    await one.write(lambda tx: delete_note(tx, AGENT, "memory/2026-02-12.md"))
    await one.note("memory/2026-02-13.md", f"Before\n{WORDS}\nAfter\n")
    await one.write(lambda tx: record_access(tx, AGENT, [FACT, fact_id(AGENT, "After")], 20_000))
    await one.write(lambda tx: set_edit(tx, AGENT, fact_id(AGENT, "Before"), "importance", "0.9"))
    await one.sync.exchange()
    await three.sync.exchange()
    lost = await one.device()
    await two.sync.exchange()
    await two.note("memory/2026-02-13.md", f"Before\n{WORDS}\nAfter\n")
    await two.write(lambda tx: take_over(tx, [lost]))
    await two.sync.exchange()
    return one, two, three, lost


async def test_words_forgotten_after_a_restore_leave_the_old_log_too(peer, sqld):
    """No segment of any log holds them, everybody agrees, and what else the lost device said is still there."""
    _one, two, three, lost = await lost_and_restored(peer)
    assert held(logs(sqld)) == {lost, await two.device()}

    await two.write(lambda tx: forget_fact(tx, AGENT, FACT))
    await two.sync.exchange()

    assert held(logs(sqld)) == set()
    assert await two.rows("SELECT * FROM duties WHERE kind = 'snapshot'") == []
    await three.sync.exchange()
    late = await peer("late")
    await late.sync.exchange()
    await two.sync.exchange()
    for each in (two, three, late):
        await each.sync.exchange()
        assert await each.texts() == {"Before", "After"}
        assert await each.rows("SELECT days FROM access") == [(1,)]
        assert await each.rows("SELECT value FROM edits") == [("0.9",)]
        assert await each.rows(f"SELECT mentions FROM notes WHERE device = '{lost}' AND deleted_at IS NULL") == [(2,)]
        assert (await verify(each.sync, deep=True)).differences == []


async def test_a_device_that_was_taken_for_lost_goes_on_under_a_new_id(peer, sqld):
    """It finds a stranger's segment in its log, and what it says later is not lost."""
    one, two, three, lost = await lost_and_restored(peer)
    await two.write(lambda tx: forget_fact(tx, AGENT, FACT))
    await two.sync.exchange()

    await one.note("memory/2026-02-14.md", "Alive\n")
    await one.sync.exchange()

    assert await one.device() != lost
    for each in (one, two, three, one, two, three):
        await each.sync.exchange()
    for each in (one, two, three):
        assert await each.texts() == {"Before", "After", "Alive"}
        assert (await verify(each.sync, deep=True)).differences == []
    assert held(logs(sqld)) == set()


async def test_what_was_forgotten_before_the_takeover_leaves_the_old_log_with_it(peer, sqld):
    """The successor looks into the log that it takes over."""
    one, two = await peer("one"), await peer("two")
    await one.note("memory/2026-02-13.md", f"{WORDS}\nStays\n")
    await one.sync.exchange()
    await two.sync.exchange()
    await two.write(lambda tx: forget_fact(tx, AGENT, FACT))
    await two.sync.exchange()
    assert held(logs(sqld)) == {await one.device()}
    lost = await one.device()
    await two.write(lambda tx: take_over(tx, [lost]))
    await two.sync.exchange()
    assert held(logs(sqld)) == set()


async def test_a_log_without_the_words_is_left_as_it_is(peer, sqld):
    """Looking costs reading; nothing is written without need."""
    _, two, _, lost = await lost_and_restored(peer)
    await two.note("memory/2026-02-15.md", "Only here\n")
    before = [row for row in logs(sqld) if row[0] == lost]
    await two.write(lambda tx: forget_fact(tx, AGENT, fact_id(AGENT, "Only here")))
    await two.sync.exchange()
    assert [row for row in logs(sqld) if row[0] == lost] == before
    assert await two.rows("SELECT * FROM duties WHERE kind = 'snapshot'") == []


async def test_damage_in_a_lost_log_is_answered_by_the_successor(peer, sqld, monkeypatch):
    """It knows what it folded before, and writes that as a snapshot in small parts; everybody is well again."""
    monkeypatch.setattr(snapshot, "PART_ROWS", 3)
    monkeypatch.setattr(inherit, "_BATCH", 2)
    _, two, three, lost = await lost_and_restored(peer)
    await three.sync.exchange()
    sqld.query(f"UPDATE segments SET payload = zeroblob(9) WHERE device = '{lost}'")
    assert (await verify(two.sync, deep=True)).differences != []

    await two.sync.exchange()

    late = await peer("late")
    for each in (two, three, late, two, three, late):
        await each.sync.exchange()
    for each in (two, three, late):
        assert await each.texts() == {"Before", WORDS, "After"}
        assert each.sync.status.faults == {}
        assert (await verify(each.sync, deep=True)).differences == []


async def test_damage_in_ones_own_log_is_answered_when_it_is_seen(peer, sqld):
    """`verify --deep` finds it, the next exchange writes a snapshot, a late device gets everything."""
    one = await peer("one")
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    await one.sync.exchange()
    await one.note("memory/2026-02-14.md", "The ibis came\n")
    await one.sync.exchange()
    sqld.query("UPDATE segments SET payload = zeroblob(9) WHERE idx = 1")

    assert not (await verify(one.sync, deep=True)).equal
    await one.sync.exchange()

    assert (await verify(one.sync, deep=True)).equal
    late = await peer("late")
    await late.sync.exchange()
    assert await late.texts() == {"The heron fishes", "The ibis came"}


@pytest.mark.parametrize("cut", [1, 2])
async def test_a_rewriting_that_is_cut_off_is_done_again(peer, sqld, monkeypatch, cut):
    """The duty stands until the words are gone, however often the connection breaks."""
    monkeypatch.setattr(snapshot, "PART_ROWS", 3)
    _, two, three, _lost = await lost_and_restored(peer)
    await two.write(lambda tx: forget_fact(tx, AGENT, FACT))
    real, seen = two.sync.client.transact, []

    async def breaks(statements):
        seen.append(1)
        if len(seen) == cut + 1:
            raise ConnectionAbortedError
        return await real(statements)

    two.sync.client.transact = breaks
    with pytest.raises(ConnectionAbortedError):
        await two.sync.exchange()
    two.sync.client.transact = real
    for each in (two, three, two, three):
        await each.sync.exchange()
    assert held(logs(sqld)) == set()
    for each in (two, three):
        assert await each.texts() == {"Before", "After"}
        assert (await verify(each.sync, deep=True)).differences == []

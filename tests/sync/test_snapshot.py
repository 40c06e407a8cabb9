"""Snapshots of a log: several parts, cut off in the middle, and a forget while parts are on their way."""

import pytest
from memoryd.model import fact_id
from memoryd.store.forget import add_duty, forget_fact
from memoryd.sync import snapshot
from memoryd.sync.hrana import CloudError
from memoryd.sync.snapshot import has_duty, write_snapshot
from memoryd.sync.verify import verify
from memoryd.sync.wire import Segment, unpack

from .conftest import AGENT, Peer, SimulatedCloud


@pytest.fixture
async def devices(tmp_path, clock):
    """Two devices on a simulated cloud."""
    cloud = SimulatedCloud()
    made = [Peer(tmp_path / name / "memory.db", clock, cloud) for name in ("one", "two")]
    for each in made:
        each.cloud = cloud
        await each.thread.start()
    yield made
    for each in made:
        await each.close()
    cloud.db.close()


async def fill(one, notes=6):
    """Notes of two lines, each sent in a segment of its own."""
    for n in range(notes):
        await one.note(f"memory/2026-02-0{n + 1}.md", f"First of {n}\nSecond of {n}\n")
        await one.sync.exchange()


async def parts(one):
    """`(idx, first, part, parts)` of a device's segments."""
    sql = "SELECT idx, first, part, parts FROM segments WHERE device = ? ORDER BY idx"
    return one.cloud.db.execute(sql, (await one.device(),)).fetchall()


async def test_a_log_of_many_segments_becomes_a_few_parts(devices, monkeypatch):
    """Every part says where the snapshot begins and of how many it is; nothing older is left; others go on."""
    monkeypatch.setattr(snapshot, "PART_ROWS", 12)
    one, two = devices
    await fill(one)
    await two.sync.exchange()
    await one.call(_duty)
    await one.sync.exchange()
    assert await parts(one) == [(7, 7, 1, 4), (8, 7, 2, 4), (9, 7, 3, 4), (10, 7, 4, 4)]
    await two.sync.exchange()
    assert len(await two.texts()) == 12
    for each in (one, two):
        assert (await verify(each.sync, deep=True)).differences == []


async def test_a_snapshot_that_was_cut_off_is_written_again(devices, monkeypatch):
    """Its parts count as plain segments until a whole one stands; then they go too."""
    monkeypatch.setattr(snapshot, "PART_ROWS", 12)
    one, two = devices
    await fill(one)
    await one.call(_duty)
    real, sent = one.cloud.transact, []

    async def fails_at_the_third(statements):
        if any("segments" in each.sql for each in statements):
            sent.append(1)
            if len(sent) == 3:
                raise CloudError("The cloud does not answer.")
        return await real(statements)

    one.cloud.transact = fails_at_the_third
    with pytest.raises(CloudError):
        await one.sync.exchange()
    assert len(await parts(one)) == 8
    await two.sync.exchange()
    assert len(await two.texts()) == 12
    assert await has_duty(one.thread)

    one.cloud.transact = real
    await one.sync.exchange()
    assert [row[0] for row in await parts(one)] == [9, 10, 11, 12]
    assert not await has_duty(one.thread)
    assert (await verify(one.sync, deep=True)).differences == []


async def test_what_is_forgotten_while_parts_are_on_their_way_goes_too(devices, monkeypatch):
    """The duty stays when a tombstone is younger than the snapshot, and the next exchange writes another one."""
    monkeypatch.setattr(snapshot, "PART_ROWS", 12)
    one, _ = devices
    await fill(one)
    await one.call(_duty)
    real, done = one.cloud.transact, []

    async def forgets_meanwhile(statements):
        if len(done) == 1:
            await one.write(lambda tx: forget_fact(tx, AGENT, fact_id(AGENT, "First of 0")))
        done.append(1)
        return await real(statements)

    one.cloud.transact = forgets_meanwhile
    await write_snapshot(one.thread, one.sync._exchanger._pusher)
    one.cloud.transact = real
    assert await has_duty(one.thread)
    await one.sync.exchange()
    assert not await has_duty(one.thread)
    rows = one.cloud.db.execute("SELECT device, idx, prev, sha256, payload FROM segments").fetchall()
    assert not [row for each in rows for row in unpack(Segment(*each)) if "First of 0" in repr(row)]


async def test_changes_during_a_snapshot_follow_in_the_next_segment(devices, monkeypatch):
    """A row that changed after the snapshot was planned is missing in it and sent afterwards."""
    monkeypatch.setattr(snapshot, "PART_ROWS", 12)
    one, two = devices
    await fill(one)
    real, done = one.cloud.transact, []

    async def writes_meanwhile(statements):
        if len(done) == 1:
            await one.note("memory/2026-02-06.md", "Changed while it was sent\n")
        done.append(1)
        return await real(statements)

    one.cloud.transact = writes_meanwhile
    await write_snapshot(one.thread, one.sync._exchanger._pusher)
    one.cloud.transact = real
    await one.sync.exchange()
    await two.sync.exchange()
    assert "Changed while it was sent" in await two.texts()
    assert "Second of 5" not in await two.texts()
    for each in (one, two):
        await each.sync.exchange()
        assert (await verify(each.sync, deep=True)).differences == []


def _duty(store):
    with store.transaction() as tx:
        add_duty(tx, "snapshot", "")

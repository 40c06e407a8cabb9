"""Newer clouds and older programs: the wire's version is a number of its own (docs/data.md, 4)."""

import pytest
from memoryd.errors import CloudStoppedError
from memoryd.sync import snapshot
from memoryd.sync.push import Pusher
from memoryd.sync.restore_plan import plan_restore
from memoryd.sync.verify import verify
from memoryd.sync.wire import WIRE, cloud_id_of


async def known(peer_):
    return await peer_.call(lambda store: store.meta("cloud"))


async def raise_wire(one):
    """What a memoryd of the next wire version would do with its first push."""
    value = await known(one)
    await snapshot.write_snapshot(
        one.thread, Pusher(one.thread, one.sync.client), become=f"{cloud_id_of(value)}/{WIRE + 1}/plain"
    )


async def test_an_older_memoryd_stops_at_a_newer_cloud_and_works_on_locally(peer, sqld, tmp_path, monkeypatch):
    """One clear line; nothing is read, sent or restored; notes still come in; updated, it sends them."""
    one, new = await peer("one"), await peer("new")
    await one.note("memory/2026-02-13.md", "Old words\n")
    await one.sync.exchange()
    sqld.query(f"UPDATE meta SET v = replace(v, '/{WIRE}/', '/{WIRE + 1}/')")
    segments = sqld.query("SELECT count(*) FROM segments")
    (tmp_path / "workspace").mkdir()

    await one.note("memory/2026-02-14.md", "New words\n")
    with pytest.raises(CloudStoppedError, match=f"wire version {WIRE + 1}") as caught:
        await one.sync.exchange()
    assert "Update memoryd" in caught.value.hint
    with pytest.raises(CloudStoppedError):
        await plan_restore(new.sync, tmp_path / "workspace")
    (difference,) = (await verify(one.sync)).differences
    assert "wire version" in difference.what

    assert (one.sync.status.state, one.sync.status.pending_rows > 0) == ("stopped", True)
    assert await one.texts() == {"Old words", "New words"}
    assert sqld.query("SELECT count(*) FROM segments") == segments
    monkeypatch.setattr("memoryd.sync.wire.WIRE", WIRE + 1)
    await one.sync.exchange()
    assert (one.sync.status.state, one.sync.status.pending_rows) == ("ok", 0)


async def test_a_cloud_is_raised_in_one_transaction(peer, sqld, monkeypatch):
    """Cut off before the last part, it is the old cloud for everybody; with the last part it is the new one."""
    monkeypatch.setattr(snapshot, "PART_ROWS", 4)
    one, two = await peer("one"), await peer("two")
    await one.note("memory/2026-02-13.md", "".join(f"Line {n}\n" for n in range(20)))
    await one.sync.exchange()
    await two.sync.exchange()
    before = await known(one)
    sent, transact = 0, one.sync.client.transact

    async def cut_off(statements):
        nonlocal sent
        sent += 1
        if sent == 3:
            raise ConnectionError
        return await transact(statements)

    monkeypatch.setattr(one.sync.client, "transact", cut_off)
    with pytest.raises(ConnectionError):
        await raise_wire(one)
    assert sqld.query("SELECT v FROM meta") == [[before]]
    await two.note("memory/2026-02-14.md", "From the other\n")
    await two.sync.exchange()

    await raise_wire(one)

    assert sqld.query("SELECT v FROM meta") == [[f"{cloud_id_of(before)}/{WIRE + 1}/plain"]]
    assert sqld.query("SELECT count(DISTINCT first), min(idx) = min(first) FROM segments WHERE parts > 3") == [
        ["1", "1"]
    ]
    with pytest.raises(CloudStoppedError, match="wire version"):
        await two.sync.exchange()

"""A damaged database is moved aside and the memory put together again, loudly."""

import os

import pytest
from memoryd.errors import StoreDamagedError
from memoryd.operations.critical import critical_state
from memoryd.operations.rebuild import is_marked, mark_damaged
from memoryd.operations.snapshots import snapshots
from memoryd.operations.status import build_status
from memoryd.store import upkeep
from memoryd.store.thread import Priority

NOTE = "memory/2026-02-13.md"


def spoil(path) -> None:
    """Overwrite the middle of every page but the first, as a bad disk does."""
    data = bytearray(path.read_bytes())
    for start in range(4096, len(data), 4096):
        data[start : start + 2000] = os.urandom(2000)
    path.write_bytes(data)


async def device_row(memory):
    rows = await memory.thread.call(
        lambda store: store.execute("SELECT device, succeeds FROM devices WHERE device = ?", (store.device,)),
        priority=Priority.READ,
    )
    return rows[0]


def warnings(memory) -> dict[str, str]:
    return {each.code: each.message for each in build_status(memory).warnings}


@pytest.mark.parametrize("damage", ["pages", "garbage"])
async def test_without_anything_else_the_notes_fill_a_new_database(house, damage):
    """The damaged file is kept, notes are memory again under an id that succeeds the former, and status says so."""
    house.write(NOTE, "- The marmot sleeps\n")
    first = await house.open()
    await first.rescan()
    await house.ask(first, "store", text="The pika gathers hay", category="animals")
    former = first.device
    await house.close(first)
    before = house.places.database.read_bytes()
    if damage == "pages":
        spoil(house.places.database)
    else:
        house.places.database.write_bytes(b"no database at all" * 500)

    again = await house.open()
    await again.rescan()

    assert await house.finds(again, "The marmot sleeps")
    assert not await house.finds(again, "The pika gathers hay")
    assert (await device_row(again))[1] == f'["{former}"]'
    (kept,) = house.places.state.glob("memory.db.corrupt-*")
    assert len(kept.read_bytes()) == (len(before) if damage == "pages" else 9000)
    assert "the notes alone" in warnings(again)["rebuilt"]
    assert "Not rebuilt" in warnings(again)["rebuilt"]
    assert build_status(again).state == "degraded"

    kept.unlink()
    assert "rebuilt" not in warnings(again)


async def test_the_newest_sound_snapshot_is_used_before_the_notes(house):
    """What commands stored before the snapshot is there again; a spoiled snapshot is passed over."""
    house.write(NOTE, "- The marmot sleeps\n")
    first = await house.open()
    await first.rescan()
    await house.ask(first, "store", text="The pika gathers hay", category="animals")
    await first.snapshots.take()
    house.clock.advance(3600)
    await house.ask(first, "store", text="The ibex climbs", category="animals")
    await first.snapshots.take()
    device = first.device
    await house.close(first)
    spoil(house.places.database)
    spoil(snapshots(house.places)[0])
    house.write(NOTE, "- The marmot sleeps\n- The vole digs\n")

    again = await house.open()
    await again.rescan()

    assert await house.finds(again, "The pika gathers hay")
    assert await house.finds(again, "The vole digs")
    assert not await house.finds(again, "The ibex climbs")
    assert again.device == device  # no cloud has ever heard of it
    assert "the snapshot of 2026-02-13 10:00 UTC" in warnings(again)["rebuilt"]


async def test_hot_state_comes_back_from_the_page_when_nothing_else_has_it(house):
    """Without snapshot and cloud the managed block of MEMORY.md is read back, and the page stays as it was."""
    first = await house.open()
    await house.ask(first, "hot", update=["identity", '{"name": "Kestrel"}'])
    await first.rescan()
    page = (house.workspace / "MEMORY.md").read_text()
    assert "Kestrel" in page
    await house.close(first)
    spoil(house.places.database)

    again = await house.open()
    await house.ask(again, "store", text="The pika gathers hay", category="animals")
    assert (house.workspace / "MEMORY.md").read_text() == page  # not written before it was read
    await again.rescan()

    assert (house.workspace / "MEMORY.md").read_text() == page
    state = await again.thread.call(lambda store: critical_state(store, "default", again.clock, again.settings))
    assert "Kestrel" in str(state)


async def test_with_a_cloud_nothing_that_was_sent_is_lost(house, sqld):
    """What commands stored comes back from the former log, a forgotten sentence stays forgotten."""
    house.write(NOTE, "- The marmot sleeps\n- The code word is hyrax\n")
    first = await house.open(sqld.url, sqld.token())
    await first.rescan()
    await house.ask(first, "store", text="The pika gathers hay", category="animals")
    await house.ask(first, "forget", text="The code word is hyrax")
    await house.ask(first, "sync", wait=True)
    former = first.device
    await house.close(first)
    spoil(house.places.database)

    again = await house.open(sqld.url, sqld.token())
    await again.rescan()
    await house.ask(again, "sync", wait=True)

    assert again.device != former
    assert await house.finds(again, "The pika gathers hay")
    assert await house.finds(again, "The marmot sleeps")
    assert not await house.finds(again, "The code word is hyrax")
    assert (await house.ask(again, "verify", deep=True)).equal
    assert "the notes and the cloud" in warnings(again)["rebuilt"]


async def test_a_snapshot_of_a_memory_with_a_cloud_goes_on_under_a_new_id(house, sqld):
    """The cloud may know more of the former log than the snapshot: it is folded, and nothing is doubled."""
    house.write(NOTE, "- The marmot sleeps\n")
    first = await house.open(sqld.url, sqld.token())
    await first.rescan()
    await house.ask(first, "sync", wait=True)
    await first.snapshots.take()
    await house.ask(first, "store", text="The pika gathers hay", category="animals")
    await house.ask(first, "sync", wait=True)
    former = first.device
    await house.close(first)
    spoil(house.places.database)

    again = await house.open(sqld.url, sqld.token())
    await house.ask(again, "sync", wait=True)

    assert again.device != former
    assert await house.finds(again, "The pika gathers hay")
    assert sum(again.agents["default"].facts.values()) == 2
    assert (await house.ask(again, "verify", deep=True)).equal


async def test_a_sound_file_that_was_suspected_is_left_alone(house):
    """A mark alone moves nothing: the file is looked at first."""
    first = await house.open()
    await house.ask(first, "store", text="The pika gathers hay", category="animals")
    await house.close(first)
    mark_damaged(house.places, "a test said so", house.clock)

    again = await house.open()

    assert await house.finds(again, "The pika gathers hay")
    assert not is_marked(house.places)
    assert not list(house.places.state.glob("*corrupt*"))
    assert "rebuilt" not in warnings(again)


async def test_damage_that_shows_while_it_is_open_is_looked_at_by_the_next_opening(house):
    """Whoever meets a damaged page leaves a mark, and status says it at once."""
    first = await house.open()

    def meet(store) -> None:
        raise StoreDamagedError("memory.db is damaged: a page is gone", "")

    with pytest.raises(StoreDamagedError):
        await first.thread.call(meet)

    assert "damaged" in warnings(first)
    await house.close(first)
    assert is_marked(house.places)


async def test_a_rebuild_that_was_cut_off_goes_on(house, monkeypatch):
    """When the process dies after the file was moved, the next one still takes the snapshot and says what happened."""
    first = await house.open()
    await house.ask(first, "store", text="The pika gathers hay", category="animals")
    await first.snapshots.take()
    await house.close(first)
    spoil(house.places.database)
    with monkeypatch.context() as patch:
        patch.setattr("memoryd.operations.rebuild._place_snapshot", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            await house.open()

    again = await house.open()

    assert await house.finds(again, "The pika gathers hay")
    assert "the snapshot of" in warnings(again)["rebuilt"]


async def test_two_snapshots_are_kept_and_what_was_forgotten_is_in_none(house):
    """The newest two stay; forgetting makes them anew without the words."""
    memory = await house.open()
    await house.ask(memory, "store", text="The code word is hyrax", category="animals")
    for _ in range(3):
        house.clock.advance(86_400)
        await memory.snapshots.take()
    assert len(snapshots(house.places)) == 2
    assert all(b"hyrax" in each.read_bytes() for each in snapshots(house.places))

    house.clock.advance(60)
    await house.ask(memory, "forget", text="The code word is hyrax")
    await house.close(memory)

    (left,) = snapshots(house.places)
    assert b"hyrax" not in left.read_bytes()
    assert left.stat().st_mode & 0o777 == 0o600
    assert upkeep.check(left) == ""
    assert sorted(path.name for path in left.parent.iterdir()) == [left.name]


async def test_a_snapshot_that_fails_leaves_the_former_ones_and_is_said(house, monkeypatch):
    """A full disk costs the new snapshot alone."""
    memory = await house.open()
    await memory.snapshots.take()
    (old,) = snapshots(house.places)
    house.clock.advance(60)
    monkeypatch.setattr("memoryd.operations.snapshots.copy", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))

    with pytest.raises(OSError, match="full"):
        await memory.snapshots.take()

    assert snapshots(house.places) == [old]
    assert "full" in warnings(memory)["snapshot"]

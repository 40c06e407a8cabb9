"""`verify` and `verify --deep` against a real server."""

from memoryd.model import fact_id
from memoryd.store.forget import forget_fact
from memoryd.store.versions import set_edit
from memoryd.sync.verify import verify

AGENT = "default"


async def two_devices(peer):
    """Two devices that have exchanged everything."""
    one, two = await peer("one"), await peer("two")
    await one.note("memory/2026-02-13.md", "The heron fishes\nThe ibis came\n")
    await two.note("memory/2026-02-13.md", "The heron fishes\nThe otter dives\n")
    await two.write(lambda tx: set_edit(tx, AGENT, fact_id(AGENT, "The otter dives"), "importance", "0.9"))
    for each in (one, two, one):
        await each.sync.exchange()
    return one, two


async def test_devices_that_agree_with_the_cloud_verify(peer):
    """Heads, chains and every row are equal on both devices."""
    for each in await two_devices(peer):
        for deep in (False, True):
            report = await verify(each.sync, deep=deep)
            assert (report.equal, report.differences, report.pending) == (True, [], 0), deep


async def test_unsent_changes_are_pending_and_no_difference(peer):
    """A new note, a shorter one, an edit and a forgotten fact that were not sent yet differ in nothing."""
    one, _ = await two_devices(peer)
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    await one.note("memory/2026-02-14.md", "A new line\n")
    await one.write(lambda tx: forget_fact(tx, AGENT, fact_id(AGENT, "The otter dives")))
    await one.write(lambda tx: set_edit(tx, AGENT, fact_id(AGENT, "The heron fishes"), "pin", "1"))
    report = await verify(one.sync, deep=True)
    assert report.differences == []
    assert report.equal
    assert report.pending > 0


async def test_a_damaged_payload_is_named_with_device_and_segment(peer, sqld):
    """Deep verification reads every payload; the shallow one only compares heads."""
    one, _ = await two_devices(peer)
    sqld.query("UPDATE segments SET payload = zeroblob(64) WHERE device = '%s' AND idx = 1" % await one.device())
    assert (await verify(one.sync)).equal
    report = await verify(one.sync, deep=True)
    assert not report.equal
    assert (report.differences[0].device, report.differences[0].idx) == (await one.device(), 1)


async def test_a_row_that_changed_here_behind_the_logs_back_is_named(peer):
    """Deep verification finds a row that is not what the logs say."""
    one, _ = await two_devices(peer)
    await one.write(lambda tx: tx.run("UPDATE mentions SET category = 'fish' WHERE n = 0 AND device = ?", (tx.device,)))
    report = await verify(one.sync, deep=True)
    assert [each.what for each in report.differences] == [
        f"mentions default {await one.device()} memory/2026-02-13.md 0 differs"
    ]


async def test_a_lost_segment_is_named_by_the_shallow_comparison(peer, sqld):
    """A log that is shorter than what was confirmed or folded is a difference."""
    one, two = await two_devices(peer)
    sqld.query("DELETE FROM segments WHERE device = '%s'" % await two.device())
    for each in (one, two):
        report = await verify(each.sync)
        assert [each.device for each in report.differences] == [await two.device()]

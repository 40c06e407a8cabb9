"""How long a log gets, and what becomes of its older segments."""

import pytest
from memoryd.config import CloudSettings
from memoryd.store.log import count_live
from memoryd.sync import keeping
from memoryd.sync.keeping import last_to_go
from memoryd.sync.verify import verify

from .conftest import Peer, SimulatedCloud

DAY = 86_400_000
NOW = 1000 * DAY


@pytest.mark.parametrize(
    ("older", "live", "upto"),
    [
        ([], 10, 0),
        ([(1, 10, NOW - DAY, NOW, 30, 0), (2, 10, NOW - DAY, NOW, 30, 1)], 10, 0),
        ([(1, 10, NOW - 99 * DAY, NOW, 30, 0), (2, 10, NOW - 91 * DAY, NOW, 30, 1), (3, 9, NOW, NOW, 30, 1)], 10, 1),
        ([(1, 10, NOW - 91 * DAY, NOW, 30, 0), (2, 10, NOW - DAY, NOW, 30, 1)], 10, 0),
        ([(n, 100, NOW, NOW, 450, 0) for n in (1, 2, 3, 4)], 10, 3),
        ([(1, 10, None, None, 30, 1)], 10, 0),
    ],
)
def test_older_segments_go_by_age_and_by_size(older, live, upto):
    """90 days, as far as a snapshot of that age; sooner while the log is over 20 times its live rows; oldest first."""
    assert last_to_go(older, live, CloudSettings()) == upto


async def test_a_log_that_grew_long_is_written_anew_and_cut(tmp_path, clock, monkeypatch):
    """Many edits of one line end in a snapshot; a late reader and a deep comparison find everything."""
    monkeypatch.setattr(keeping, "SMALL_LOG_ROWS", 20)
    cloud = SimulatedCloud()
    one, two = [Peer(tmp_path / name / "memory.db", clock, cloud) for name in ("one", "two")]
    one.sync._exchanger._keeper._settings.keep_ratio = 6.0
    for each in (one, two):
        await each.thread.start()
    try:
        await one.note("memory/2026-02-01.md", "Stays\n")
        for n in range(40):
            await one.note("memory/2026-02-13.md", f"Version {n % 2}\n")
            await one.sync.exchange()
        first, snapshots, total = cloud.db.execute(
            "SELECT min(idx), count(DISTINCT first), sum(rows) FROM segments"
        ).fetchone()
        live = await one.call(count_live)
        assert first > 1
        assert snapshots >= 1
        assert total <= (6 + 5) * live  # kept at the last snapshot, and sent since
        await two.sync.exchange()
        assert await two.texts() == {"Stays", "Version 1"}
        await one.sync.exchange()
        for each in (one, two):
            assert (await verify(each.sync, deep=True)).differences == []
    finally:
        for each in (one, two):
            await each.close()
        cloud.db.close()

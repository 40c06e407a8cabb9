"""The picture beside the logs: what is drawn, what goes, and that nothing is written into a foreign cloud."""

import pytest
from memoryd.errors import CloudStoppedError
from memoryd.model import fact_id
from memoryd.store.forget import forget_fact
from memoryd.sync.hrana import CloudError
from memoryd.sync.picture import count_undrawn, redraw

from .conftest import AGENT, Peer, SimulatedCloud


@pytest.fixture
async def one(tmp_path, clock):
    """A device on a simulated cloud, with two facts in the picture."""
    cloud = SimulatedCloud()
    peer = Peer(tmp_path / "one" / "memory.db", clock, cloud)
    peer.cloud = cloud
    await peer.thread.start()
    await peer.note("memory/2026-02-13.md", "The heron fishes\nThe ibis came\n")
    await peer.sync.exchange()
    yield peer
    await peer.close()
    cloud.db.close()


def drawn(one):
    """The texts in the cloud's table."""
    return {row[0] for row in one.cloud.db.execute("SELECT text FROM cold_memories")}


async def test_only_what_looks_different_is_drawn_again(one):
    """Deriving a fact anew with the same result sends nothing; another category sends one row."""
    await one.write(
        lambda tx: [tx.touch(AGENT, fact_id(AGENT, text)) for text in ("The heron fishes", "The ibis came")]
    )
    assert (await one.sync.exchange()).drawn == 0
    await one.write(lambda tx: tx.run("UPDATE derived SET tier = 'cold' WHERE n = 1"))
    assert (await one.sync.exchange()).drawn == 1
    assert one.cloud.db.execute("SELECT count(*) FROM cold_memories WHERE tier = 'cold'").fetchone() == (1,)
    assert one.sync.status.picture_pending == 0


@pytest.mark.parametrize("state", ["forgotten", "expired"])
async def test_a_hidden_fact_leaves_the_picture(one, state):
    """Also when it only became so by the passing of time."""
    await one.write(lambda tx: tx.run("UPDATE derived SET state = ? WHERE n = 1", (state,)))
    await one.sync.exchange()
    assert drawn(one) == {"The ibis came"}


async def test_a_forgotten_fact_leaves_the_picture_of_every_device(one, tmp_path, clock):
    """Whoever drew it, its row goes, and no other device draws it again."""
    two = Peer(tmp_path / "two" / "memory.db", clock, one.cloud)
    await two.thread.start()
    try:
        await two.sync.exchange()
        await one.write(lambda tx: forget_fact(tx, AGENT, fact_id(AGENT, "The heron fishes")))
        await one.sync.exchange()
        assert drawn(one) == {"The ibis came"}
        await two.sync.exchange()
        assert drawn(one) == {"The ibis came"}
        await two.call(redraw)
        await two.sync.exchange()
        assert drawn(one) == {"The ibis came"}
    finally:
        await two.close()


async def test_a_change_during_a_draw_is_drawn_next_time(one):
    """What was derived anew while its old look was on the way is not taken for drawn."""
    await one.write(lambda tx: tx.run("UPDATE derived SET tier = 'cold' WHERE n = 1"))
    real = one.cloud.transact

    async def changes_meanwhile(statements):
        one.cloud.transact = real
        await one.write(lambda tx: tx.run("UPDATE derived SET tier = 'frozen' WHERE n = 1"))
        return await real(statements)

    one.cloud.transact = changes_meanwhile
    await one.sync._exchanger._picture.draw()
    assert one.cloud.db.execute("SELECT count(*) FROM cold_memories WHERE tier = 'frozen'").fetchone() == (1,)
    assert await one.call(count_undrawn) == 0


async def test_a_wiped_picture_is_drawn_again_on_request(one):
    """`redraw` has every row written again."""
    one.cloud.db.execute("DELETE FROM cold_memories")
    one.cloud.db.execute("DELETE FROM critical_state")
    assert (await one.sync.exchange()).drawn == 0
    await one.call(redraw)
    assert (await one.sync.exchange()).drawn == 3
    assert drawn(one) == {"The heron fishes", "The ibis came"}


async def test_rows_of_the_original_are_left_alone(one):
    """Ids that are not ours are neither changed nor removed."""
    one.cloud.db.execute(
        "INSERT INTO cold_memories (id, agent_id, text, category, created_at) VALUES ('x', 'default', 'Theirs', 'c', 1)"
    )
    await one.call(redraw)
    await one.sync.exchange()
    assert "Theirs" in drawn(one)


async def test_a_foreign_cloud_gets_no_picture(one):
    """The guard counts the rows: a cloud that was replaced between push and picture stays as it is."""
    await one.write(lambda tx: tx.run("UPDATE derived SET tier = 'cold'"))
    one.cloud.db.execute("UPDATE meta SET v = 'other/1/plain'")
    with pytest.raises(CloudStoppedError):
        await one.sync._exchanger._picture.draw()
    assert one.cloud.db.execute("SELECT count(*) FROM cold_memories WHERE tier = 'cold'").fetchone() == (0,)
    assert await one.call(count_undrawn) == 2


async def test_a_drawing_that_arrives_late_does_not_bring_an_old_look_back(one):
    """A request that a frozen server kept while its device died, pushed and drew anew changes nothing (SY-8)."""
    sent = []
    real = one.cloud.transact

    async def keep(statements):
        sent.append(statements)
        return await real(statements)

    one.cloud.transact = keep
    await one.call(redraw)
    await one.sync.exchange()
    late = list(sent)
    assert late
    one.cloud.transact = real
    await one.write(lambda tx: forget_fact(tx, AGENT, fact_id(AGENT, "The heron fishes")))
    await one.sync.exchange()
    before = one.cloud.db.execute("SELECT * FROM cold_memories").fetchall()
    assert drawn(one) == {"The ibis came"}

    for statements in late:
        counts = await real(statements)
        assert counts[0] == 0

    assert one.cloud.db.execute("SELECT * FROM cold_memories").fetchall() == before


async def test_a_drawing_whose_answer_was_lost_is_outlasted_before_the_next_one(one):
    """It arrives when the fact was forgotten and taken out under the same head: nothing comes back (SY-8)."""
    real, late = one.cloud.transact, []

    async def loses(statements):
        if "cold_memories" in "".join(each.sql for each in statements):
            late.append(statements)
            raise CloudError("timed out")
        return await real(statements)

    one.cloud.transact = loses
    await one.write(lambda tx: tx.run("UPDATE derived SET tier = 'cold'"))
    with pytest.raises(CloudError):
        await one.sync.exchange()
    one.cloud.transact = real
    head = one.cloud.db.execute("SELECT count(*) FROM segments").fetchone()
    await one.sync.exchange()
    assert one.cloud.db.execute("SELECT count(*) FROM segments").fetchone() == (head[0] + 1,)
    await one.write(lambda tx: tx.run("UPDATE derived SET state = 'forgotten' WHERE n = 1"))
    await one.sync.exchange()
    before = one.cloud.db.execute("SELECT * FROM cold_memories").fetchall()
    assert drawn(one) == {"The ibis came"}

    for statements in late:
        assert (await real(statements))[0] == 0

    assert one.cloud.db.execute("SELECT * FROM cold_memories").fetchall() == before
    assert one.sync.status.pending_rows == 0


async def test_a_drawing_whose_answer_was_lost_is_not_taken_for_undone(one):
    """A fact that looks as before by the time of the next drawing is drawn all the same (SY-1)."""

    def tiers():
        return sorted(row[0] for row in one.cloud.db.execute("SELECT tier FROM cold_memories"))

    real = one.cloud.transact

    async def lose_the_answer(statements):
        await real(statements)
        raise CloudError("The cloud does not answer.")

    one.cloud.transact = lose_the_answer
    await one.write(lambda tx: tx.run("UPDATE derived SET tier = 'cold' WHERE n = 1"))
    with pytest.raises(CloudError):
        await one.sync._exchanger._picture.draw()
    assert tiers() == ["cold", "warm"]
    one.cloud.transact = real
    await one.write(lambda tx: tx.run("UPDATE derived SET tier = 'warm' WHERE n = 1"))

    await one.sync.exchange()

    assert tiers() == ["warm", "warm"]
    assert await one.call(count_undrawn) == 0


async def test_answered_drawings_send_no_segment(one):
    """Only a lost answer costs one: drawing alone leaves the log as it is."""
    segments = one.cloud.db.execute("SELECT count(*) FROM segments").fetchone()
    for tier in ("cold", "warm"):
        await one.write(lambda tx, tier=tier: tx.run("UPDATE derived SET tier = ?", (tier,)))
        assert (await one.sync.exchange()).drawn == 2

    assert one.cloud.db.execute("SELECT count(*) FROM segments").fetchone() == segments


async def test_a_head_that_moved_under_a_drawing_is_looked_at_again(one):
    """Another machine under this id: nothing is drawn, the next round takes a new id and draws."""
    await one.write(lambda tx: tx.run("UPDATE derived SET tier = 'cold' WHERE n = 1"))
    real = one.cloud.query
    moved = []

    async def moves(*statements):
        found = await real(*statements)
        if not moved:
            moved.append(1)
            one.cloud.db.execute(
                "INSERT INTO segments SELECT device, idx + 1, sha256, 'feed', NULL, NULL, NULL, rows, at, payload"
                " FROM segments ORDER BY idx DESC LIMIT 1"
            )
        return found

    one.cloud.query = moves
    device = await one.device()
    done = await one.sync.exchange()

    assert await one.device() != device
    assert done.drawn > 0
    assert await one.call(count_undrawn) == 0

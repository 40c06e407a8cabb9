"""The service's life: states, backoff, waking, and that no error leaves it."""

import asyncio
import contextlib
import logging

import pytest
from memoryd.errors import AuthRequiredError
from memoryd.sync.hrana import CloudError

from .conftest import Peer, SimulatedCloud

LONG = 200
"""Sleeps after which a test gives up."""


class Sleeper:
    """Sleeps by moving the test's clock; `until` ends the test's run."""

    def __init__(self, clock, until):
        self.clock, self.until, self.pauses = clock, until, []
        self.started, self.done = asyncio.Event(), asyncio.Event()

    async def __call__(self, seconds):
        self.pauses.append(seconds)
        self.started.set()
        if self.until(self) or len(self.pauses) > LONG:
            self.done.set()
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        self.clock.advance(seconds)


@pytest.fixture
async def device(tmp_path, clock):
    """A device on a simulated cloud; its sleep ends when `until` says so."""
    made = []

    async def make(until=lambda _: False):
        cloud = SimulatedCloud()
        sleeper = Sleeper(clock, until)
        one = Peer(tmp_path / f"{len(made)}" / "memory.db", clock, cloud, sleep=sleeper)
        one.cloud, one.sleeper = cloud, sleeper
        made.append(one)
        await one.thread.start()
        return one

    yield make
    for one in made:
        await one.close()
        one.cloud.db.close()


async def live(one):
    """Run the service until its sleeper says that it is enough."""
    task = asyncio.create_task(one.sync.run())
    await asyncio.wait_for(one.sleeper.done.wait(), 5)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def failing(error, times=10_000):
    """A query that fails so often, then works."""
    left = [times]

    def wrap(real):
        async def query(*statements):
            if left[0]:
                left[0] -= 1
                raise error
            return await real(*statements)

        return query

    return wrap


async def test_a_cloud_that_is_away_is_tried_again_with_longer_pauses(device):
    """Status says backoff, counts the tries and says when the next one comes; afterwards everything is sent."""
    one = await device(lambda sleeper: len(sleeper.pauses) > 4)
    one.cloud.query = failing(CloudError("The cloud does not answer."))(one.cloud.query)
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    await live(one)
    assert [round(pause // 5 * 5) for pause in one.sleeper.pauses[:4]] == [5, 10, 20, 40]
    status = one.sync.status
    assert (status.state, status.attempts, status.last_error) == ("backoff", 5, "The cloud does not answer.")
    assert status.pending_rows > 0
    assert 80 <= status.next_retry_in_s(one.clock.monotonic()) <= 82.5


async def test_it_recovers_by_itself(device):
    """After three failures the fourth try sends everything and the state is ok."""
    one = await device(lambda sleeper: sleeper.pauses[-1] >= 25 and len(sleeper.pauses) > 3)
    one.cloud.query = failing(CloudError("The cloud does not answer."), 3)(one.cloud.query)
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    await live(one)
    assert (one.sync.status.state, one.sync.status.pending_rows, one.sync.status.last_error) == ("ok", 0, None)
    assert one.sync.status.next_retry_in_s(one.clock.monotonic()) is None
    assert one.cloud.db.execute("SELECT count(*) FROM segments").fetchone() == (1,)


async def test_a_failure_is_logged_once_and_its_end_once(device, caplog):
    """A cloud that is away for weeks does not fill the log."""
    one = await device(lambda sleeper: sleeper.pauses[-1] >= 25 and len(sleeper.pauses) > 3)
    one.cloud.query = failing(CloudError("The cloud does not answer."), 3)(one.cloud.query)
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    with caplog.at_level(logging.INFO):
        await live(one)
    told = [record.getMessage() for record in caplog.records if record.name == "memoryd.sync"]
    assert told == ["The cloud does not answer.", "the exchange with the cloud works again"]


async def test_a_fault_of_our_own_does_not_end_the_service(device):
    """Any exception becomes a state and is tried again."""
    one = await device(lambda sleeper: len(sleeper.pauses) > 2)
    one.cloud.query = failing(ZeroDivisionError("a bug"))(one.cloud.query)
    await live(one)
    assert one.sync.status.state == "backoff"
    assert one.sync.status.attempts == 3


async def test_a_refused_token_is_tried_again_gently(device):
    """The state is auth_required and the first pause half a minute."""
    one = await device(lambda sleeper: len(sleeper.pauses) > 1)
    one.cloud.query = failing(AuthRequiredError("The cloud refused the token."))(one.cloud.query)
    await live(one)
    assert one.sync.status.state == "auth_required"
    assert one.sync.status.last_error == "The cloud refused the token."
    assert one.sleeper.pauses[0] >= 30


async def test_a_change_is_sent_after_two_seconds(device):
    """It does not wait for the next poll."""
    one = await device(lambda sleeper: len(sleeper.pauses) == 3)
    task = asyncio.create_task(one.sync.run())
    await asyncio.wait_for(one.sleeper.started.wait(), 5)
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    one.sync.changed()
    await asyncio.wait_for(one.sleeper.done.wait(), 5)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert one.cloud.db.execute("SELECT count(*) FROM segments").fetchone() == (2,)


async def test_the_numbers_are_current_before_anything_is_sent(device):
    """`changed` counts what is unsent without asking the cloud."""
    one = await device()
    one.cloud.query = failing(CloudError("never asked"))(one.cloud.query)
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    one.sync.changed()
    for _ in range(100):
        if one.sync.status.pending_rows:
            break
        await asyncio.sleep(0.005)
    assert one.sync.status.pending_rows == 5
    assert one.sync.status.state == "pending"
    assert one.sync.status.last_error is None


async def test_settling_after_a_pull_calls_for_no_further_exchange(device):
    """Our own `settle` ends in `changed`; that must not turn into an endless row of exchanges."""
    one = await device(lambda sleeper: len(sleeper.pauses) > 6)
    real = one.sync._exchanger._settle

    async def settle():
        await real()
        one.sync.changed()

    one.sync._exchanger._settle = settle
    await live(one)
    assert one.sleeper.pauses[:5] == [30, 60, 120, 240, 300]


async def test_the_last_push_gives_up_in_time(device):
    """A daemon that ends does not wait for a cloud that hangs."""
    one = await device()
    await one.note("memory/2026-02-13.md", "The heron fishes\n")

    async def hang(*_):
        await asyncio.Event().wait()

    real, one.cloud.query = one.cloud.query, hang
    await asyncio.wait_for(one.sync.last_push(0.05), 1)
    one.cloud.query = real
    await one.sync.last_push(5)
    assert one.cloud.db.execute("SELECT count(*) FROM segments").fetchone() == (1,)


async def test_after_a_sleep_of_the_machine_the_waits_begin_anew(device):
    """Connections are opened anew, and the next run tries at once, with the first short pause again."""
    one = await device(lambda sleeper: len(sleeper.pauses) == 4)
    one.cloud.query = failing(CloudError("The cloud does not answer."))(one.cloud.query)
    renewed = []

    async def reconnect():
        renewed.append(one.sync.status.attempts)

    one.cloud.reconnect = reconnect
    await live(one)
    assert one.sync.status.attempts == 4
    assert one.sync.busy_since is None

    await one.sync.resumed()
    assert (one.sync.status.attempts, one.sync.status.retry_at) == (0, None)
    one.sleeper.until, one.sleeper.pauses = lambda _: True, []
    one.sleeper.done.clear()
    await live(one)

    assert renewed == [4]
    assert one.sync.status.attempts == 1
    assert one.sleeper.pauses[0] < 10

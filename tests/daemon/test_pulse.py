"""What the service manager hears, and when it is not told that the daemon lives."""

import faulthandler
import socket
from types import SimpleNamespace

import pytest
from memoryd.clock import ManualClock
from memoryd.daemon.notify import Notifier
from memoryd.daemon.pulse import Pulse, disarm_last_resort, kept_running


class Manager:
    """A service manager's notification socket."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.setblocking(False)

    def heard(self) -> list[str]:
        messages = []
        while True:
            try:
                messages.append(self.socket.recv(4096).decode())
            except BlockingIOError:
                return messages


@pytest.fixture
def manager(tmp_path):
    manager = Manager(f"\0memoryd-test-{tmp_path.name}-{id(tmp_path)}")
    yield manager
    manager.socket.close()


@pytest.fixture
def notifier(manager, tmp_path) -> Notifier:
    address = f"@memoryd-test-{tmp_path.name}-{id(tmp_path)}"
    return Notifier({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "60000000"})


def test_messages_are_those_of_sd_notify(notifier, manager):
    """Readiness, status, reload and stop, each as one datagram; an unchanged status is not sent again."""
    notifier.ready("starting")
    notifier.status("starting")
    notifier.status("fine")
    notifier.reloading(1.5)
    notifier.still_starting(30)
    notifier.stopping()
    notifier.failed("no disk")
    assert manager.heard() == [
        "READY=1\nSTATUS=starting",
        "STATUS=fine",
        "RELOADING=1\nMONOTONIC_USEC=1500000",
        "EXTEND_TIMEOUT_USEC=30000000\nWATCHDOG=1",
        "STOPPING=1",
        "STATUS=no disk",
    ]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "60000000"}, 60.0),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"}, None),
    ],
)
def test_the_watchdogs_period_is_taken_from_the_environment(environment, expected):
    """A watchdog that is meant for another process is not ours to feed."""
    assert Notifier(environment).watchdog_s == expected


def test_without_a_service_manager_nothing_happens(tmp_path):
    """No socket, or one that nobody reads, is no error."""
    Notifier({}).ready("fine")
    Notifier({"NOTIFY_SOCKET": str(tmp_path / "nobody")}).ready("fine")


@pytest.fixture
def bench(notifier):
    clock = ManualClock()
    thread = SimpleNamespace(finished=0, waiting=0)
    worker = SimpleNamespace(busy_since=None)
    sync = SimpleNamespace(busy_since=None, progress=0)
    pulse = Pulse(notifier, thread, worker, clock, sync)
    yield SimpleNamespace(clock=clock, thread=thread, worker=worker, sync=sync, pulse=pulse)
    disarm_last_resort()


async def test_an_idle_daemon_lives(bench, manager):
    """Nothing to do is no reason to be killed."""
    assert bench.pulse.interval_s == 20
    for _ in range(5):
        bench.clock.advance(20)
        await bench.pulse.beat()
    assert manager.heard() == ["WATCHDOG=1"] * 5


@pytest.mark.parametrize("waiting", ["thread", "worker"])
async def test_a_store_that_hangs_is_not_called_alive(bench, manager, waiting, caplog):
    """Work that waits while no call ends for 30 s stops the pings, and is logged once."""
    if waiting == "thread":
        bench.thread.waiting = 1
    else:
        bench.worker.busy_since = bench.clock.monotonic()
    for _ in range(4):
        await bench.pulse.beat()
        bench.clock.advance(20)
    assert manager.heard() == ["WATCHDOG=1"] * 2
    assert caplog.text.count("no progress") == 1

    bench.thread.finished += 1
    await bench.pulse.beat()
    assert manager.heard() == ["WATCHDOG=1"]


async def test_a_push_that_hangs_is_not_called_alive(bench, manager, caplog):
    """An exchange in which neither cloud nor store moves for five minutes stops the pings; one that moves does not."""
    bench.sync.busy_since = bench.clock.monotonic()
    for step in range(60):
        bench.sync.progress = step
        bench.clock.advance(20)
        await bench.pulse.beat()
        assert manager.heard() == ["WATCHDOG=1"]

    heard = []
    for _ in range(30):
        bench.clock.advance(20)
        await bench.pulse.beat()
        heard += manager.heard()
    assert len(heard) == 15
    assert caplog.text.count("the push makes no progress") == 1

    bench.sync.busy_since = None
    await bench.pulse.beat()
    assert manager.heard() == ["WATCHDOG=1"]


async def test_a_long_scan_that_goes_on_lives(bench, manager):
    """A scan of many minutes is alive as long as calls of the store end."""
    bench.worker.busy_since = bench.clock.monotonic()
    bench.thread.waiting = 3
    for _ in range(30):
        bench.thread.finished += 1
        bench.clock.advance(20)
        await bench.pulse.beat()
        assert manager.heard() == ["WATCHDOG=1"]


def test_a_service_manager_that_does_not_read_stops_nobody(notifier, manager):
    """When its queue is full, messages are dropped instead of waited for."""
    for number in range(1000):
        notifier.status(f"{number}")
    assert manager.heard()[0] == "STATUS=0"


async def test_a_sleep_of_the_machine_is_no_hang(bench, manager):
    """After a resume everybody gets new time."""
    bench.thread.waiting = 1
    await bench.pulse.beat()
    bench.clock.advance(3600)
    bench.pulse.resumed()
    await bench.pulse.beat()
    assert len(manager.heard()) == 2


async def test_each_beat_arms_the_last_resort(bench, monkeypatch):
    """Faulthandler counts down anew with each beat, and not after the daemon ends."""
    calls = []
    monkeypatch.setattr(faulthandler, "dump_traceback_later", lambda *seconds, **flags: calls.append((*seconds, flags)))
    monkeypatch.setattr(faulthandler, "cancel_dump_traceback_later", lambda: calls.append("cancelled"))
    await bench.pulse.beat()
    disarm_last_resort()
    assert calls == [(120, {"exit": True}), "cancelled"]


async def test_a_part_that_fails_is_started_again_with_growing_pauses(caplog):
    """A task that ends with an error is said and tried again, at most once a minute."""
    pauses: list[float] = []
    runs = iter([ValueError("my secret diary")] * 9 + [None])

    async def work() -> None:
        if error := next(runs):
            raise error

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    await kept_running("sync", work, sleep)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert "sync ended unexpectedly (ValueError in work" in caplog.text
    assert "diary" not in caplog.text


def test_status_is_told_of_a_store_that_hangs_and_of_its_return(notifier):
    """The service manager is not the only one who has to know."""
    clock = ManualClock()
    thread, worker = SimpleNamespace(finished=1, waiting=1), SimpleNamespace(busy_since=None)
    pulse = Pulse(notifier, thread, worker, clock)
    assert pulse.warning() is None

    pulse.stuck()
    clock.advance(31)
    hanging = pulse.warning()
    thread.finished = 2

    assert hanging is not None
    assert hanging[:2] == ("stuck", "The store makes no progress.")
    assert pulse.warning() is None

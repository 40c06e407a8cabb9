"""The one worker that takes notes in."""

import asyncio
import logging
from pathlib import Path

import pytest
from memoryd.clock import ManualClock
from memoryd.daemon.worker import Worker
from memoryd.errors import StoreFullError, place_of


class Recorder:
    """Stands in for the memory: notes what it was asked, and fails on demand."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.scans = 0
        self.running = 0
        self.most_running = 0
        self.errors: list[Exception] = []

    async def take_in(self, paths) -> None:
        self.batches.append(sorted(paths))
        await self._work()

    async def scan(self) -> None:
        self.scans += 1
        await self._work()

    async def _work(self) -> None:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        if self.errors:
            raise self.errors.pop(0)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
async def worker(tmp_path: Path, recorder: Recorder, clock: ManualClock):
    (tmp_path / "a.md").touch()
    (tmp_path / "b.md").touch()
    worker = Worker(tmp_path, recorder.take_in, recorder.scan, clock)
    task = asyncio.create_task(worker.run())
    yield worker
    worker.stop()
    await task


async def pass_time(clock: ManualClock, worker: Worker, seconds: float) -> None:
    """Let the injected time pass and the worker look at it."""
    clock.advance(seconds)
    worker.hint([])
    for _ in range(10):
        await asyncio.sleep(0)


async def test_hints_are_taken_in_as_one_batch_after_quiet(worker, recorder, clock):
    """Several notes saved together are one batch."""
    worker.hint(["a.md", "b.md"])
    worker.hint(["a.md"])
    assert worker.waiting == 2

    await pass_time(clock, worker, 0.3)

    assert recorder.batches == [["a.md", "b.md"]]
    assert worker.waiting == 0


async def test_many_triggers_cost_one_scan(worker, recorder, clock):
    """Scans that are asked for at the same time are one scan."""
    for why in ("start", "resume", "reload"):
        worker.request_scan(why)
    await pass_time(clock, worker, 0)

    assert recorder.scans == 1
    assert recorder.most_running == 1


async def test_a_folder_event_leads_to_a_scan_after_quiet(worker, recorder, clock):
    """What no single path tells is answered by comparing everything."""
    worker.suspect_everything()
    await pass_time(clock, worker, 0.1)
    assert recorder.scans == 0

    await pass_time(clock, worker, 0.3)
    assert recorder.scans == 1


async def test_a_failed_batch_is_made_up_by_a_scan(worker, recorder, clock, caplog):
    """A full disk is a state that ends: it is said once, and nothing is forgotten."""
    full = StoreFullError("The disk is full.", "Free some space.")
    recorder.errors = [full, full, full]
    with caplog.at_level(logging.INFO):
        worker.hint(["a.md"])
        await pass_time(clock, worker, 0.3)
        assert worker.warning is not None
        assert worker.waiting == 1
        for _ in range(3):
            await pass_time(clock, worker, 61)

    assert recorder.scans == 3
    assert worker.warning is None
    assert worker.waiting == 0
    assert [each.message for each in caplog.records if each.levelno >= logging.ERROR] == ["The disk is full."]


async def test_a_scan_that_fails_is_not_tried_again_at_once(worker, recorder, clock):
    """A lasting failure costs a scan a minute, not a busy loop."""
    recorder.errors = [StoreFullError("The disk is full.", "")]
    worker.request_scan("start")
    await pass_time(clock, worker, 0)
    await pass_time(clock, worker, 1)
    assert recorder.scans == 1

    await pass_time(clock, worker, 5)
    assert recorder.scans == 2


async def test_an_unexpected_error_is_logged_by_place_and_never_by_its_words(worker, recorder, clock, caplog):
    """The message of an error may hold the words of a note, so the log has only its type and place."""
    recorder.errors = [ValueError("my secret diary")]
    worker.hint(["a.md"])
    await pass_time(clock, worker, 0.3)

    assert "ValueError in _work" in caplog.text
    assert "diary" not in caplog.text


def test_the_place_of_an_error_is_where_it_was_raised():
    """Type, function, file and line of the innermost frame."""
    with pytest.raises(ValueError, match="invalid literal") as raised:
        int("x")
    place = place_of(raised.value)
    assert place.startswith("ValueError in test_the_place_of_an_error_is_where_it_was_raised, test_worker.py:")

"""A known note is opened for reading now and then, and the watcher must hear it."""

import asyncio
import logging
import sys

import pytest
from memoryd.clock import ManualClock
from memoryd.daemon.canary import ANSWER_S, EVERY_S, Canary
from memoryd.daemon.inbox import Inbox
from memoryd.daemon.names import Extra
from memoryd.daemon.watcher import Watcher

NOTE = "memory/2026-02-13.md"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only inotify reports that a file was opened")


class Aviary:
    """A real watcher, on a clock that the test moves, beside one known note."""

    def __init__(self, workspace) -> None:
        self.clock = ManualClock()
        self.rebuilt: list[str] = []
        self.watcher = Watcher(
            workspace, Extra(), lambda _: None, self.rebuilt.append, clock=self.clock, known_note=lambda: NOTE
        )

    async def ask(self, after: float = EVERY_S) -> None:
        """Let a quiet time pass, let the canary be sent, and give its answer time to come."""
        self.clock.advance(after)
        await self.watcher.check()
        await asyncio.sleep(0.1)
        self.clock.advance(ANSWER_S)
        await self.watcher.check()


@pytest.fixture
async def aviary(tmp_path):
    (tmp_path / "memory").mkdir()
    (tmp_path / NOTE).write_text("- The heron waits\n")
    aviary = Aviary(tmp_path)
    await aviary.watcher.start()
    yield aviary
    await aviary.watcher.stop()


async def test_a_watcher_that_hears_is_left_alone_and_the_note_untouched(aviary, tmp_path):
    """Opening is heard, counts as no event, and changes nothing of the note, not even its access time (WA-1)."""
    before = (tmp_path / NOTE).stat()

    for _ in range(3):
        await aviary.ask()

    assert aviary.rebuilt == []
    assert aviary.watcher.state == "native"
    assert aviary.watcher._canary.heard
    assert aviary.watcher.events == 0
    after = (tmp_path / NOTE).stat()
    assert (after.st_atime_ns, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_atime_ns, before.st_mtime_ns, before.st_ctime_ns
    )  # fmt: skip


async def test_looking_after_the_watcher_wakes_nobody(aviary):
    """The checks between two openings touch the folders without opening them: no event, no wake-up (WA-8)."""
    heard = []
    tell = aviary.watcher._inbox.tell
    aviary.watcher._inbox.tell = lambda *event: (heard.append(event), tell(*event))
    await aviary.ask()
    await asyncio.sleep(0.1)
    openings = len(heard)
    assert openings >= 1

    for _ in range(5):
        aviary.clock.advance(5)
        await aviary.watcher.check()
    await asyncio.sleep(0.2)

    assert len(heard) == openings


async def test_a_silently_deaf_watcher_is_noticed_within_a_minute(aviary, caplog):
    """Alive but hearing nothing, it is set up anew, called degraded, and native again once it hears (WA-1)."""
    aviary.watcher._inbox.tell = lambda *_: None

    with caplog.at_level(logging.INFO):
        await aviary.ask()

    assert aviary.watcher.is_alive
    assert aviary.rebuilt == ["it did not hear that a note was opened"]
    assert aviary.watcher.state == "degraded"
    assert aviary.watcher.warning[0] == "watcher_deaf"
    assert EVERY_S + ANSWER_S < 60

    del aviary.watcher._inbox.tell
    await aviary.ask(after=5)

    assert aviary.watcher.state == "native"
    assert aviary.watcher.warning is None
    assert caplog.text.count("hears again") == 1


async def test_a_watcher_that_stays_deaf_is_not_set_up_all_the_time(aviary):
    """After two attempts it is asked every half minute only."""
    aviary.watcher._inbox.tell = lambda *_: None
    for _ in range(20):
        await aviary.ask(after=5 - ANSWER_S)

    assert 3 <= len(aviary.rebuilt) <= 5


def test_no_note_is_no_question(tmp_path):
    """Without a known note, or with one that has gone, nobody can tell, and nothing is concluded."""
    clock = ManualClock()
    inbox = Inbox(lambda: None)
    canary = Canary(tmp_path, inbox, clock)

    for note in ("", NOTE):
        clock.advance(2 * EVERY_S)
        assert not canary.is_dead(note)
        assert inbox.canary == ""
        clock.advance(ANSWER_S)
        assert not canary.is_dead(note)


def test_events_are_answer_enough(tmp_path):
    """While events come, no note is opened."""
    (tmp_path / "memory").mkdir()
    (tmp_path / NOTE).write_text("- The heron waits\n")
    clock = ManualClock()
    inbox = Inbox(lambda: None)
    canary = Canary(tmp_path, inbox, clock)

    for _ in range(5):
        clock.advance(EVERY_S)
        inbox.events += 1
        assert not canary.is_dead(NOTE)
        assert inbox.canary == ""

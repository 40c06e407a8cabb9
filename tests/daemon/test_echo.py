"""An answer that says how fresh it is waits until the watcher has told of everything before it."""

import asyncio

import pytest
from memoryd.daemon.echo import Echo
from memoryd.daemon.inbox import Inbox
from watchdog.events import FileOpenedEvent


@pytest.fixture
def inbox():
    return Inbox(lambda: None)


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "2026-02-13.md").write_text("- tea\n")
    return tmp_path


def opened(inbox, workspace, name):
    inbox.tell(FileOpenedEvent(str(workspace / name)), str(workspace), "")


async def test_the_echo_of_an_opened_note_is_enough(inbox, workspace):
    """Several may wait for the same one; afterwards nothing is listened to."""
    echo = Echo(workspace, inbox, platform="linux")
    waiting = [asyncio.create_task(echo.heard("memory/2026-02-13.md")) for _ in range(2)]
    await asyncio.sleep(0)
    opened(inbox, workspace, "memory/2026-02-14.md")
    opened(inbox, workspace, "memory/2026-02-13.md")

    assert await asyncio.gather(*waiting) == [True, True]
    assert inbox.tell_opened is None


async def test_a_deaf_watcher_leaves_it_open(inbox, workspace):
    """Without an echo in time, or without the note, nobody knows."""
    echo = Echo(workspace, inbox, platform="linux")

    assert not await echo.heard("memory/2026-02-13.md")
    assert not await echo.heard("memory/2026-02-14.md")


async def test_where_opening_is_not_reported_nothing_is_asked(inbox, workspace):
    """MacOS tells of changes only."""
    assert await Echo(workspace, inbox, platform="darwin").heard("memory/2026-02-13.md")

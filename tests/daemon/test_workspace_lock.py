"""Two memories never serve one workspace: they would write over each other's block in MEMORY.md."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from memoryd.errors import TryLaterError
from memoryd.operations import workspace_lock
from memoryd.operations.workspace_lock import WorkspaceLock, refuse_if_served

from .test_process import MEMORYD, Machine, wait_for

LESSON = json.dumps({"text": "Measure twice"})


class Neighbour(Machine):
    """Another memory of the same user, on the same notes."""

    def __init__(self, first: Machine) -> None:
        self.root, self.notes = first.root, first.notes
        self.socket = first.root / "run2" / "memoryd" / "default.sock"
        (first.root / "run2").mkdir(mode=0o700)
        self.environment = first.environment | {
            "XDG_RUNTIME_DIR": str(first.root / "run2"),
            "MEMORYD_STATE_DIR": str(first.root / "state2"),
        }
        self.log, self.process, self.command = first.root / "log2", None, [MEMORYD, "run"]

    def command_line(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [MEMORYD, *words], env=self.environment, cwd=self.root, capture_output=True, text=True, timeout=60,
            check=False,
        )  # fmt: skip


@pytest.fixture
def machines(short_path):
    first = Machine(short_path)
    second = Neighbour(first)
    yield first, second
    for each in (first, second):
        if each.process is not None and each.process.poll() is None:
            each.process.kill()
            each.process.wait()


def test_a_second_memory_does_not_serve_the_same_workspace(machines):
    """Its daemon ends with 75 and the first one's pid, its changes are refused; after kill -9 of the first it may."""
    first, second = machines
    first.start().settled()

    refused = second.command_line("run")
    change = second.command_line("hot", "--update", "lesson", LESSON)
    question = second.command_line("retrieve", "--query", "anything", "--json")

    assert (refused.returncode, change.returncode, question.returncode) == (75, 75, 0)
    for each in (refused, change):
        assert f"A daemon with another memory serves the workspace {first.root}/w" in each.stderr
        assert "Traceback" not in each.stderr
        if sys.platform == "linux":
            assert f"(pid {first.process.pid})" in each.stderr
    assert not (first.root / "w" / "MEMORY.md").exists()
    assert [each.name for each in (first.root / "w").iterdir()] == ["memory"]

    first.kill(signal.SIGKILL)

    second.start().settled()
    assert second.status()["warnings"] == []


def test_daemons_of_two_memories_started_at_once_end_as_one(machines):
    """Exactly one stays."""
    crowd = [each.spawn() for each in machines]
    try:
        wait_for(lambda: sorted(str(each.poll()) for each in crowd) == ["75", "None"], 60, "one gave up")
    finally:
        for each in crowd:
            each.kill()
            each.wait()


def test_a_command_that_looks_hinders_no_daemon(tmp_path):
    """Its look at the lock is over in a moment, which a daemon waits for."""
    looking = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    lock = WorkspaceLock(tmp_path, sleep=lambda _: os.close(looking))

    lock.take()

    with pytest.raises(TryLaterError):
        refuse_if_served(tmp_path)
    lock.release()
    refuse_if_served(tmp_path)


def test_the_lock_follows_a_workspace_that_was_replaced(tmp_path):
    """The folder that stands there now is the one that counts; one that another daemon has is a warning."""
    notes, aside = tmp_path / "notes", tmp_path / "aside"
    notes.mkdir()
    lock = WorkspaceLock(notes)
    lock.take()
    lock.check()
    notes.rename(aside)
    lock.check()
    notes.mkdir()
    other = WorkspaceLock(notes)
    other.take()

    lock.check()
    warned = lock.warning
    other.release()
    lock.check()

    assert warned is not None
    assert warned[0] == "second_daemon"
    assert lock.warning is None
    with pytest.raises(TryLaterError):
        refuse_if_served(notes)
    refuse_if_served(aside)


def test_where_folders_cannot_be_locked_work_goes_on(tmp_path, monkeypatch, caplog):
    """A network file system without locks: said once in the log."""

    def flock(*_: object) -> None:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(workspace_lock.fcntl, "flock", flock)
    lock = WorkspaceLock(tmp_path)

    lock.take()
    lock.check()
    refuse_if_served(tmp_path)

    assert lock.warning is None
    assert [each.getMessage().count("cannot be locked") for each in caplog.records] == [1]


def test_the_holder_is_named_only_where_the_system_tells(tmp_path, monkeypatch):
    """Without /proc/locks the sentence has no pid."""
    monkeypatch.setattr(workspace_lock, "_LOCKS", Path("/nonexistent"))
    assert "pid" not in workspace_lock.served(tmp_path)

"""One memoryd a memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from memoryd.clock import ManualClock
from memoryd.errors import AccessError, TryLaterError
from memoryd.operations.lock import DAEMON, InstanceLock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "memoryd.lock"


def test_the_lock_is_private_and_says_who_holds_it(path):
    """The file is 0600 and names pid, time and command; it stays when the lock is given up."""
    with InstanceLock(path, DAEMON, clock=ManualClock()) as lock:
        assert lock.held
        assert path.stat().st_mode & 0o777 == 0o600
        holder = lock.holder()
        assert holder is not None
        assert (holder.pid, holder.since, holder.command) == (os.getpid(), "2026-02-13T10:00:00Z", "run")
    assert not lock.held
    assert path.exists()


def test_a_second_daemon_is_refused_at_once_by_name(path):
    """The refusal names the holder's pid and since when, and does not wait."""
    clock = ManualClock()

    def sleep(_: float) -> None:
        raise AssertionError("a daemon does not wait for a daemon")

    with InstanceLock(path, DAEMON, clock=clock), pytest.raises(TryLaterError) as refused:
        InstanceLock(path, DAEMON, clock=clock, sleep=sleep).acquire(30)
    assert refused.value.exit_code == 75
    assert f"already running here (pid {os.getpid()}, since 2026-02-13T10:00:00Z)" in refused.value.message


def test_a_command_waits_for_another_one_up_to_its_limit(path):
    """30 s of waiting are 30 s of the injected clock."""
    clock = ManualClock()
    began = clock.monotonic()
    with InstanceLock(path, "store", clock=clock), pytest.raises(TryLaterError, match="Another memoryd command"):
        InstanceLock(path, "retrieve", clock=clock, sleep=clock.advance).acquire(30)
    assert clock.monotonic() - began == pytest.approx(30, abs=0.1)


def test_the_lock_is_taken_as_soon_as_it_is_free(path):
    """A waiting command goes on when the holder ends."""
    first = InstanceLock(path, "store")
    first.acquire()
    second = InstanceLock(path, DAEMON, sleep=lambda _: first.release())
    second.acquire(5)
    assert second.held
    second.release()


def test_a_lock_file_with_nonsense_only_informs(path):
    """What the file says never decides: a pid that lives or garbage does not keep anybody out (DA-1)."""
    path.parent.mkdir()
    for text in ("1", '{"pid": 1, "since": "x", "command": "run"}', "\x00\xff"):
        path.write_text(text, "latin-1")
        with InstanceLock(path, DAEMON) as lock:
            assert lock.held


def test_a_killed_holder_leaves_nothing_behind(path):
    """The kernel frees the lock of a process that was killed."""
    code = (
        "import sys, time; from pathlib import Path; from memoryd.operations.lock import InstanceLock;"
        f"lock = InstanceLock(Path({str(path)!r}), 'run'); lock.acquire(); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(TryLaterError, match=f"pid {holder.pid}"):
            InstanceLock(path, DAEMON).acquire()
        holder.kill()
        holder.wait()
    with InstanceLock(path, DAEMON) as lock:
        assert lock.held


def test_a_replaced_lock_file_is_noticed(path):
    """A lock on a file that is no longer at its path would guard nothing."""
    clock = ManualClock()
    lock = InstanceLock(path, "store", clock=clock)
    opened = lock._open

    def replaced() -> int:
        fd = opened()
        path.unlink()
        lock._open = opened
        return fd

    lock._open = replaced
    lock._sleep = clock.advance
    lock.acquire(1)
    assert os.fstat(lock._fd).st_ino == path.stat().st_ino
    lock.release()


def test_a_place_that_cannot_hold_a_lock_is_said(tmp_path):
    """A file where the state folder should be is an error with a hint."""
    (tmp_path / "state").write_text("")
    with pytest.raises(AccessError) as refused:
        InstanceLock(tmp_path / "state" / "memoryd.lock").acquire()
    assert refused.value.hint

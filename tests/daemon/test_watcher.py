"""The real watcher in a real folder."""

import asyncio
import errno
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from memoryd.clock import ManualClock
from memoryd.daemon.inbox import Heard
from memoryd.daemon.names import Extra
from memoryd.daemon.observer import make_observer
from memoryd.daemon.watcher import Watcher
from memoryd.daemon.worker import Worker

NOTE = "memory/2026-02-13.md"


class Ears:
    """A watcher on a workspace, and what was heard from it."""

    def __init__(self, workspace: Path, globs: tuple[str, ...] = (), observer: Callable = make_observer) -> None:
        self.workspace = workspace
        self.clock = ManualClock()
        self.heard = Heard()
        self._news = asyncio.Event()
        self.rebuilt: list[str] = []
        self.watcher = Watcher(
            workspace,
            Extra.of(globs),
            self._hear,
            self.rebuilt.append,
            clock=self.clock,
            observer=observer,
            known_note=lambda: NOTE if (workspace / NOTE).exists() else "",
        )

    def _hear(self, heard: Heard) -> None:
        self.heard.paths |= heard.paths
        self.heard.everything |= heard.everything
        self._news.set()

    async def hears(self, condition: Callable[[Heard], bool], limit_s: float = 5.0) -> Heard:
        """What was heard once `condition` holds."""
        async with asyncio.timeout(limit_s):
            while not condition(self.heard):
                self._news.clear()
                await self._news.wait()
        return self.heard


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "w" / "memory").mkdir(parents=True)
    return tmp_path / "w"


@pytest.fixture
async def ears(workspace: Path):
    ears = Ears(workspace)
    await ears.watcher.start()
    yield ears
    await ears.watcher.stop()


def append(path: Path) -> None:
    with path.open("a") as file:
        file.write("- one more\n")


def truncate_and_write(path: Path) -> None:
    path.write_text("- all new\n")


def rename_over(path: Path) -> None:
    temporary = path.with_name(".note.swp")
    temporary.write_text("- all new\n")
    temporary.replace(path)


def rename_from_outside(path: Path) -> None:
    outside = path.parents[2] / "outside.md"
    outside.write_text("- all new\n")
    outside.replace(path)


def vim_backup(path: Path) -> None:
    backup = path.with_name(path.name + "~")
    path.rename(backup)
    path.write_text("- all new\n")
    backup.unlink()


def touch(path: Path) -> None:
    os.utime(path)


STYLES = [append, truncate_and_write, rename_over, rename_from_outside, vim_backup, touch, Path.unlink]


@pytest.mark.parametrize("save", STYLES, ids=lambda save: save.__name__)
async def test_every_save_style_is_heard(workspace, save):
    """Whatever an editor does to a note, its path is heard, and no temporary file's (WA-5, WA-15, docs/engine.md)."""
    (workspace / NOTE).write_text("- before\n")
    ears = Ears(workspace)
    await ears.watcher.start()
    try:
        save(workspace / NOTE)
        heard = await ears.hears(lambda heard: NOTE in heard.paths)
        assert heard.paths == {NOTE}
    finally:
        await ears.watcher.stop()


@pytest.mark.parametrize("save", STYLES[:5], ids=lambda save: save.__name__)
async def test_every_save_style_is_one_batch(workspace, save):
    """The many events of one save are taken in once, and the note is there when it is looked at (WA-14, WA-15)."""
    (workspace / NOTE).write_text("- before\n")
    batches: list[list[tuple[str, bool]]] = []
    clock = ManualClock()

    async def take_in(paths) -> None:
        batches.append([(path, (workspace / path).exists()) for path in paths])

    async def scan() -> None:
        raise AssertionError("one save needs no scan")

    worker = Worker(workspace, take_in, scan, clock)
    ears = Ears(workspace)
    ears.watcher._on_hints = lambda heard: (worker.hint(heard.paths), ears._hear(heard))
    await ears.watcher.start()
    task = asyncio.create_task(worker.run())
    try:
        save(workspace / NOTE)
        await ears.hears(lambda heard: NOTE in heard.paths)
        await asyncio.sleep(0.1)
        clock.advance(0.31)
        worker.hint([])
        await asyncio.sleep(0.05)
        assert batches == [[(NOTE, True)]]
    finally:
        worker.stop()
        await task
        await ears.watcher.stop()


async def test_new_notes_pages_and_agents_are_heard(ears, workspace):
    """A new day, MEMORY.md and another agent's folder are heard without a restart (WA-3)."""
    (workspace / NOTE).write_text("- new\n")
    (workspace / "MEMORY.md").write_text("# Rules\n")
    await ears.hears(lambda heard: {NOTE, "MEMORY.md"} <= heard.paths)

    (workspace / "memory/robin").mkdir()
    (workspace / "memory/robin/2026-02-13.md").write_text("- robin\n")

    await ears.hears(lambda heard: heard.everything)
    await ears.hears(lambda heard: "memory/robin/2026-02-13.md" in heard.paths)


async def test_reading_a_note_is_not_heard(ears, workspace):
    """Our own reads cause no work."""
    (workspace / NOTE).write_text("- new\n")
    await ears.hears(lambda heard: NOTE in heard.paths)
    await asyncio.sleep(0.2)
    events = ears.watcher.events

    for _ in range(5):
        (workspace / NOTE).read_bytes()
    await asyncio.sleep(0.2)

    assert ears.watcher.events == events


async def test_other_files_written_without_end_are_not_heard(ears, workspace):
    """A health file or a hidden folder that changes all the time costs nothing (WA-16)."""
    (workspace / "memory/.git").mkdir()
    for number in range(50):
        (workspace / "memory/health.json").write_text(str(number))
        (workspace / "memory/.git/2026-02-13.md").write_text(str(number))
        (workspace / "README.md").write_text(str(number))
    await asyncio.sleep(0.3)

    assert ears.watcher.events == 0


async def test_a_folder_that_is_removed_and_made_again_is_watched_again(ears, workspace, caplog):
    """The next check notices the new folder, asks for a scan, and new notes are heard (M5, WA-2)."""
    (workspace / "memory").rmdir()
    (workspace / "memory").mkdir()
    with caplog.at_level(logging.INFO):
        async with asyncio.timeout(5):
            # The new folder may get the old one's inode number; then only the end of the emitter tells, a moment later.
            while not ears.rebuilt:
                await ears.watcher.check()
                await asyncio.sleep(0.02)
    assert len(ears.rebuilt) == 1
    assert ears.watcher.state == "native"
    assert caplog.text.count("set up again") == 1

    (workspace / NOTE).write_text("- new\n")
    await ears.hears(lambda heard: NOTE in heard.paths)

    await ears.watcher.check()
    assert len(ears.rebuilt) == 1


async def test_a_missing_workspace_is_degraded_until_it_is_back(ears, workspace):
    """A workspace that went away is said at once and watched again when it returns."""
    moved = workspace.with_name("moved")
    workspace.rename(moved)
    await ears.watcher.check()
    assert ears.watcher.state == "degraded"
    assert ears.watcher.warning is not None

    moved.rename(workspace)
    ears.clock.advance(5)
    await ears.watcher.check()
    assert ears.watcher.state == "native"
    assert ears.watcher.warning is None
    assert ears.rebuilt

    (workspace / NOTE).write_text("- new\n")
    await ears.hears(lambda heard: NOTE in heard.paths)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
async def test_a_locked_folder_is_watched_again_when_it_opens(ears, workspace):
    """A folder of mode 000 raises nothing in watchdog; the check sees it (M6)."""
    (workspace / "memory").chmod(0)
    await ears.watcher.check()
    (workspace / "memory").chmod(0o700)
    await ears.watcher.check()
    assert len(ears.rebuilt) == 2


async def test_a_dead_watching_thread_is_replaced(ears, workspace):
    """An emitter that died is noticed although the observer says that it lives (WA-1, WA-12)."""
    for emitter in list(ears.watcher._observer.emitters):
        emitter.stop()
        await asyncio.to_thread(emitter.join)
    assert not ears.watcher.is_alive

    await ears.watcher.check()

    assert ears.watcher.is_alive
    (workspace / NOTE).write_text("- new\n")
    await ears.hears(lambda heard: NOTE in heard.paths)


@pytest.mark.parametrize(
    ("number", "sysctl"), [(errno.EMFILE, "max_user_instances"), (errno.ENOSPC, "max_user_watches")]
)
async def test_used_up_limits_give_one_warning_and_polling(workspace, number, sysctl, caplog):
    """The warning names the sysctl; the watcher is tried again an hour later, not each tick (WA-6, WA-13)."""
    attempts = []

    def refused():
        attempts.append(1)
        raise OSError(number, "limit reached")

    ears = Ears(workspace, observer=refused)
    await ears.watcher.start()
    for _ in range(10):
        ears.clock.advance(5)
        await ears.watcher.check()
    assert ears.watcher.state == "polling"
    assert ears.watcher.warning is not None
    assert sysctl in ears.watcher.warning[2]
    assert len(attempts) == 1

    ears.clock.advance(3600)
    await ears.watcher.check()
    assert len(attempts) == 2
    assert len([each for each in caplog.records if each.levelno == logging.WARNING]) == 1
    await ears.watcher.stop()


async def test_a_failing_watcher_is_tried_with_growing_pauses(workspace):
    """A watcher that cannot start is tried after 1, 2, 4 … 60 s."""
    attempts: list[float] = []
    clock = ManualClock()

    def refused():
        attempts.append(clock.monotonic() - 1000)
        raise OSError(errno.EIO, "broken")

    watcher = Watcher(workspace, Extra(), lambda _: None, lambda _: None, clock=clock, observer=refused)
    await watcher.start()
    for _ in range(200):
        clock.advance(1)
        await watcher.check()
    assert watcher.state == "degraded"
    assert attempts == [0, 1, 3, 7, 15, 31, 63, 123, 183]
    await watcher.stop()


async def test_a_silent_mount_is_polled_too(workspace):
    """On a network mount own saves are heard, and what others write is found by scanning."""
    ears = Ears(workspace)
    ears.watcher._silent_mount = lambda _: "nfs4"
    await ears.watcher.start()
    assert ears.watcher.state == "polling"
    assert ears.watcher.warning is not None
    assert "nfs4" in ears.watcher.warning[1]
    (workspace / NOTE).write_text("- new\n")
    await ears.hears(lambda heard: NOTE in heard.paths)
    await ears.watcher.stop()


async def test_an_error_that_watchdog_only_logs_sets_the_watching_up_again(ears):
    """After an error nobody knows which folders are still watched."""
    logging.getLogger("watchdog.observers.inotify").error("Unable to rebuild recursive inotify watches")
    await ears.watcher.check()
    assert len(ears.rebuilt) == 1
    await ears.watcher.check()
    assert len(ears.rebuilt) == 1


async def test_lost_events_lead_to_a_look_at_everything(ears):
    """When the kernel drops events, watchdog only logs; that log line is heard (WA-11)."""
    logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed; filesystem events were lost")
    assert (await ears.hears(lambda heard: heard.everything)).everything


async def test_a_full_queue_is_dropped_for_a_look_at_everything(workspace, monkeypatch):
    """More paths than the queue holds become one scan, not a growing queue."""
    monkeypatch.setattr("memoryd.daemon.inbox.QUEUE_LIMIT", 10)
    ears = Ears(workspace)
    await ears.watcher.start()
    for number in range(30):  # the loop does not turn meanwhile
        ears.watcher._inbox._put(f"memory/{number}.md")
    heard = await ears.hears(lambda heard: heard.everything)
    assert len(heard.paths) == 10
    await ears.watcher.stop()


async def test_a_linked_memory_folder_is_watched_at_its_target(tmp_path):
    """A vault elsewhere, linked as memory/, is heard under its name in the workspace (WA-9)."""
    (tmp_path / "w").mkdir()
    (tmp_path / "vault").mkdir()
    (tmp_path / "w/memory").symlink_to(tmp_path / "vault")
    ears = Ears(tmp_path / "w")
    await ears.watcher.start()
    (tmp_path / "vault/2026-02-13.md").write_text("- new\n")
    await ears.hears(lambda heard: NOTE in heard.paths)
    await ears.watcher.stop()


async def test_folders_of_notes_extra_are_watched_from_the_moment_they_are_set(ears, workspace):
    """New globs take effect on reload."""
    (workspace / "journals").mkdir()
    await ears.watcher.watch(Extra.of(["journals/*.md"]))
    assert len(ears.rebuilt) == 1

    (workspace / "journals/2026_02_13.md").write_text("- new\n")
    await ears.hears(lambda heard: "journals/2026_02_13.md" in heard.paths)


async def test_folders_outside_the_notes_are_not_watched(workspace):
    """Neither node_modules nor a virtual environment costs a watch (WA-7)."""
    for number in range(20):
        (workspace / f"node_modules/{number}").mkdir(parents=True)
    ears = Ears(workspace)
    await ears.watcher.start()
    watched = {(each.watch.path, each.watch.is_recursive) for each in ears.watcher._observer.emitters}
    assert watched == {(str(workspace), False), (str(workspace / "memory"), True)}
    await ears.watcher.stop()


def watches(ears: Ears) -> int:
    """How many folders the kernel watches for this watcher (proc(5), fdinfo)."""
    (reader,) = {emitter._inotify_fd for emitter in ears.watcher._observer.emitters}
    return Path(f"/proc/self/fdinfo/{reader._inotify_fd}").read_text().count("inotify wd:")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere one stream covers all folders")
async def test_hidden_folders_and_those_of_tools_cost_no_watch(workspace):
    """A version control inside the notes, or packages below a wildcard from the root, are left alone (WA-7)."""
    for number in range(20):
        (workspace / f"memory/.git/objects/{number:02}").mkdir(parents=True)
        (workspace / f"node_modules/{number}").mkdir(parents=True)
    (workspace / "projects/kestrel").mkdir(parents=True)
    ears = Ears(workspace, ("**/log.md",))
    await ears.watcher.start()
    try:
        assert watches(ears) == 4  # the workspace, memory, projects, projects/kestrel

        (workspace / "memory/.cache/deep").mkdir(parents=True)
        (workspace / "memory/robin").mkdir()
        await ears.hears(lambda heard: heard.everything)  # the watch is added before the event is told
        assert watches(ears) == 5
    finally:
        await ears.watcher.stop()


async def test_a_wildcard_from_the_workspace_is_heard_at_any_depth(workspace):
    """What notes.extra takes by `**` is heard like a daily note, in folders that are made later too."""
    (workspace / "projects/kestrel").mkdir(parents=True)
    ears = Ears(workspace, ("**/log.md",))
    await ears.watcher.start()
    try:
        (workspace / "projects/kestrel/log.md").write_text("- one\n")
        await ears.hears(lambda heard: "projects/kestrel/log.md" in heard.paths)
        (workspace / "later/on").mkdir(parents=True)
        await ears.hears(lambda heard: heard.everything)
        (workspace / "later/on/log.md").write_text("- two\n")
        (workspace / "later/on/other.md").write_text("- none of ours\n")
        (workspace / NOTE).write_text("- three\n")
        heard = await ears.hears(lambda heard: NOTE in heard.paths)
        assert heard.paths == {"projects/kestrel/log.md", "later/on/log.md", NOTE}
    finally:
        await ears.watcher.stop()

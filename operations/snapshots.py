"""Local snapshots: a compact, checked copy of the database, daily where there is no cloud (docs/sync.md)."""

import asyncio
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ..clock import Clock
from ..crash import crash_point
from ..places import Places
from ..store import Store
from ..store.forget import DUTY_COPIES
from ..store.thread import Priority, StoreThread
from ..store.upkeep import copy

KEPT = 2
"""How many snapshots stay."""
_NAME = re.compile(r"memory-(\d{8}T\d{6})Z\.db\Z")
_FORMAT = "%Y%m%dT%H%M%S"


def snapshots(places: Places) -> list[Path]:
    """All snapshots, the newest first."""
    folder = places.state / "snapshots"
    try:
        return sorted((path for path in folder.iterdir() if _NAME.match(path.name)), reverse=True)
    except FileNotFoundError:
        return []


def taken_at(snapshot: Path) -> int:
    """When a snapshot was taken [ms]; its name says it."""
    match = _NAME.match(snapshot.name)
    assert match is not None, "only files whose name fits are snapshots"
    return int(datetime.strptime(match[1], _FORMAT).replace(tzinfo=UTC).timestamp() * 1000)


def copies_wait(store: Store) -> bool:
    """Whether something was erased that older copies of the database still hold."""
    return bool(store.execute("SELECT 1 FROM duties WHERE kind = ?", (DUTY_COPIES,)))


def copies_done(store: Store) -> None:
    """No copy holds it any more."""
    with store.transaction() as tx:
        tx.run("DELETE FROM duties WHERE kind = ?", (DUTY_COPIES,))


class SnapshotKeeper:
    """Takes snapshots and lets the oldest go. The copying itself is done by another process."""

    def __init__(self, places: Places, clock: Clock) -> None:
        self._places, self._clock = places, clock
        self._lock, self._renewing = asyncio.Lock(), asyncio.Lock()
        self.problem = ""
        """Why the last one failed; '' after one that went well."""

    @property
    def last_ms(self) -> int:
        """When the newest snapshot was taken [ms], 0 when there is none."""
        found = snapshots(self._places)
        return taken_at(found[0]) if found else 0

    async def take(self, kept: int = KEPT) -> None:
        """Take one now and keep the newest `kept`; raises `StoreError`, and then all stay as they were."""
        async with self._lock:
            try:
                await asyncio.to_thread(self._take, kept)
            except BaseException as error:
                self.problem = str(error) or type(error).__name__
                raise
            self.problem = ""

    async def renew(self) -> None:
        """After something was forgotten: whatever holds it still goes, or is replaced by a copy that does not."""
        for old in self._places.state.glob(f"{self._places.database.name}.before-*"):
            self._remove(old)
        if snapshots(self._places):
            await self.take(kept=1)

    async def renew_if_due(self, thread: StoreThread) -> None:
        """Something was erased: snapshots that hold it still are made anew, then the duty is done."""
        async with self._renewing:
            if await thread.call(copies_wait, priority=Priority.READ):
                await self.renew()
                await thread.call(copies_done)

    def _take(self, kept: int) -> None:
        folder = self._places.state / "snapshots"
        folder.mkdir(mode=0o700, exist_ok=True)
        temporary = folder / "unfinished"
        self._remove(temporary)
        try:
            copy(self._places.database, temporary)
            for ending in ("-wal", "-shm"):
                temporary.with_name(temporary.name + ending).unlink(missing_ok=True)
            stamp = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC).strftime(_FORMAT)
            crash_point("snapshot checked")
            temporary.replace(folder / f"memory-{stamp}Z.db")
        finally:
            self._remove(temporary)
        for old in snapshots(self._places)[kept:]:
            self._remove(old)

    def _remove(self, path: Path) -> None:
        for ending in ("", "-wal", "-shm", "-journal"):
            with suppress(FileNotFoundError):
                path.with_name(path.name + ending).unlink()

"""The one thread that touches the database, so that a loop can wait for it without standing still."""

import asyncio
import contextlib
import enum
import queue
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..errors import StoreDamagedError, StoreError
from .adapter import CACHE_KIB, WAL_PAGES
from .store import Store

T = TypeVar("T")

_USUAL = (CACHE_KIB, WAL_PAGES)
_ROOMY = (16_000, 4_000)
_ALONE = (64_000, 16_000)
"""Memory [KiB] and pages of the log, of 4 KiB each: as ever, for long work of the daemon, and for a command alone."""


class Priority(enum.IntEnum):
    """Which waiting call goes first: a person's question, then a change, then bulk work."""

    READ = 0
    WRITE = 1
    BULK = 2
    LAST = 9


@dataclass(order=True)
class _Job:
    priority: int
    number: int
    work: Callable[[Store], Any] = field(compare=False)
    future: "asyncio.Future[Any]" = field(compare=False)


class StoreThread:
    """Runs functions of the store one after another in a thread of its own.

    The library holds the GIL during every call, so a call is kept short (≤ 50 ms) and long work is
    cut into several; between two calls the loop breathes and waiting reads go first. Only a command that is `alone`
    works in calls of seconds.
    """

    def __init__(self, open_store: Callable[[], Store]) -> None:
        self._open_store = open_store
        self._jobs: queue.PriorityQueue[_Job] = queue.PriorityQueue()
        self._numbers = iter(range(1, 1 << 62))
        self._thread: threading.Thread | None = None
        self._ended = False
        self.finished = 0
        """How many calls ended; the daemon's watchdog looks whether it moves while calls wait."""
        self._wishes: list[tuple[int, int]] = []
        """The room that each long work asks for which goes on; they need not end in the order in which they began."""
        self._room = _USUAL
        self.damage: StoreDamagedError | None = None
        """The first error that says that the file is damaged: it has to be looked at, and nothing else helps."""

    @property
    def alone(self) -> bool:
        """Whether nobody asks anything meanwhile: a call may take seconds."""
        return self._room == _ALONE

    @property
    def waiting(self) -> int:
        """How many calls wait or run."""
        return self._jobs.unfinished_tasks

    async def start(self) -> None:
        """Open the store in the thread; raises what opening raises."""
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._thread = threading.Thread(target=self._main, args=(opened,), name="memoryd-store", daemon=True)
        self._thread.start()
        await opened

    async def call(self, work: Callable[[Store], T], *, priority: Priority = Priority.WRITE) -> T:
        """Run `work(store)` in the thread and return its result, or raise what it raised; `StoreError` if closed."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.put(_Job(priority, next(self._numbers), work, future))
        if self._ended:
            self._refuse_all()
        return await future

    @asynccontextmanager
    async def roomy(self, *, alone: bool = False) -> AsyncIterator[None]:
        """Keep more of the file in memory meanwhile, for work in large transactions; the more where it is `alone`.

        The ids of facts are hashes: a batch touches a thousand pages, and those that do not fit are written twice.
        """
        wish = _ALONE if alone else _ROOMY
        self._wishes.append(wish)
        try:
            await self._make_room()
            yield
        finally:
            self._wishes.remove(wish)
            await self._make_room()

    async def close(self) -> None:
        """Finish what waits, then close the store and end the thread."""
        if self._thread is None:
            return
        await self.call(lambda store: store.close(), priority=Priority.LAST)
        thread, self._thread = self._thread, None
        await asyncio.to_thread(thread.join)

    async def _make_room(self) -> None:
        self._room = room = max(self._wishes, default=_USUAL)
        await self.call(lambda store: store.db.keep_pages(*room))

    def _main(self, opened: "asyncio.Future[None]") -> None:
        try:
            store = self._open_store()
        except BaseException as error:  # noqa: BLE001 - handed to the one who asked
            _answer(opened, error=error)
            return
        _answer(opened)
        while not store.db.closed:
            job = self._jobs.get()
            result, failure = None, None
            if not job.future.cancelled():
                try:
                    result = job.work(store)
                except BaseException as error:  # noqa: BLE001 - handed to the one who asked
                    failure = error
            if isinstance(failure, StoreDamagedError):
                self.damage = self.damage or failure
            self.finished += 1
            self._jobs.task_done()
            _answer(job.future, result, failure)
        self._ended = True
        self._refuse_all()

    def _refuse_all(self) -> None:
        """Nobody works any more: whoever came too late is told, whichever thread sees it first."""
        with contextlib.suppress(queue.Empty):
            while True:
                job = self._jobs.get_nowait()
                self._jobs.task_done()
                _answer(job.future, error=StoreError("The store is closed.", "memoryd is ending; start it again."))


def _answer(future: "asyncio.Future[Any]", result: Any = None, error: BaseException | None = None) -> None:
    def settle() -> None:
        if future.done():  # cancelled meanwhile
            return
        if isinstance(error, StopIteration):  # which no future takes: whoever asked would wait for ever
            future.set_exception(RuntimeError(f"{type(error).__name__} in the store's thread"))
        elif error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)

    loop = future.get_loop()
    if not loop.is_closed():
        loop.call_soon_threadsafe(settle)

"""The cloud's side of the daemon: one exchange after another, with backoff, and a status that never lies."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_never

from ..clock import Clock, day_start_ms
from ..config import Settings
from ..errors import MemorydError, place_of
from ..store import Store
from ..store.fold import drop_received_chunks
from ..store.log import count_unsent
from ..store.sent import CLOUD, bytes_since, cursors, memory_hash
from ..store.thread import Priority, StoreThread
from .exchange import Exchange, Exchanger, add_duties
from .hrana import CloudClient
from .picture import Critical, count_undrawn
from .pull import Progress
from .seal import KeyRing
from .status import Drilled, last_drill
from .waits import Schedule, WaitAfterFailure
from .wire import key_id_of


class SyncService:
    """Keeps this device's memory in step with the cloud: when an exchange is due, and what became of it.

    What is given for the exchange itself stands at `Exchanger`.
    """

    def __init__(
        self,
        thread: StoreThread,
        client: CloudClient,
        settings: Settings,
        clock: Clock,
        *,
        settle: Callable[[], Awaitable[None]],
        critical: Critical,
        on_new_device: Callable[[str], Awaitable[None]] | None = None,
        on_reread: Callable[[list[str]], Awaitable[Any]] | None = None,
        keys: KeyRing | None = None,
        load_keys: Callable[[], KeyRing] = KeyRing,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        log: logging.Logger | None = None,
    ) -> None:
        self.thread, self.client, self.clock = thread, client, clock
        self.settings = settings
        self.keys = keys or KeyRing()
        self._sleep = sleep
        self._log = log or logging.getLogger("memoryd.sync")
        self._told = ""
        """The failure that the log told of last; '' when all is well."""
        self._exchanger = Exchanger(
            thread, client, settings.cloud, clock, settle=settle, critical=critical, on_new_device=on_new_device,
            on_reread=on_reread, keys=self.keys, load_keys=load_keys, log=self._log,
        )  # fmt: skip
        self.status = self._exchanger.status
        self._schedule = Schedule()
        self._wake = asyncio.Event()
        self._lock = asyncio.Lock()
        self._counting: asyncio.Task[None] | None = None
        self.busy_since: float | None = None
        """Monotonic time at which the running exchange began; None when none runs."""

    @property
    def progress(self) -> int:
        """Grows while the cloud answers or fails; an exchange during which it stands still hangs."""
        return self.client.ended

    @property
    def last_seen(self) -> dict[str, float]:
        """When each device last sent something, by the cloud's clock [epoch seconds]."""
        return self._exchanger.last_seen

    async def took_new_id(self, new: str, former: str, reason: str) -> None:
        """Tell of a new device id that this device has taken."""
        await self._exchanger.took_new_id(new, former, reason)

    def changed(self) -> None:
        """Something was written here: it is sent after 2 s of quiet, 30 s at most."""
        if self._exchanger.settling:
            return  # our own settling after a pull; what it leaves unsent is counted at the end of the exchange
        self._schedule.changed(self.clock.monotonic())
        self._wake.set()
        if self._counting is None or self._counting.done():
            self._counting = asyncio.get_running_loop().create_task(self.count())

    async def count(self) -> None:
        """Bring the numbers of `status` up to date; the cloud is not asked."""
        today = day_start_ms(self.clock.today())

        def read(store: Store) -> tuple[int, int, int, str, dict[str, str], Drilled | None]:
            faults = {each.device: each.fault for each in cursors(store) if each.fault}
            undrawn = 0 if key_id_of(store.meta(CLOUD)) else count_undrawn(store)
            sent_today = bytes_since(store, today)
            return count_unsent(store), undrawn, sent_today, memory_hash(store), faults, last_drill(store)

        unsent, undrawn, sent_today, heads, faults, drilled = await self.thread.call(read, priority=Priority.READ)
        status = self.status
        status.pending_rows, status.picture_pending, status.bytes_today = unsent, undrawn, sent_today
        status.memory_hash = None if unsent else heads
        status.last_drill = drilled
        status.faults = faults

    async def run(self) -> None:
        """Exchange on change and by schedule until cancelled; errors become states and are tried again."""
        await self.thread.call(_tidy)  # what a restore left that was cut off
        await self.count()
        while True:
            async for attempt in AsyncRetrying(
                retry=retry_if_exception_type(Exception),
                wait=WaitAfterFailure(),
                stop=stop_never,
                sleep=self._pause,
                before_sleep=self._before_sleep,
            ):
                with attempt:
                    await self._exchange(retry_faults=False)
            await self._until_due()

    async def exchange(self) -> Exchange:
        """One whole pull, push and picture now; raises what went wrong. A waiting `run` stops waiting."""
        done = await self._exchange(retry_faults=True)
        self._wake.set()
        return done

    async def pull(
        self, *, keep_chunks: bool = False, settle: bool = True, on_rows: Progress = lambda _: None
    ) -> Exchange:
        """Only fold what the others sent; raises what went wrong. The state of `status` stays as it was.

        A restore keeps the chunks, and settles by itself when the notes are in.
        """
        async with self._lock:
            done = await self._exchanger.pull(keep_chunks=keep_chunks, settle=settle, on_rows=on_rows)
            await self.count()
            return done

    async def answer_damage(self, devices: Collection[str]) -> None:
        """Logs with damaged segments: ours, and those we look after, are written anew with the next exchange."""
        if devices:
            await self.thread.call(partial(add_duties, devices=devices))
            self.changed()

    async def resumed(self) -> None:
        """The machine slept: connections are dead, and waiting after failures begins anew with the next `run`."""
        await self.client.reconnect()
        self.status.attempts, self.status.retry_at = 0, None

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Nobody exchanges meanwhile; the numbers of `status` are brought up to date at the end."""
        async with self._lock:
            try:
                yield
            finally:
                await self.count()

    async def last_push(self, limit_s: float) -> None:
        """Try for at most `limit_s` seconds to send what is unsent, before the daemon ends."""
        try:
            await self.count()
            if self.status.pending_rows:
                await asyncio.wait_for(self.exchange(), limit_s)
        except (TimeoutError, MemorydError) as error:
            self._log.info("the last push was not finished: %s", error)

    async def close(self) -> None:
        """Close the connections."""
        if self._counting is not None:
            self._counting.cancel()
            await asyncio.gather(self._counting, return_exceptions=True)
        await self.client.close()

    # ---- one exchange ----------------------------------------------------------------------------------

    async def _exchange(self, *, retry_faults: bool) -> Exchange:
        async with self._lock:
            self._schedule.started()
            self.busy_since = self.clock.monotonic()
            try:
                done = await self._exchanger.exchange(retry_faults=retry_faults)
            except MemorydError as error:
                self._failed(error)
                raise
            finally:
                self.busy_since = None
                await self.count()
            self._succeeded(done)
            return done

    # ---- states and pauses -----------------------------------------------------------------------------

    def _succeeded(self, done: Exchange) -> None:
        status = self.status
        if self._told:
            self._told = ""
            self._log.info("the exchange with the cloud works again")
        status.problem, status.attempts, status.retry_at = None, 0, None
        status.last_ok_at = self.clock.now_ms() / 1000
        now = self.clock.monotonic()
        self._schedule.exchanged(now, busy=bool(done.pushed or done.pulled))
        if status.pending_rows:
            self._schedule.changed(now)

    def _failed(self, error: MemorydError) -> None:
        self.status.problem = error
        self.status.attempts += 1

    def _tell(self, level: int, complaint: str) -> None:
        """Log a failure once, not with each try: a cloud may be away for weeks."""
        if complaint != self._told:
            self._told = complaint
            self._log.log(level, "%s", complaint)

    async def _before_sleep(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, MemorydError):
            self._tell(logging.WARNING, error.message)
        else:
            # Not the message: it may hold words of a note.
            self._tell(logging.ERROR, f"an exchange failed unexpectedly: {place_of(error) if error else ''}")
            self._failed(MemorydError("An exchange with the cloud failed unexpectedly.", "See the log."))
        pause = state.next_action.sleep if state.next_action else 0.0
        self.status.retry_at = self.clock.monotonic() + pause

    async def _pause(self, seconds: float) -> None:
        """Wait between failed tries; changes do not shorten it, an exchange that somebody asked for does."""
        end = self.clock.monotonic() + seconds
        while (left := end - self.clock.monotonic()) > 0 and self.status.problem is not None:
            await self._wait(left)
        self.status.retry_at = None

    async def _until_due(self) -> None:
        while (left := self._schedule.due_in(self.clock.monotonic())) > 0:
            await self._wait(left)

    async def _wait(self, seconds: float) -> None:
        """Sleep, or less if `_wake` is set."""
        self._wake.clear()
        tasks = [asyncio.ensure_future(self._sleep(seconds)), asyncio.ensure_future(self._wake.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _tidy(store: Store) -> None:
    with store.transaction() as tx:
        drop_received_chunks(tx)

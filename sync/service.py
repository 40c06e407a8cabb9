"""The cloud's side of the daemon: one exchange after another, with backoff, and a status that never lies."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import msgspec
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_never

from ..clock import Clock, day_start_ms
from ..config import Settings
from ..crash import crash_point
from ..errors import CloudStoppedError, MemorydError, place_of
from ..store import Store
from ..store.fold import drop_received_chunks
from ..store.forget import DUTY_SNAPSHOT, add_duty
from ..store.log import count_unsent, predecessors
from ..store.rekey import successor_of_this, take_new_id
from ..store.sent import CLOUD, SentSegment, bytes_since, confirm, cursors, memory_hash, receipts
from ..store.thread import Priority, StoreThread
from .cloud import CloudState, read_cloud
from .heads import SET_BACK_HINT, Verdict, check_other_heads, judge_own_head
from .hrana import CloudClient
from .inherit import Executor, inherited_duties
from .keeping import LogKeeper
from .picture import Critical, Picture, count_undrawn, outlast_lost_drawing
from .pull import Progress, Pulled, Puller
from .push import HeadMovedError, Pusher, remember_cloud
from .seal import KeyRing
from .snapshot import has_duty, write_snapshot
from .status import Drilled, SyncStatus, last_drill
from .waits import Schedule, WaitAfterFailure
from .wire import check_cloud, key_id_of

_MAX_ROUNDS = 5
"""How often one exchange looks again after its head moved or its id changed."""


class Exchange(msgspec.Struct):
    """What one exchange did: rows sent and rows folded; `reread` are own notes to ingest again."""

    pushed: int
    pulled: int
    drawn: int = 0
    reread: list[str] = []


class SyncService:
    """Keeps this device's memory in step with the cloud.

    `settle` brings derived values up to date after a pull; `critical` gives an agent's critical state; `load_keys`
    is asked, beside the loop, for a key of the cloud that `keys` lacks; `on_new_device` is awaited with a new
    device id, `on_reread` with notes that have to be ingested again.
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
        self.status = SyncStatus()
        self.last_seen: dict[str, float] = {}
        """When each device last sent something, by the cloud's clock [epoch seconds]."""
        self.thread = thread
        self.client = client
        self.settings = settings
        self.clock = clock
        self._settle = settle
        self._on_new_device = on_new_device
        self._on_reread = on_reread
        self._sleep = sleep
        self._log = log or logging.getLogger("memoryd.sync")
        self._told = ""
        """The failure that the log told of last; '' when all is well."""
        self.keys = keys or KeyRing()
        self._load_keys = load_keys
        self._pusher = Pusher(thread, client, self.keys)
        self._puller = Puller(thread, client, keys=self.keys)
        self._executor = Executor(thread, client, self.keys, clock)
        self._keeper = LogKeeper(thread, client, self._pusher, settings.cloud, clock)
        self._picture = Picture(thread, client, clock, critical)
        self._schedule = Schedule()
        self._wake = asyncio.Event()
        self._lock = asyncio.Lock()
        self._settling = False
        self._counting: asyncio.Task[None] | None = None
        self.busy_since: float | None = None
        """Monotonic time at which the running exchange began; None when none runs."""

    @property
    def progress(self) -> int:
        """Grows while the cloud answers or fails; an exchange during which it stands still hangs."""
        return self.client.ended

    def changed(self) -> None:
        """Something was written here: it is sent after 2 s of quiet, 30 s at most."""
        if self._settling:
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
            done = Exchange(0, 0)
            puller = Puller(self.thread, self.client, keys=self.keys, keep_chunks=True) if keep_chunks else self._puller
            for _ in range(_MAX_ROUNDS):
                state, pulled = await self._look(puller, on_rows=on_rows)
                done.pulled += pulled.rows
                if settle:
                    await self._digest(pulled, done)
                if state is not None:
                    break
            await self.count()
            return done

    async def answer_damage(self, devices: Collection[str]) -> None:
        """Logs with damaged segments: ours, and those we look after, are written anew with the next exchange."""
        if devices:
            await self.thread.call(partial(_add_duties, devices=devices))
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
                done = await self._try_exchange(retry_faults=retry_faults)
            except MemorydError as error:
                self._failed(error)
                raise
            finally:
                self.busy_since = None
                await self.count()
            self._succeeded(done)
            return done

    async def _try_exchange(self, *, retry_faults: bool) -> Exchange:
        done = Exchange(0, 0)
        for _ in range(_MAX_ROUNDS):
            state, pulled = await self._look(self._puller, retry_faults=retry_faults)
            done.pulled += pulled.rows
            await self._digest(pulled, done)
            if state is None:
                continue  # under a new id from here on
            try:
                if await self._look_after_inherited(state):
                    continue  # fold what was written anew
                await self.thread.call(outlast_lost_drawing)
                done.pushed += await self._send()
                if done.pushed:
                    await self._keeper.keep()
                self.status.as_of_reaches = await self._keeper.reach() / 1000 or None
                cloud = await self.thread.call(lambda store: store.meta(CLOUD), priority=Priority.READ)
                if cloud and not key_id_of(cloud):
                    done.drawn += await self._picture.draw()
            except HeadMovedError:
                continue  # a lost reply, a late request or a fork: the next look tells
            return done
        raise MemorydError("This device's log in the cloud keeps moving.", "Look for a copy of this device.")

    async def _look(
        self, puller: Puller, *, retry_faults: bool = True, on_rows: Progress = lambda _: None
    ) -> tuple[CloudState | None, Pulled]:
        """Check the cloud and fold what is new; no state when this device has taken a new id and must look again."""
        state = await read_cloud(self.client)
        self.last_seen = {each.device: each.at / 1000 for each in state.heads.values()}
        known = await self.thread.call(lambda store: store.meta(CLOUD), priority=Priority.READ)
        if not state.value and not known:
            return state, Pulled()
        await self._have_key(key_id_of(state.value))
        check_cloud(state.value, known, self.keys)
        if state.value != known:
            await self.thread.call(lambda store: remember_cloud(store, state.value))
        if await self._is_forked(state):
            return None, Pulled()
        check_other_heads(state.heads, await self.thread.call(cursors, priority=Priority.READ))
        pulled = await puller.pull(state, on_rows, retry_faults=retry_faults)
        if successor := await self.thread.call(successor_of_this, priority=Priority.READ):
            await self._take_new_id(f"device {successor} took over from this one")
            return None, pulled
        return state, pulled

    async def _have_key(self, key_id: str) -> None:
        """Look for a key that this device lacks where keys are kept: the keyring may have come up since."""
        if key_id and key_id not in self.keys:
            for key in (await asyncio.to_thread(self._load_keys)).keys:
                if key.id not in self.keys:
                    self.keys.add(key)

    async def _is_forked(self, state: CloudState) -> bool:
        device, sent = await self.thread.call(lambda store: (store.device, receipts(store)), priority=Priority.READ)
        verdict, receipt = judge_own_head(state.heads.get(device), sent)
        if verdict is Verdict.SET_BACK:
            raise CloudStoppedError("The cloud was set back: it lost segments of this device.", SET_BACK_HINT)
        if verdict is Verdict.FORK:
            await self._take_new_id("another machine writes under this device's id")
            return True
        if verdict is Verdict.CONFIRM and receipt is not None:
            await self.thread.call(lambda store: _confirm(store, receipt))
        await self._have_all_sealed(state)
        return False

    async def _have_all_sealed(self, state: CloudState) -> None:
        """Our log, and those we look after, are written anew until they are encrypted with the cloud's key."""
        key = key_id_of(state.value)
        plain = sorted(each.device for each in state.heads.values() if key and each.key_id != key)
        self.status.plain_logs = plain
        if plain:
            await self.thread.call(partial(_add_duties, devices=plain))

    async def _look_after_inherited(self, state: CloudState) -> bool:
        rewritten = False
        for device in await self.thread.call(inherited_duties, priority=Priority.READ):
            rewritten = await self._executor.look_into(device, state.heads.get(device)) or rewritten
        return rewritten

    async def _digest(self, pulled: Pulled, done: Exchange) -> None:
        if pulled.rows:
            self._settling = True
            try:
                await self._settle()
            finally:
                self._settling = False
        if pulled.reread:
            done.reread.extend(pulled.reread)
            if self._on_reread is not None:
                await self._on_reread(pulled.reread)

    async def _take_new_id(self, reason: str) -> None:
        new, former = await self.thread.call(take_new_id)
        crash_point("new id")
        await self.took_new_id(new, former, reason)

    async def took_new_id(self, new: str, former: str, reason: str) -> None:
        """Say so: in the log, in `status`, and to whoever keeps the id beside the database."""
        notice = f"This device is now {new}, it was {former}: {reason}."
        self._log.warning("%s", notice)
        self.status.notices = [*self.status.notices, notice]
        if self._on_new_device is not None:
            await self._on_new_device(new)

    async def _send(self) -> int:
        if await has_duty(self.thread):
            return await write_snapshot(self.thread, self._pusher)
        if not await self.thread.call(count_unsent, priority=Priority.READ):
            return 0
        return await self._pusher.push()

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


def _add_duties(store: Store, devices: Collection[str]) -> None:
    with store.transaction() as tx:
        for device in {store.device, *predecessors(store)} & set(devices):
            add_duty(tx, DUTY_SNAPSHOT, "" if device == store.device else device)


def _confirm(store: Store, receipt: SentSegment) -> None:
    with store.transaction() as tx:
        confirm(tx, receipt)

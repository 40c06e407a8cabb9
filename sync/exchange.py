"""One exchange with the cloud: look, fold what is new, look after inherited logs, send, draw the picture."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import Any

import msgspec

from ..clock import Clock
from ..config import CloudSettings
from ..crash import crash_point
from ..errors import CloudStoppedError, MemorydError
from ..store import Store
from ..store.forget import DUTY_SNAPSHOT, add_duty
from ..store.log import count_unsent, predecessors
from ..store.rekey import successor_of_this, take_new_id
from ..store.sent import CLOUD, SentSegment, confirm, cursors, receipts
from ..store.thread import Priority, StoreThread
from .cloud import CloudState, read_cloud
from .heads import SET_BACK_HINT, Verdict, check_other_heads, judge_own_head
from .hrana import CloudClient
from .inherit import Executor, inherited_duties
from .keeping import LogKeeper
from .picture import Critical, Picture, outlast_lost_drawing
from .pull import Progress, Pulled, Puller
from .push import HeadMovedError, Pusher, remember_cloud
from .seal import KeyRing
from .snapshot import has_duty, write_snapshot
from .status import SyncStatus
from .wire import check_cloud, key_id_of

_MAX_ROUNDS = 5
"""How often one exchange looks again after its head moved or its id changed."""


class Exchange(msgspec.Struct):
    """What one exchange did: rows sent and rows folded; `reread` are own notes to ingest again."""

    pushed: int
    pulled: int
    drawn: int = 0
    reread: list[str] = []


class Exchanger:
    """Does one exchange after another, never two at once: whoever calls sees to that. Fills what `status` knows.

    `settle` brings derived values up to date after a pull; `critical` gives an agent's critical state; `load_keys`
    is asked, beside the loop, for a key of the cloud that `keys` lacks; `on_new_device` is awaited with a new
    device id, `on_reread` with notes that have to be ingested again.
    """

    def __init__(
        self,
        thread: StoreThread,
        client: CloudClient,
        settings: CloudSettings,
        clock: Clock,
        *,
        settle: Callable[[], Awaitable[None]],
        critical: Critical,
        on_new_device: Callable[[str], Awaitable[None]] | None,
        on_reread: Callable[[list[str]], Awaitable[Any]] | None,
        keys: KeyRing,
        load_keys: Callable[[], KeyRing],
        log: logging.Logger,
    ) -> None:
        self.status = SyncStatus()
        self.last_seen: dict[str, float] = {}
        """When each device last sent something, by the cloud's clock [epoch seconds]."""
        self.settling = False
        """Whether derived values are brought up to date after a pull at this moment."""
        self.thread, self.client, self.keys = thread, client, keys
        self._settle, self._on_new_device, self._on_reread = settle, on_new_device, on_reread
        self._load_keys, self._log = load_keys, log
        self._pusher = Pusher(thread, client, keys)
        self._puller = Puller(thread, client, keys=keys)
        self._executor = Executor(thread, client, keys, clock)
        self._keeper = LogKeeper(thread, client, self._pusher, settings, clock)
        self._picture = Picture(thread, client, clock, critical)

    async def exchange(self, *, retry_faults: bool) -> Exchange:
        """One whole pull, push and picture; raises what went wrong."""
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

    async def pull(self, *, keep_chunks: bool, settle: bool, on_rows: Progress) -> Exchange:
        """Only fold what the others sent. Whoever keeps the chunks has a puller of their own."""
        done = Exchange(0, 0)
        puller = Puller(self.thread, self.client, keys=self.keys, keep_chunks=True) if keep_chunks else self._puller
        for _ in range(_MAX_ROUNDS):
            state, pulled = await self._look(puller, on_rows=on_rows)
            done.pulled += pulled.rows
            if settle:
                await self._digest(pulled, done)
            if state is not None:
                break
        return done

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
            await self.thread.call(partial(add_duties, devices=plain))

    async def _look_after_inherited(self, state: CloudState) -> bool:
        rewritten = False
        for device in await self.thread.call(inherited_duties, priority=Priority.READ):
            rewritten = await self._executor.look_into(device, state.heads.get(device)) or rewritten
        return rewritten

    async def _digest(self, pulled: Pulled, done: Exchange) -> None:
        if pulled.rows:
            self.settling = True
            try:
                await self._settle()
            finally:
                self.settling = False
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


def add_duties(store: Store, devices: Collection[str]) -> None:
    """Those of `devices` that are this one, or were lost and followed by it, get their logs written anew."""
    with store.transaction() as tx:
        for device in {store.device, *predecessors(store)} & set(devices):
            add_duty(tx, DUTY_SNAPSHOT, "" if device == store.device else device)


def _confirm(store: Store, receipt: SentSegment) -> None:
    with store.transaction() as tx:
        confirm(tx, receipt)

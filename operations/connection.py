"""The cloud of a memory: what the push and pull of the sync room ask of the rest."""

import asyncio
from collections.abc import Iterable
from typing import Any, Protocol

from ..clock import Clock
from ..config import Settings
from ..places import Places
from ..store import Store
from ..store.thread import StoreThread
from ..sync.hrana import CloudClient
from ..sync.key_store import KeyStore
from ..sync.service import SyncService
from .critical import critical_state
from .forgotten_words import FreeText
from .intake import Intake
from .opening import keys_at_start, write_device_file


class Connecting(Protocol):
    """As much of a memory as its cloud deals with."""

    places: Places
    settings: Settings
    clock: Clock
    thread: StoreThread
    intake: Intake
    free_text: FreeText
    device: str

    async def settle(self) -> None:
        """Bring what is derived in step with the rows."""


async def connected(memory: Connecting, url: str, token: str) -> SyncService:
    """The service that exchanges with the cloud at `url`; nothing is asked of it yet."""
    store = KeyStore(memory.places.state, in_keyring=memory.settings.sync.key_store == "keyring")

    async def settle() -> None:
        memory.free_text.due = True  # other devices wrote it
        await memory.settle()

    def critical(store: Store, agent: str) -> dict[str, Any]:
        return critical_state(store, agent, memory.clock, memory.settings)

    async def take_device(device: str) -> None:
        memory.device = device
        await asyncio.to_thread(write_device_file, memory.places, device)

    async def read_again(paths: Iterable[str]) -> None:
        await memory.intake.read_again(paths)
        await memory.settle()

    return SyncService(
        memory.thread,
        CloudClient(url, token),
        memory.settings,
        memory.clock,
        settle=settle,
        critical=critical,
        on_new_device=take_device,
        on_reread=read_again,
        keys=await keys_at_start(store),
        load_keys=store.load,
    )

"""`sync`: push to and pull from the cloud."""

import asyncio

from ..errors import ConfigError, UnavailableError
from ..sync.service import SyncService
from .memory import Memory
from .replies import SyncReply
from .requests import SyncRequest


async def sync(memory: Memory, request: SyncRequest) -> SyncReply:
    """Exchange with the cloud; with `wait`, take in all notes first and return when all is confirmed."""
    service = the_cloud(memory)
    if memory.resident and not request.wait:
        service.changed()
        return SyncReply("started", 0, 0)
    try:
        async with asyncio.timeout(request.timeout):
            if request.wait:
                await memory.rescan()
            exchange = await service.exchange()
    except TimeoutError:
        raise UnavailableError(
            f"The cloud did not confirm everything within {request.timeout:g} s.",
            "Nothing is lost: the push goes on by itself. memoryd status shows how far it is.",
        ) from None
    return SyncReply("synced" if exchange.pushed or exchange.pulled else "no_change", exchange.pushed, exchange.pulled)


def the_cloud(memory: Memory) -> SyncService:
    """The memory's cloud; raises `ConfigError` when none is configured."""
    if memory.sync is None:
        raise ConfigError(
            "No cloud is configured.", "Set TURSO_DATABASE_URL and TURSO_AUTH_TOKEN, or sync.url in config.toml."
        )
    return memory.sync

"""`sync`: push to and pull from the cloud, and what belongs to it."""

import asyncio

import msgspec

from ..errors import CloudStoppedError, ConfigError, UnavailableError, UsageError
from ..store.sent import CLOUD, all_receipts
from ..store.thread import Priority
from ..sync.exchange import Exchange
from ..sync.service import SyncService
from ..sync.stewardship import adopt, look_at_outgoing, redraw_picture
from .memory import Memory
from .replies import SyncReply
from .sync_replies import AdoptReply, DryRunReply, ReceiptInfo, ReceiptsReply
from .sync_requests import SyncRequest


async def sync(memory: Memory, request: SyncRequest) -> SyncReply | DryRunReply | ReceiptsReply | AdoptReply:
    """Exchange with the cloud; with `wait`, or without a daemon, take in all notes first; return when all is confirmed.

    `dry_run` and `receipts` only look; `redraw` and `adopt` decide something first, then exchange.
    """
    service = the_cloud(memory)
    if sum((request.dry_run, request.receipts, request.redraw, request.adopt)) > 1:
        raise UsageError("Only one of --dry-run, --receipts, --redraw and --adopt can be asked at once.")
    if request.dry_run:
        return await _dry_run(memory, service)
    if request.receipts:
        return await _receipts(memory, service)
    if memory.resident and not (request.wait or request.redraw or request.adopt):
        service.changed()
        return SyncReply("started", 0, 0)
    try:
        async with asyncio.timeout(request.timeout):
            return await _exchange(memory, service, request)
    except TimeoutError:
        goes_on = "the daemon goes on by itself: memoryd status" if memory.resident else "the next memoryd sync goes on"
        raise UnavailableError(
            f"The cloud did not confirm everything within {request.timeout:g} s.", f"Nothing is lost; {goes_on}."
        ) from None


def the_cloud(memory: Memory) -> SyncService:
    """The memory's cloud; raises `ConfigError` when none is configured."""
    if memory.sync is None:
        hint = "Set TURSO_DATABASE_URL and TURSO_AUTH_TOKEN, or sync.url in config.toml."
        if memory.resident:
            hint += " The daemon reads them when it starts, from its own environment: memoryd service stop, then start."
        raise ConfigError("No cloud is configured.", hint)
    return memory.sync


async def _exchange(memory: Memory, service: SyncService, request: SyncRequest) -> SyncReply | AdoptReply:
    if request.wait or not memory.resident:
        await memory.rescan()  # without a daemon nobody else has looked at the disk
    if request.adopt:
        return await _adopt(service)
    if request.redraw:
        await redraw_picture(service)
    done = await service.exchange()
    return SyncReply(_result(done), done.pushed, done.pulled)


async def _adopt(service: SyncService) -> AdoptReply:
    """Under a new id if the cloud is not what it was; asked again, there is nothing to accept and the id stays."""
    former, known = await service.thread.call(lambda store: (store.device, store.meta(CLOUD)), priority=Priority.READ)
    device = former
    try:
        if not known:
            await adopt(service)  # says that there is none
        done = await service.exchange()
    except CloudStoppedError:
        device, former = await adopt(service)
        done = await service.exchange()
    return AdoptReply(device, former, done.pushed, done.pulled)


def _result(done: Exchange) -> str:
    return "synced" if done.pushed or done.pulled else "no_change"


async def _dry_run(memory: Memory, service: SyncService) -> DryRunReply:
    await memory.rescan()
    return msgspec.convert(msgspec.structs.asdict(await look_at_outgoing(service)), DryRunReply)


async def _receipts(memory: Memory, service: SyncService) -> ReceiptsReply:
    await service.count()
    found = await memory.thread.call(all_receipts, priority=Priority.READ)
    shown = [ReceiptInfo(**{**msgspec.structs.asdict(each), "at": each.at / 1000}) for each in found]
    return ReceiptsReply(shown, service.status.bytes_today)

"""`devices`: who shares this memory, and taking over from one that is gone."""

from typing import Any

import msgspec

from ..errors import UnavailableError, UsageError
from ..store import Store
from ..store.rekey import take_over
from ..store.thread import Priority
from .memory import Memory
from .replies import DeviceInfo, DevicesReply
from .sync_replies import RetireReply
from .sync_requests import DevicesRequest
from .synchronise import the_cloud

_strings = msgspec.json.Decoder(list[str])


async def devices(memory: Memory, request: DevicesRequest) -> DevicesReply | RetireReply:
    """List the devices whose logs are folded here; other logs appear after the next pull. Or retire one."""
    if request.retire:
        return await _retire(memory, request.retire)
    seen = dict(memory.sync.last_seen) if memory.sync is not None else {}
    return await memory.thread.call(lambda store: _devices(store, seen), priority=Priority.READ)


async def _retire(memory: Memory, named: str) -> RetireReply:
    service = the_cloud(memory)
    retired, this = await memory.thread.call(lambda store: _take_over(store, named))
    await memory.settle()
    try:
        await service.exchange()
    except UnavailableError:
        return RetireReply(retired, this, sent=False)
    return RetireReply(retired, this, sent=True)


def _take_over(store: Store, named: str) -> tuple[str, str]:
    """Succeed the device of that id or name; raises `UsageError` unless it is exactly one other that nobody took."""
    found = _devices(store, {}).devices
    matching = [each for each in found if each.device == named] or [each for each in found if each.name == named]
    if len(matching) != 1:
        raise UsageError(f"{named!r} names no single device.", "memoryd devices lists them; give the id.")
    (device,) = matching
    if device.this:
        raise UsageError("A device cannot retire itself.", "Retire it from one that stays.")
    if device.succeeded_by:
        raise UsageError(f"Device {device.device} was taken over by {device.succeeded_by}.", "There is nothing to do.")
    with store.transaction() as tx:
        take_over(tx, [device.device])
    return device.device, store.device


def _devices(store: Store, seen: dict[str, float]) -> DevicesReply:
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT device, name, succeeds FROM devices ORDER BY created_at, device"
    )
    successor = {old: device for device, _, succeeds in rows for old in _strings.decode(succeeds)}
    return DevicesReply(
        [
            DeviceInfo(device, name, device == store.device, seen.get(device), successor.get(device))
            for device, name, _ in rows
        ]
    )

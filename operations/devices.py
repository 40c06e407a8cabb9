"""`devices`: who shares this memory."""

from typing import Any

import msgspec

from ..store import Store
from ..store.thread import Priority
from .memory import Memory
from .replies import DeviceInfo, DevicesReply
from .requests import DevicesRequest

_strings = msgspec.json.Decoder(list[str])


async def devices(memory: Memory, request: DevicesRequest) -> DevicesReply:  # noqa: ARG001 - a workspace's devices
    """List the devices whose logs are folded here; other logs appear after the next pull."""
    seen = dict(memory.sync.last_seen) if memory.sync is not None else {}
    return await memory.thread.call(lambda store: _devices(store, seen), priority=Priority.READ)


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

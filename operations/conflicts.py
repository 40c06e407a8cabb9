"""`conflicts`: notes of one path that several devices hold with different bytes; all are kept, none is merged."""

import hashlib
from itertools import groupby
from typing import Any

import msgspec

from ..store import Store
from ..store.log import with_predecessors
from ..store.thread import Priority
from .memory import Memory
from .sync_replies import Conflict, ConflictsReply, Version
from .sync_requests import ConflictsRequest

_strings = msgspec.json.Decoder(list[str])
_BOTH = (
    "SELECT n.agent_id, n.path, n.device, coalesce(d.name, ''), n.size, n.chunks FROM notes n"
    " LEFT JOIN devices d ON d.device = n.device WHERE n.deleted_at IS NULL AND EXISTS (SELECT 1 FROM notes o"
    " WHERE o.agent_id = n.agent_id AND o.path = n.path AND o.device <> n.device AND o.deleted_at IS NULL)"
    " ORDER BY n.agent_id, n.path, n.device"
)


async def conflicts(memory: Memory, request: ConflictsRequest) -> ConflictsReply:  # noqa: ARG001 - every agent is shown
    """Compare the notes of all devices that nobody took over from."""
    return await memory.thread.call(_conflicts, priority=Priority.READ)


def _conflicts(store: Store) -> ConflictsReply:
    rows: list[tuple[Any, ...]] = store.execute(_BOTH)
    gone = _succeeded(store)
    found = [
        Conflict(agent, path, _versions(store, [row for row in group if row[2] not in gone]))
        for (agent, path), group in groupby(rows, key=_place)
    ]
    return ConflictsReply([each for each in found if len({version.text for version in each.versions}) > 1])


def _place(row: tuple[Any, ...]) -> tuple[str, str]:
    return row[0], row[1]


def _succeeded(store: Store) -> set[str]:
    devices = [str(row[0]) for row in store.execute("SELECT device FROM devices")]
    return {old for device in devices for old in with_predecessors(store, [device]) - {device}}


def _versions(store: Store, rows: list[tuple[Any, ...]]) -> list[Version]:
    return [
        Version(device, name, device == store.device, size, _text(chunks)) for _, _, device, name, size, chunks in rows
    ]


def _text(chunks: str) -> str:
    """12 hex that name a note's text: its chunks are cut by content, so equal bytes have equal chunks."""
    return hashlib.sha256(" ".join(_strings.decode(chunks)).encode("ascii")).hexdigest()[:12]

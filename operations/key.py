"""`key`: end-to-end encryption of what the cloud holds (docs/security.md)."""

import asyncio
from pathlib import Path

from ..errors import AccessError, NoInputError, UnavailableError, UsageError
from ..foreign import read_regular
from ..store.sent import CLOUD
from ..store.thread import Priority
from ..sync.key_store import KeyStore
from ..sync.seal import Key, KeyRing, check_available
from ..sync.service import SyncService
from ..sync.stewardship import encrypt, joined_key
from ..sync.wire import key_id_of
from .memory import Memory
from .sync_replies import KeyReply
from .sync_requests import KeyRequest
from .synchronise import the_cloud

_KEEP_IT = "Write the recovery key down and keep it away from this machine: without it nothing can be restored."


async def key(memory: Memory, request: KeyRequest) -> KeyReply:
    """Begin or join encryption (`init`), show the recovery key, or go on under a new one (`rotate`)."""
    if request.file and request.action != "init":
        raise UsageError("--file belongs to key init.", "memoryd key init --file FILE")
    check_available()
    service = the_cloud(memory)
    if request.action == "show":
        return await _show(service)
    if request.action == "rotate":
        return await _rotate(memory, service)
    return await _init(memory, service, request.file)


async def _show(service: SyncService) -> KeyReply:
    """The key that restores: the cloud's, not one that a rotation kept and could not finish with."""
    in_use = await _key_in_use(service)
    held = service.keys.of_id(in_use) if in_use else service.keys.newest
    if held is None and in_use:
        raise NoInputError(
            f"The cloud is encrypted with the key {in_use}, which this device does not have.",
            "Give it the recovery key: memoryd key init --file FILE",
        )
    if held is None:
        raise NoInputError("This device has no key.", "memoryd key init makes one, or takes one with --file.")
    newest = service.keys.newest
    if not in_use:
        advice = "The cloud is not encrypted yet: memoryd key init goes on with this key."
    else:
        advice = (
            "" if newest == held else "A newer key was made and is not used yet: memoryd key rotate goes on with it."
        )
    return KeyReply(held.id, bool(in_use), held.text, service.status.plain_logs, advice)


async def _key_in_use(service: SyncService) -> str:
    """What the cloud says, or said when it was asked last."""
    try:
        return await joined_key(service)
    except UnavailableError:
        return key_id_of(await service.thread.call(lambda store: store.meta(CLOUD), priority=Priority.READ))


async def _init(memory: Memory, service: SyncService, file: str) -> KeyReply:
    given = Key.parse(_read(file)) if file else None
    in_use = await joined_key(service)
    if in_use:
        return await _join(memory, service, given, in_use)
    # A key that an earlier run kept and could not finish with is used again.
    chosen = given or service.keys.newest or Key.new()
    await _keep(memory, service, chosen)
    await encrypt(service, chosen)
    return KeyReply(chosen.id, True, chosen.text, service.status.plain_logs, _KEEP_IT)


async def _join(memory: Memory, service: SyncService, given: Key | None, in_use: str) -> KeyReply:
    if given is None and in_use in service.keys:
        return KeyReply(in_use, True, plain_logs=service.status.plain_logs, advice="This device has the key already.")
    if given is None:
        raise UsageError("The cloud is encrypted with a key that this device does not have.", "Give it: --file FILE")
    if given.id != in_use:
        raise UsageError(
            "That is not the key that the cloud is encrypted with.",
            f"The cloud names the key {in_use}, the file holds {given.id}; nothing was changed.",
        )
    await _keep(memory, service, given)
    service.keys.add(given)
    service.changed()
    return KeyReply(given.id, True, advice="This device reads and writes the encrypted memory from now on.")


async def _rotate(memory: Memory, service: SyncService) -> KeyReply:
    in_use = await joined_key(service)
    if not in_use:
        raise UsageError("The cloud is not encrypted.", "memoryd key init begins it.")
    newest = service.keys.newest
    unfinished = newest if newest is not None and in_use in service.keys and newest.id != in_use else None
    fresh = unfinished or Key.new()
    await _keep(memory, service, fresh)
    await encrypt(service, fresh)
    return KeyReply(fresh.id, True, fresh.text, service.status.plain_logs, f"{_KEEP_IT} Every other device needs it.")


async def _keep(memory: Memory, service: SyncService, chosen: Key) -> None:
    """Keep the key before anything is encrypted with it."""
    others = [each for each in service.keys.keys if each.id != chosen.id]
    store = KeyStore(memory.places.state, in_keyring=memory.settings.sync.key_store == "keyring")
    await asyncio.to_thread(store.save, KeyRing([*others, chosen]))


def _read(file: str) -> str:
    try:
        return read_regular(Path(file)).decode("ascii")
    except FileNotFoundError:
        raise NoInputError(f"{file} does not exist.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise AccessError(f"{file} cannot be read: {type(error).__name__}.", "It is a text file of one line.") from None

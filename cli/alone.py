"""A command without a daemon: the store opened in this process, under the same lock."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from ..clock import Clock
from ..cloud_config import cloud_token, cloud_url
from ..config import load_settings
from ..errors import ConfigError
from ..operations.memory import Memory
from ..operations.opening import existing_workspace
from ..operations.table import Operation, Outcome
from ..operations.workspace_lock import refuse_if_served
from ..places import Places, find_places
from .client import Answer
from .common import Common
from .flags import checked


def places_of(common: Common) -> Places:
    """Where this instance keeps its things; raises `ConfigError` when no workspace is known."""
    places = find_places(common.workspace, common.instance)
    if places.workspace is None:
        raise ConfigError(
            "No workspace is known.",
            "Go to the folder that shall hold your notes and run: memoryd init, or name it with --workspace.",
        )
    return places


def perform_here(
    operation: Operation,
    payload: dict[str, Any],
    common: Common,
    places: Places,
    progress: Callable[[dict[str, Any]], None] | None,
) -> Answer:
    """Perform one operation in this process; the caller holds the lock."""
    outcome = asyncio.run(_performed(operation, payload, common, places, progress))
    return Answer(msgspec.json.encode(outcome.reply), outcome.exit_code)


async def _performed(
    operation: Operation,
    payload: dict[str, Any],
    common: Common,
    places: Places,
    progress: Callable[[dict[str, Any]], None] | None,
) -> Outcome:
    settings = load_settings(places)
    request = checked(operation.request, payload)
    if not request.only_reads:
        refuse_if_served(existing_workspace(places))
    url = cloud_url(settings, common.db_url)
    token = cloud_token(settings, common.auth_token) if url else ""
    memory = await Memory.open(places, settings, Clock(), url=url, token=token, may_upgrade=not request.only_reads)
    try:
        return await memory.perform(operation, request, progress)
    finally:
        await memory.close()

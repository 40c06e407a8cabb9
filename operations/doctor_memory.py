"""What `doctor` asks of an opened memory: each thing by its effect, not by its setting."""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec

from ..config import Settings, load_settings
from ..errors import MemorydError, StoreError
from ..store import upkeep
from .audit import audit
from .doctor_language import check_language
from .doctor_replies import Check, SettingInForce, failed, forbidden, good, looked, warned
from .llm import LlmError, llm_of
from .memory import RESCAN_S, Memory
from .requests import AuditRequest
from .self_recall import is_low, probe
from .snapshots import snapshots, taken_at
from .status import build_status
from .tier_replies import AuditReply

DAY_MS = 86_400_000
DRILL_OLD_DAYS, SNAPSHOT_OLD_DAYS = 14, 2
_URLS = frozenset({"sync.url", "llm.endpoint"})
_NO_URL = "(no URL)"
_PROMPT = "Answer with the word ok."


async def check_memory(memory: Memory) -> AsyncIterator[Check]:
    """Every check that needs the memory, one after another."""
    for name, look in (("settings", _settings), ("watcher", _watching), ("freshness", _freshness),
                       ("restore", _restore), ("warnings", _warnings)):  # fmt: skip
        yield looked(name, partial(look, memory))
    for name, ask in (("database", _integrity), ("audit", _audit), ("self-recall", _self_recall), ("llm", _llm)):
        try:
            yield await ask(memory)
        except OSError as error:
            yield forbidden(name, error)
    async for check in check_language(memory):
        yield check


def settings_in_force(settings: Settings, sources: Mapping[str, str]) -> list[SettingInForce]:
    """Every setting with its value and its source; of a URL what can hold no key."""
    return [
        SettingInForce(name, _keyless(value) if name in _URLS else value, sources.get(name, "default"))
        for name, value in _flat(settings).items()
    ]


def _keyless(url: str) -> str:
    """A URL without login, query and fragment; what is none may be a key itself."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return _NO_URL
    if not url or (parts.scheme and parts.hostname):
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    return _NO_URL


def _flat(settings: Settings) -> dict[str, Any]:
    return {
        f"{group}.{name}" if name else group: value
        for group, values in msgspec.to_builtins(settings).items()
        for name, value in (values.items() if isinstance(values, dict) else [("", values)])
    }


def _settings(memory: Memory) -> Check:
    try:
        now = _flat(load_settings(memory.places))
    except MemorydError as error:
        return failed("settings", f"What stands in the files now would not be taken: {error.message}", error.hint)
    used = _flat(memory.settings)
    if changed := sorted(name for name in now if now[name] != used[name]):
        return warned(
            "settings",
            f"Changed since the daemon read them, and without effect yet: {', '.join(changed)}.",
            f"Run: kill -HUP {memory.pid}   (cloud and workspace: memoryd service stop, then start)",
        )
    return good("settings", f"All {len(now)} settings in force are those of the files.")


def _watching(memory: Memory) -> Check:
    if not memory.resident:
        return warned(
            "watcher", "No daemon runs: a saved note is memory only at the next rescan.", "memoryd service start"
        )
    status = build_status(memory).watcher
    if status.state == "native" and status.alive:
        return good("watcher", f"It hears what is saved; {status.events} events so far.")
    message, fix = next(((text, fix) for _, text, fix in memory.watch.warnings), ("It does not run.", "memoryd rescan"))
    return (warned if status.state == "polling" else failed)("watcher", message, fix)


def _freshness(memory: Memory) -> Check:
    if not memory.resident:
        return good("freshness", "Each command without a daemon sees what the last scan took in.")
    if memory.last_scan is None:
        return warned("freshness", "The first scan is under way.", "memoryd status --watch shows how far it is.")
    age = memory.clock.monotonic() - memory.last_scan
    said = f"The last whole comparison with the disk is {age:.0f} s old, {memory.pending} things wait."
    return good("freshness", said) if age <= 2 * RESCAN_S else failed("freshness", said, "memoryd rescan")


async def _integrity(memory: Memory) -> Check:
    try:
        fault = await asyncio.to_thread(upkeep.check, memory.places.database)
    except StoreError as error:
        return warned("database", error.message, error.hint)
    if fault:
        return failed(
            "database",
            f"memory.db is damaged: {fault}",
            "Start the daemon again: it moves the file aside and rebuilds.",
        )
    return good("database", f"memory.db is sound ({memory.places.database.stat().st_size / 1e6:,.1f} MB).")


async def _audit(memory: Memory) -> Check:
    reply: AuditReply = (await audit(memory, AuditRequest())).reply
    facts = sum(each.ingested for each in reply.agents.values())
    if reply.ok:
        return good("audit", f"{facts:,} facts of {len(reply.agents)} agents, each in exactly one place.")
    kinds = sorted({each.what for each in reply.problems})
    return failed(
        "audit", f"{reply.found} things are off: {'; '.join(kinds)}.", "See: memoryd audit; please report it."
    )


def _restore(memory: Memory) -> Check:
    now = memory.clock.now_ms()
    if memory.sync is None:
        found = snapshots(memory.places)
        if not found:
            return warned(
                "restore", "There is no cloud, and no local snapshot yet.", "The daemon takes one each night."
            )
        age = (now - taken_at(found[0])) / DAY_MS
        said = f"There is no cloud; the last local snapshot is {age:.1f} days old."
        if age > SNAPSHOT_OLD_DAYS:
            return warned("restore", said, "Let the daemon run; it takes one each night.")
        return good("restore", said)
    drilled = memory.sync.status.last_drill
    if drilled is None:
        return warned("restore", "No restore was ever tried out.", "memoryd drill")
    age = (now - drilled.at) / DAY_MS
    if drilled.differences:
        return failed("restore", f"The last drill, {age:.1f} days ago, found differences.", "memoryd verify --deep")
    said = f"A restore was proven {age:.1f} days ago."
    return good("restore", said) if age <= DRILL_OLD_DAYS else warned("restore", said, "memoryd drill")


async def _self_recall(memory: Memory) -> Check:
    recall = await probe(memory, random.Random())  # noqa: S311 - no secret
    if recall.rate is None:
        return good("self-recall", "Nothing was asked yet.")
    said = f"{recall.found} of {recall.asked} of the memory's own words were found."
    if is_low(recall):
        return warned("self-recall", said, "memoryd status names those that were not; look at memory/custom_dict.txt.")
    return good("self-recall", said)


async def _llm(memory: Memory) -> Check:
    try:
        model = llm_of(memory.settings)
        if model is None:
            return good("llm", "No language model is configured; rules do everything.")
        await model.complete(_PROMPT)
    except LlmError as error:
        return warned("llm", f"{error.message} Rules answer instead.", "Correct llm.endpoint, or take it out.")
    except MemorydError as error:
        return failed("llm", error.message, error.hint)
    return good("llm", "The endpoint answers.")


def _warnings(memory: Memory) -> Check:
    if codes := sorted({each.code for each in build_status(memory).warnings}):
        return warned("warnings", f"Status warns of: {', '.join(codes)}.", "memoryd status has a line for each.")
    return good("warnings", "Status warns of nothing.")

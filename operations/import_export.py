"""`import`: takes in what `export` wrote. Known facts stay, forgotten ones stay forgotten, twice changes nothing."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec

from ..clock import datable
from ..errors import AccessError, NoInputError, UsageError
from ..foreign import checked_depth, read_regular
from ..model import Metadata, fact_id
from ..store import Store
from ..store.forget import forget_fact
from ..store.thread import Priority
from ..store.versions import is_forgotten, set_edit
from .export import FORMAT, VERSION
from .forgotten_words import Guard
from .memory import Memory
from .progress import report_progress
from .requests import ImportRequest
from .taking_in import Incoming, batches, masked, take_facts, take_hot_item, take_tree_node
from .tier_replies import ImportReply

_CARRIED_EDITS = ("after", "superseded_by", "merged_into", "pin", "distilled")
"""Edits that a fact's own values do not hold already."""
_DATE = r"^(\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{3})?)?Z)?)?$"
_NOTHING = Metadata()
_STATES = ("live", "superseded", "merged")
_ENCODER = msgspec.json.Encoder(order="deterministic")


class _Fact(msgspec.Struct):
    id: str
    text: str
    state: str
    category: str
    importance: float
    kind: str
    task_state: str
    first_seen: float
    created_at: float
    reads: int
    last_read: int
    metadata: Metadata
    edits: dict[str, str]
    stated: Annotated[str, msgspec.Meta(pattern=_DATE)] = ""


_FACT = msgspec.json.Decoder(_Fact)


class _HotItem(msgspec.Struct):
    section: str
    key: str
    value: Any
    deleted: bool


class _Node(msgspec.Struct):
    path: str
    description: str


class _Export(msgspec.Struct):
    """A whole file; each fact is decoded by itself."""

    format: str
    version: int
    facts: list[msgspec.Raw]
    hot_items: list[_HotItem]
    tree_nodes: list[_Node]
    forgotten: list[str]
    agent_id: str


async def import_export(memory: Memory, request: ImportRequest) -> ImportReply:
    """Take the file in, for the agent that the command names."""
    agent = request.agent_id
    given, wanted, names = await asyncio.to_thread(_read, memory.workspace / request.file, agent)
    reply = ImportReply(skipped=len(given.facts) - len(wanted))
    done = 0
    for some in batches(wanted):
        await memory.thread.call(
            partial(_take, agent=agent, some=some, names=names, reply=reply), priority=Priority.BULK
        )
        done += len(some)
        report_progress(phase="importing", done=done, of=len(wanted))
    same_agent = given.agent_id == agent
    await memory.thread.call(lambda store: _take_rest(store, agent, given, names, reply, same_agent=same_agent))
    memory.free_text.due = True
    await memory.settle([agent])
    return reply


def _read(path: Path, agent: str) -> tuple[_Export, list[msgspec.Raw], dict[str, str]]:
    """The file, those of its facts that are taken in, and what each fact's id is for `agent`.

    Each fact is decoded to see that it is one, and let go of again: a hundred thousand of them at once would
    hold up every other thread whenever Python looks for garbage among them.
    """
    wanted: list[msgspec.Raw] = []
    names: dict[str, str] = {}
    try:
        given = msgspec.json.decode(read_regular(path), type=_Export)
        if given.format != FORMAT or given.version > VERSION:
            raise UsageError(f"{path} is no export that this version reads.", "Update memoryd; nothing was changed.")
        for item in given.hot_items:
            checked_depth(item.value)
        for each in given.facts:
            fact = _FACT.decode(each)
            names[fact.id] = fact_id(agent, fact.text)
            if fact.state in _STATES:
                wanted.append(each)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise NoInputError(f"{path} is no file.", "Name the JSON file of an export.") from None
    except OSError as error:
        raise AccessError(f"{path} cannot be read: {error.strerror}.", "Check its owner and mode.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is no export of memoryd: {error}.", "Write one: memoryd export --json") from None
    return given, wanted, names


def _take(store: Store, agent: str, some: Sequence[msgspec.Raw], names: dict[str, str], reply: ImportReply) -> None:
    facts = [_FACT.decode(each) for each in some]
    guard = Guard(store, agent)
    with store.transaction() as tx:
        outcomes = take_facts(tx, agent, [_incoming(each) for each in facts])
        for each, (taken, fact) in zip(facts, outcomes, strict=True):
            if taken == "empty":
                reply.skipped += 1
                continue
            setattr(reply, taken, getattr(reply, taken) + 1)
            if taken == "facts":
                for field in _CARRIED_EDITS:
                    value = each.edits.get(field)
                    if value is not None and not guard.stops(value):
                        set_edit(tx, agent, fact, field, _without_nul(names.get(value, value)))


def _incoming(given: _Fact) -> Incoming:
    return Incoming(
        given.text, _without_nul(given.category), min(1.0, max(0.0, given.importance)),
        datable(min(given.first_seen, given.created_at) * 1000), given.reads, given.last_read,
        masked_metadata(given.metadata), _without_nul(given.kind), _without_nul(given.task_state),
        stated=_day_that_exists(given.stated), verbatim=True,
    )  # fmt: skip


def _without_nul(text: str) -> str:
    return text.replace("\0", "\ufffd")


def _day_that_exists(date: str) -> str:
    try:
        datetime.fromisoformat(date)
    except ValueError:
        return ""  # none, or 30 February in an export that was edited by hand
    return date


def masked_metadata(metadata: Metadata) -> Metadata:
    """Metadata of somebody else's making, with secrets masked."""
    if metadata == _NOTHING:
        return metadata
    return msgspec.convert(masked(msgspec.to_builtins(metadata)), Metadata)


def _take_rest(
    store: Store, agent: str, given: _Export, names: dict[str, str], reply: ImportReply, *, same_agent: bool
) -> None:
    with store.transaction() as tx:
        for item in given.hot_items:
            key = names.get(item.key, item.key) if item.section in ("lessons", "events", "tasks") else item.key
            value = None if item.value is None else _ENCODER.encode(masked(item.value)).decode()
            reply.hot_items += take_hot_item(
                tx, agent, _without_nul(item.section), _without_nul(key), value, deleted=item.deleted
            )
        for node in given.tree_nodes:
            reply.tree_nodes += take_tree_node(tx, agent, node.path, node.description)
        for fact in given.forgotten if same_agent else ():
            known = store.execute("SELECT 1 FROM facts WHERE agent_id = ? AND id = ?", (agent, fact))
            if not known and not is_forgotten(tx, agent, fact):
                forget_fact(tx, agent, fact)

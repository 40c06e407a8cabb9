"""`export`: one agent's memory as JSON, and as Markdown for a person to read."""

import asyncio
import heapq
import os
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from .. import __version__
from ..clock import datable, day_of_ms
from ..errors import AccessError
from ..store import Store
from ..store.thread import Priority
from ..tiers.page import managed_block
from .memory import Memory
from .places import shown, standings
from .progress import report_progress
from .requests import ExportRequest

FORMAT = "memoryd-export"
VERSION = 1
JSON_NAME, MARKDOWN_NAME = "memoryd-export.json", "memoryd-export.md"
_ROWS = 500
_SORTED = 2_000
_JSON = msgspec.json.Encoder()


class _Item(NamedTuple):
    """One live fact in the Markdown file, in its order there. Holds no container: Python looks for garbage in those."""

    category: str
    created_at: float
    fact: str
    lines: str


async def export(memory: Memory, request: ExportRequest) -> dict[str, Any]:
    """The whole memory; into the folder `output` where one is named."""
    agent, facts = request.agent_id, _facts(memory, request.agent_id)
    if not request.output:
        return {**await _head(memory, agent), "facts": [each async for some in facts for each in some]}
    texts, items = [], []
    async for some in facts:
        # As text at once: a hundred thousand facts as objects would hold up every other thread.
        texts += [_JSON.encode(each) for each in some]
        items += [_item(each) for each in some if each["state"] == "live"]
    folder = memory.workspace / request.output
    head = await _head(memory, agent)
    try:
        await asyncio.to_thread(_write_both, folder, head, texts, items)
    except OSError as error:
        raise AccessError(f"{folder} cannot be written: {error.strerror}.", "Name another folder.") from None
    return {"files": [str(folder / name) for name in (JSON_NAME, MARKDOWN_NAME)], "facts": len(texts)}


async def _facts(memory: Memory, agent_id: str) -> AsyncIterator[Sequence[dict[str, Any]]]:
    """Everything that an import can take in again of each fact, some facts at a time."""
    done = 0
    after: int | None = 0
    while after is not None:
        some, after = await memory.thread.call(
            partial(_some_facts, agent_id=agent_id, after=after), priority=Priority.READ
        )
        yield some
        done += len(some)
        report_progress(phase="reading", done=done)


async def _head(memory: Memory, agent_id: str) -> dict[str, Any]:
    """What an export holds beside the facts."""
    rest = await memory.thread.call(lambda store: _rest(store, agent_id), priority=Priority.READ)
    return {
        "format": FORMAT,
        "version": VERSION,
        "memoryd": __version__,
        "agent_id": agent_id,
        "exported_at": memory.clock.now_ms() / 1000,
        **rest,
    }


def _item(fact: dict[str, Any]) -> _Item:
    lines = [f"- {fact['text']} ({_origin(fact)})"]
    lines += [f"  - <{url}>" for url in fact["metadata"]["urls"]]
    lines += [f"  - `{command}`" for command in fact["metadata"]["commands"]]
    return _Item(fact["category"], fact["created_at"], fact["id"], "\n".join(lines))


def _as_markdown(head: dict[str, Any], items: Sequence[_Item]) -> str:
    """Hot state aside, every live fact under its category, with date and places."""
    day = datetime.fromtimestamp(head["exported_at"], UTC).strftime("%Y-%m-%d")
    lines = [f"# Memory of {head['agent_id']}, {day}"]
    category = ""
    # In pieces: one sort of all of them holds up every other thread too.
    for each in heapq.merge(*(sorted(items[start : start + _SORTED]) for start in range(0, len(items), _SORTED))):
        if each.category != category:
            category = each.category
            lines += ["", f"## {category}", ""]
        lines.append(each.lines)
    # As a managed block, so that a copy among the notes is known as our own output (TR-7).
    return managed_block("\n".join(lines).replace("<!--", "<! --")) + "\n"


def _origin(fact: dict[str, Any]) -> str:
    day = day_of_ms(datable(fact["created_at"] * 1000)).isoformat()
    return ", ".join([day, *(f"{each['file']}:{each['lines'][0]}" for each in fact["sources"])])


def _some_facts(store: Store, agent_id: str, after: int) -> tuple[Sequence[dict[str, Any]], int | None]:
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT f.n, f.id, f.text, f.first_seen, d.state, d.tier, d.category, d.importance, d.kind, d.task_state,"
        " d.created_at, d.score, d.access_days FROM facts f NOT INDEXED JOIN derived d ON d.n = f.n"
        " WHERE f.n > ? AND f.agent_id = ? ORDER BY f.n LIMIT ?",
        (after, agent_id, _ROWS),
    )
    ids = [str(row[1]) for row in rows]
    places, edits, reads = standings(store, agent_id, ids), _edits(store, agent_id, ids), _reads(store, agent_id, ids)
    stated = _stated(store, agent_id, ids)
    found = [
        {
            "id": fact, "text": text, "state": state, "tier": tier, "category": category, "importance": importance,
            "kind": kind, "task_state": task_state, "created_at": created / 1000, "first_seen": seen / 1000,
            "score": score, "access_count": access, "reads": reads.get(fact, (0, 0))[0],
            "last_read": reads.get(fact, (0, 0))[1], "stated": stated.get(fact, ""),
            "metadata": shown(places[fact].metadata), "sources": msgspec.to_builtins(places[fact].sources),
            "edits": edits.get(fact, {}),
        }
        for _, fact, text, seen, state, tier, category, importance, kind, task_state, created, score, access in rows
    ]  # fmt: skip
    return found, int(rows[-1][0]) if len(rows) == _ROWS else None


def _edits(store: Store, agent_id: str, facts: Sequence[str]) -> dict[str, dict[str, str]]:
    rows = store.execute(
        "SELECT fact_id, field, value FROM edits WHERE agent_id = ? AND value IS NOT NULL"
        " AND fact_id IN (SELECT value FROM json_each(?))",
        (agent_id, _JSON.encode(facts).decode()),
    )
    found: dict[str, dict[str, str]] = {}
    for fact, field, value in rows:
        found.setdefault(str(fact), {})[str(field)] = str(value)
    return found


def _reads(store: Store, agent_id: str, facts: Sequence[str]) -> dict[str, tuple[int, int]]:
    rows = store.execute(
        "SELECT fact_id, sum(days), max(last_day) FROM access WHERE agent_id = ?"
        " AND fact_id IN (SELECT value FROM json_each(?)) GROUP BY fact_id",
        (agent_id, _JSON.encode(facts).decode()),
    )
    return {str(fact): (int(days or 0), int(last or 0)) for fact, days, last in rows}


def _stated(store: Store, agent_id: str, facts: Sequence[str]) -> dict[str, str]:
    """The latest date on which each is stated, as its mention has it."""
    rows = store.execute(
        "SELECT fact_id, date, max(rtrim(date, 'Z')) FROM mentions INDEXED BY mentions_fact WHERE agent_id = ?"
        " AND fact_id IN (SELECT value FROM json_each(?)) GROUP BY fact_id",
        (agent_id, _JSON.encode(facts).decode()),
    )
    return {str(fact): str(date) for fact, date, _ in rows}


def _rest(store: Store, agent_id: str) -> dict[str, Any]:
    hot: list[tuple[Any, ...]] = store.execute(
        "SELECT section, key, value, deleted FROM hot_items WHERE agent_id = ? ORDER BY section, key", (agent_id,)
    )
    nodes = store.execute(
        "SELECT path, description FROM tree_nodes WHERE agent_id = ? AND deleted = 0 ORDER BY path", (agent_id,)
    )
    forgotten = store.execute(
        "SELECT fact_id FROM forgotten WHERE agent_id = ? AND version > lifted_version AND moved_to = ''"
        " ORDER BY fact_id",
        (agent_id,),
    )
    return {
        "hot_items": [
            {"section": section, "key": key, "value": value and msgspec.json.decode(value), "deleted": bool(deleted)}
            for section, key, value, deleted in hot
        ],
        "tree_nodes": [{"path": path, "description": description} for path, description in nodes],
        "forgotten": [row[0] for row in forgotten],
    }


def _write_both(folder: Path, head: dict[str, Any], facts: Sequence[bytes], items: Sequence[_Item]) -> None:
    whole = _JSON.encode(head)[:-1] + b',"facts":[' + b",".join(facts) + b"]}"
    _write(folder, {JSON_NAME: whole, MARKDOWN_NAME: _as_markdown(head, items).encode()})


def _write(folder: Path, texts: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in texts.items():
        temporary = folder / f".{name}.tmp"
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(folder / name)

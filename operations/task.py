"""`task`: working tasks, the layer between a talk and the facts that stay (docs/memory.md, 3, docs/original.md).

A finished task leaves through `store`: its outcome, lessons, goal and notes become facts, then its file goes.
"""

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from ..errors import AccessError, NoInputError, TryLaterError, UsageError
from ..foreign import decoded_json
from ..ingest.parse import parse_statement
from ..store.thread import Priority
from .forgotten_words import Guard
from .layer_replies import TaskInfo, TaskListReply, TaskReply
from .layer_requests import TaskRequest
from .memory import Memory
from .requests import StoreRequest
from .store_fact import store
from .task_file import (
    MAX_BYTES,
    DamagedTaskError,
    Task,
    change_task,
    checked_task,
    decoded,
    folder_of,
    masked,
    read_task,
    task_files,
    task_path,
)

_WRITTEN = ("name", "goal", "note", "checkpoint", "status")
_ONLY = {
    "list": (), "show": ("name",), "remove": ("name",), "start": _WRITTEN, "update": _WRITTEN,
    "finish": ("name", "note", "outcome", "lesson", "category"),
}  # fmt: skip
"""What each action takes."""
_LAST_TIME = 253_402_300_800
"""The year 10000; what somebody wrote beyond it is no time."""
_IMPORTANCE = {"lesson": 0.8, "outcome": 0.6, "goal": 0.5, "note": 0.4}


async def task(memory: Memory, request: TaskRequest) -> TaskReply | TaskListReply:
    """Perform one action. Commands of one workspace follow one another: none overwrites what another wrote."""
    _check(request)
    folder = folder_of(memory.workspace, request.agent_id)
    if request.action == "list":
        return await asyncio.to_thread(_listed, memory, folder)
    name = checked_task(request.name)
    async with memory.tasks_lock:
        path = await asyncio.to_thread(task_path, folder, name)
        if request.action == "finish":
            return await _finish(memory, request, path)
        if request.action in ("show", "remove"):
            found = await asyncio.to_thread(read_task, path)
            if request.action == "remove":
                await asyncio.to_thread(path.unlink)
            return _reply(memory, path, found, removed=request.action == "remove")
        return await asyncio.to_thread(_write, memory, request, path)


def _check(request: TaskRequest) -> None:
    given = [
        field.name for field in msgspec.structs.fields(TaskRequest)
        if field.name not in ("agent_id", "action") and getattr(request, field.name) != field.default
        and getattr(request, field.name)
    ]  # fmt: skip
    wrong = [name for name in given if name not in _ONLY[request.action]]
    if wrong:
        flag = wrong[0] if wrong[0] == "name" else f"--{wrong[0]}"
        raise UsageError(f"task {request.action} takes no {flag}.", "memoryd task --help lists what it takes.")
    if request.action == "update" and given == ["name"]:
        raise UsageError("There is nothing to update.", "Give --note, --checkpoint, --status or --goal.")


def _write(memory: Memory, request: TaskRequest, path: Path) -> TaskReply:
    spans = 0

    def change(old: bytes | None) -> Task:
        nonlocal spans
        if request.action == "start":
            if old is not None:
                raise UsageError(f"There is a task {path.stem!r}.", "Go on with it: memoryd task update NAME --note …")
            found: Task = {"task": path.stem, "status": "active", "goal": "", "created_at": _now(memory), "notes": []}
        else:
            found = decoded(path, old)
        changed, spans = masked(_given(memory, request))
        notes = [*found.get("notes", []), *changed.pop("notes", [])]
        return {**found, **changed, "notes": notes, "updated_at": _now(memory)}

    change_task(path, change)
    return msgspec.structs.replace(_reply(memory, path, read_task(path)), masked=spans)


def _given(memory: Memory, request: TaskRequest) -> Task:
    given: Task = {"notes": [{"at": _now(memory), "text": text} for text in request.note if text.strip()]}
    if request.goal:
        given["goal"] = request.goal
    if request.status:
        given["status"] = request.status
    if request.checkpoint:
        try:
            given["checkpoint"] = decoded_json(request.checkpoint)
        except msgspec.DecodeError as error:
            raise UsageError(
                f"--checkpoint is no JSON: {error}.", """For example: --checkpoint '{"step": 3}'"""
            ) from None
    return given


async def _finish(memory: Memory, request: TaskRequest, path: Path) -> TaskReply:
    found = await asyncio.to_thread(read_task, path)
    said = [
        ("outcome", request.outcome),
        *(("lesson", each) for each in request.lesson),
        ("goal", _text(found, "goal")),
    ]
    said += [("note", each) for each in (*_notes(found), *request.note)]
    forgotten = await _is_forgotten(memory, request.agent_id, path.stem)
    category = request.category or ("tasks" if forgotten else f"tasks/{path.stem}")
    facts: list[str] = []
    for what, text in said:
        if not parse_statement(text, category, None).text or await _is_forgotten(memory, request.agent_id, text):
            continue
        asked = StoreRequest(agent_id=request.agent_id, text=text, category=category, importance=_IMPORTANCE[what])
        facts.append((await store(memory, asked, kind="lesson" if what == "lesson" else "")).id)
    if await asyncio.to_thread(read_task, path) != found:
        raise TryLaterError(f"{path} was changed meanwhile.", "Finish the task again; nothing is stored twice.")
    await asyncio.to_thread(path.unlink)
    return msgspec.structs.replace(_reply(memory, path, found, removed=True), facts=list(dict.fromkeys(facts)))


async def _is_forgotten(memory: Memory, agent_id: str, text: str) -> bool:
    return await memory.thread.call(lambda store: Guard(store, agent_id).stops(text), priority=Priority.READ)


def _notes(found: Task) -> list[str]:
    return [_text(each, "text") if isinstance(each, dict) else str(each) for each in found.get("notes", [])]


def _listed(memory: Memory, folder: Path) -> TaskListReply:
    reply = TaskListReply([], [])
    for path in task_files(folder):
        try:
            found, size = read_task(path), _size(path)
        except NoInputError:
            continue  # it was finished meanwhile
        except (DamagedTaskError, AccessError) as error:
            reply.damaged.append({"path": _relative(memory, path), "reason": error.message})
            continue
        reply.tasks.append(
            TaskInfo(
                path.stem, _relative(memory, path), _text(found, "status"), _text(found, "goal"),
                _time(found, "created_at"), _time(found, "updated_at"), len(found.get("notes", [])), size,
            )
        )  # fmt: skip
    reply.tasks.sort(key=lambda each: (-each.updated_at, each.name))
    return reply


def _reply(memory: Memory, path: Path, found: Task, *, removed: bool = False) -> TaskReply:
    return TaskReply(path.stem, _relative(memory, path), _size(path), MAX_BYTES, found, removed=removed)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _relative(memory: Memory, path: Path) -> str:
    return path.relative_to(memory.workspace).as_posix()


def _text(found: Any, key: str) -> str:
    value = found.get(key, "")
    return value if isinstance(value, str) else ""


def _time(found: Task, key: str) -> float:
    value = found.get(key, 0)
    return float(value) if isinstance(value, int | float) and abs(value) < _LAST_TIME else 0.0


def _now(memory: Memory) -> float:
    return memory.clock.now_ms() / 1000

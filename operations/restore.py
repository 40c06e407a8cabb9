"""`restore`: notes and memory of a lost device, on this one; deleted notes; notes as they were (docs/data.md, 6)."""

import gc
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, nullcontext
from datetime import datetime, time
from functools import partial

from ..crash import crash_point
from ..errors import UsageError
from ..ingest.names import classify
from ..model import NoteRow
from ..store import Store
from ..store.thread import Priority
from ..sync.bring_back import plan_as_of, plan_deleted
from ..sync.restore import Restored, finish_restore, write_notes
from ..sync.restore_plan import RestorePlan, plan_restore
from .memory import Memory
from .progress import report_progress
from .replies import RestoreReply
from .sync_requests import RestoreRequest
from .synchronise import the_cloud
from .table import Outcome

_SELDOM = (500_000, 20, 20)
"""So many new objects bring a search for cycles (700 as a rule): often enough that no garbage piles up."""


async def restore(memory: Memory, request: RestoreRequest) -> Outcome:
    """Plan, write the missing notes, ingest them, verify; exit code 1 when something is not whole."""
    started = memory.clock.monotonic()
    async with memory.thread.roomy(alone=not memory.resident):
        with nullcontext() if memory.resident else _seldom_collected():
            plan, done = await _brought_back(memory, request)
            await memory.settle(done.agents)
    facts = await memory.thread.call(_live_facts, priority=Priority.READ)
    reply = RestoreReply(
        agents=done.agents,
        notes=done.notes,
        facts=facts,
        seconds=round(memory.clock.monotonic() - started, 3),
        verified=done.verified,
        masked_lines=done.masked_lines,
        forgotten_lines=done.forgotten_lines,
        from_device=plan.device,
        left_as_they_are=done.differing,
        incomplete=done.incomplete,
    )
    return Outcome(reply, 0 if done.verified or request.merge else 1)


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """With few of Python's searches for cycles: each walks through rows that wait, which are in none."""
    usual = gc.get_threshold()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


async def _brought_back(memory: Memory, request: RestoreRequest) -> tuple[RestorePlan, Restored]:
    """Everything but what is derived."""
    async with AsyncExitStack() as stack:
        plan = await _plan(memory, request, stack)
        memory.settings.notes.extra = list(dict.fromkeys([*memory.settings.notes.extra, *plan.notes_extra]))
        copies = not (request.deleted or request.as_of) and memory.settings.sync.notes == "backup"
        await write_notes(memory, plan, fits=partial(_fits, memory) if copies else lambda _: False, progress=_progress)
    crash_point("restore written")
    await memory.intake.load()  # with the notes that were copied
    report_progress(phase="ingest", done=len(plan.copied), of=len(plan.notes))
    # Derived once, after the succession: it decides again which mentions of every fact count.
    memory.intake.settler = memory.intake.after_batch = None
    await memory.intake.scan(but=frozenset(plan.copied))
    crash_point("restore ingested")
    done = await finish_restore(memory, plan)
    crash_point("restore succeeded")
    return plan, done


async def _plan(memory: Memory, request: RestoreRequest, stack: AsyncExitStack) -> RestorePlan:
    """What is asked for; what the plan needs until it is carried out is left on the stack."""
    if request.deleted and request.as_of:
        raise UsageError("--deleted and --as-of are two different questions.", "Ask one at a time.")
    if request.deleted:
        return await plan_deleted(
            memory, memory.sync, memory.workspace, from_=request.from_, merge=request.merge, progress=_progress
        )
    service = the_cloud(memory)
    if request.as_of:
        at_ms = moment_ms(request.as_of)
        earlier = plan_as_of(
            service, memory.workspace, at_ms, from_=request.from_, merge=request.merge, progress=_progress
        )
        return await stack.enter_async_context(earlier)
    return await plan_restore(
        service, memory.workspace, from_=request.from_, copy=request.copy, merge=request.merge, progress=_progress
    )


def _fits(memory: Memory, note: NoteRow) -> bool:
    """Whether ingest would find in this note what the log says of it: a note of the same agent here too."""
    name = classify(note.path, memory.settings.notes.extra)
    return (
        name.kind == "note" and name.agent_id == note.agent_id and note.size <= memory.settings.notes.max_ingest_bytes
    )


def moment_ms(text: str) -> int:
    """A date (its end) or time as ISO writes it, in local time unless it names a zone [ms]; raises `UsageError`."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(f"--as-of: {text!r} is no date or time.", "Write 2026-02-13 or 2026-02-13T10:00.") from None
    if len(text.strip()) <= len("2026-02-13"):
        moment = datetime.combine(moment.date(), time.max)
    return int(moment.astimezone().timestamp() * 1000)


def _progress(phase: str, done: int, of: int) -> None:
    report_progress(phase=phase, done=done, of=of)


def _live_facts(store: Store) -> int:
    ((count,),) = store.execute("SELECT count(*) FROM derived WHERE state = 'live'")
    return count if isinstance(count, int) else 0

"""`restore`: notes and memory of a lost device, on this one (DATA section 6)."""

from ..crash import crash_point
from ..store import Store
from ..store.thread import Priority
from ..sync.restore import finish_restore, plan_restore, write_notes
from .memory import Memory, report_progress
from .replies import RestoreReply
from .requests import RestoreRequest
from .synchronise import the_cloud
from .table import Outcome


async def restore(memory: Memory, request: RestoreRequest) -> Outcome:
    """Fold all logs, write the missing notes, ingest them, verify; exit code 1 when something is not whole."""
    service = the_cloud(memory)
    started = memory.clock.monotonic()
    plan = await plan_restore(
        service, memory.workspace, from_=request.from_, copy=request.copy, merge=request.merge, progress=_progress
    )
    memory.settings.notes.extra = list(dict.fromkeys([*memory.settings.notes.extra, *plan.notes_extra]))
    await write_notes(service, plan, progress=_progress)
    crash_point("restore written")
    report_progress(phase="ingest", done=0, of=len(plan.notes))
    # Derived once, after the succession: it decides again which mentions of every fact count.
    memory.intake.after_batch = None
    await memory.intake.scan()
    crash_point("restore ingested")
    done = await finish_restore(service, plan)
    crash_point("restore succeeded")
    await memory.settle(done.agents)
    facts = await memory.thread.call(_live_facts, priority=Priority.READ)
    reply = RestoreReply(
        agents=done.agents,
        notes=done.notes,
        facts=facts,
        seconds=round(memory.clock.monotonic() - started, 3),
        verified=done.verified,
        masked_lines=done.masked_lines,
        from_device=plan.device,
        left_as_they_are=done.differing,
        incomplete=done.incomplete,
    )
    return Outcome(reply, 0 if done.verified or request.merge else 1)


def _progress(phase: str, done: int, of: int) -> None:
    report_progress(phase=phase, done=done, of=of)


def _live_facts(store: Store) -> int:
    ((count,),) = store.execute("SELECT count(*) FROM derived WHERE state = 'live'")
    return count if isinstance(count, int) else 0

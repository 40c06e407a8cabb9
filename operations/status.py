"""`status`: how fresh and how safe the memory is; computed from what was compared and when, without the store."""

from typing import Any

from ..sync.status import Drilled
from .memory import Memory
from .problems import HARMLESS, problems
from .replies import NotesStatus, Status, SyncReport, WatcherStatus
from .requests import StatusRequest

_LIST_LIMIT = 100
"""Entries of a list in the reply; the counts beside it are whole."""


async def status(memory: Memory, request: StatusRequest) -> Status:  # noqa: ARG001 - every agent is shown
    """The status reply of docs/cli.md."""
    return build_status(memory)


def build_status(memory: Memory) -> Status:
    """Everything from memory: answers within a moment whatever the store or the cloud does."""
    notes, watcher, sync = _notes(memory), _watcher(memory), _sync(memory)
    warnings = problems(memory, notes)
    starting = memory.last_scan is None
    degraded = any(each.code not in HARMLESS for each in warnings) or watcher.state == "degraded" or not memory.is_fresh
    state = "starting" if starting else "degraded" if degraded else "ok"
    return Status(
        v=1,
        version=memory.version,
        pid=memory.pid,
        uptime_s=round(memory.clock.monotonic() - memory.started, 3),
        state=state,
        healthy=memory.is_fresh and watcher.state != "degraded",
        activity=memory.activity if memory.activity != "idle" or not memory.pending else "ingesting",
        workspace=str(memory.workspace),
        instance=memory.places.instance,
        device=memory.device,
        watcher=watcher,
        notes=notes,
        pending=memory.pending,
        agents=dict(memory.agents),
        sync=sync,
        db={"path": str(memory.places.database), **_sizes(memory)},
        warnings=warnings,
        saves=list(memory.saves),
        self_recall=memory.recall,
        dreams=memory.dreams,
    )


def _notes(memory: Memory) -> NotesStatus:
    records, walk = memory.intake.records, memory.intake.last_walk
    faulty = [{"path": path, "reason": reason} for path, reason in ({**records.unreadable, **walk.unknown}).items()]
    held = [{"path": path, "reason": each.reason} for path, each in memory.intake.hold.paths.items()]
    large = [{"path": path, "reason": reason} for path, reason in records.too_large.items()]
    copies = [{"path": path, "reason": reason} for path, reason in walk.conflicts.items()]
    twins = [{"path": path, "reason": reason} for path, reason in walk.twins.items()]
    return NotesStatus(
        known=records.notes,
        with_findings=records.with_findings,
        unreadable=faulty[:_LIST_LIMIT],
        quarantined=(held + large + copies + twins)[:_LIST_LIMIT],
        skipped=[{"path": path, "reason": reason} for path, reason in walk.skipped.items()][:_LIST_LIMIT],
        unmatched=len(walk.unmatched),
        masked=records.masked,
    )


def _watcher(memory: Memory) -> WatcherStatus:
    watch, now = memory.watch, memory.clock.monotonic()
    return WatcherStatus(
        state=watch.state,
        last_event_age_s=_age(now, watch.last_event),
        last_scan_age_s=_age(now, memory.last_scan),
        alive=watch.alive,
        events=watch.events,
        rebuilds=watch.rebuilds,
        next_scan_in_s=None if watch.next_scan is None else round(max(0.0, watch.next_scan - now), 3),
    )


def _age(now: float, then: float | None) -> float | None:
    return None if then is None else round(now - then, 3)


def _sync(memory: Memory) -> SyncReport:
    if memory.sync is None:
        return SyncReport("off", 0, None, None, None, 0, 0, None)
    status = memory.sync.status
    return SyncReport(
        state=status.state,
        pending_rows=status.pending_rows,
        last_ok_at=status.last_ok_at,
        last_error=status.last_error,
        next_retry_in_s=status.next_retry_in_s(memory.clock.monotonic()),
        bytes_today=status.bytes_today,
        picture_pending=status.picture_pending,
        memory_hash=status.memory_hash,
        last_restore_drill=_drill(status.last_drill),
        as_of_reaches=status.as_of_reaches,
        plain_logs=status.plain_logs,
    )


def _drill(last: Drilled | None) -> dict[str, Any] | None:
    if last is None:
        return None
    return {
        "at": last.at / 1000,
        "proven": not last.differences,
        "proven_at": last.proven_at / 1000 or None,
        "searches": last.searches,
        "differences": last.differences,
    }


def _sizes(memory: Memory) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, path in (
        ("size", memory.places.database),
        ("wal_size", memory.places.database.with_name("memory.db-wal")),
    ):
        try:
            found[name] = path.stat().st_size
        except OSError:
            found[name] = 0
    return found

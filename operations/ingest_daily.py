"""`ingest-daily`: what the notes of the last days hold; notes come in by themselves, so mostly nothing is new."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import msgspec

from ..ingest.names import classify
from ..model import ParsedMention, fact_id
from ..store import Store
from ..store.thread import Priority
from ..store.versions import set_edit
from ..tiers.counters import count_llm_fallbacks, local_day
from .distill import by_model
from .forgotten_words import Guard
from .llm import Llm, llm_of
from .memory import Memory
from .named_file import named_file
from .progress import report_progress
from .requests import IngestDailyRequest
from .tier_replies import DailyReply

_JSON = msgspec.json.Encoder()
_KINDS = ("urls", "commands", "paths")


async def ingest_daily(memory: Memory, request: IngestDailyRequest) -> DailyReply:
    """Take everything in (unless it is a dry run), then report on the notes of the window."""
    endpoint = llm_of(memory.settings, request.llm_endpoint)
    before = await memory.thread.call(_last_fact, priority=Priority.READ)
    if not request.dry_run:
        await memory.rescan()
    paths = _window(memory, request)
    said: dict[str, ParsedMention] = {}
    found = 0
    for path in paths:
        mentions = (await named_file(memory, path, request.agent_id)).parsed.mentions
        found += len(mentions)
        said |= {fact_id(request.agent_id, each.text): each for each in mentions}
    known, new = await memory.thread.call(
        lambda store: _known(store, request.agent_id, list(said), before), priority=Priority.READ
    )
    fallbacks = 0
    if endpoint is not None and not request.dry_run:
        fallbacks = await _shorten(memory, request.agent_id, endpoint, {fact: said[fact] for fact in new})
    return DailyReply(
        files_scanned=len(paths),
        mode="llm" if endpoint is not None and fallbacks < len(new) else "rule",
        facts_found=found,
        facts_stored=len(new),
        facts_skipped=found - (len(said.keys() - known) if request.dry_run else len(new)),
        llm_fallbacks=fallbacks,
        facts=[_shown(fact, each, known) for fact, each in said.items()],
    )


def _window(memory: Memory, request: IngestDailyRequest) -> list[str]:
    """The agent's dated notes on disk, from today back."""
    today = date.fromisoformat(local_day(memory.clock.now_ms()))  # notes are named by the day their writer lives in
    days = {(today - timedelta(days=ago)).isoformat() for ago in range(min(request.days, today.toordinal()))}
    folder = memory.workspace / "memory"
    files = [*folder.glob("*.md"), *(folder / request.agent_id).glob("*.md")]
    found: list[str] = []
    for file in sorted(files):
        path = file.relative_to(memory.workspace).as_posix()
        name = classify(path, memory.settings.notes.extra)
        if name.kind == "note" and name.agent_id == request.agent_id and name.date in days and not file.is_symlink():
            found.append(path)
    return found


def _last_fact(store: Store) -> int:
    ((last,),) = store.execute("SELECT max(n) FROM facts")
    return int(last or 0)


def _known(store: Store, agent_id: str, facts: Sequence[str], before: int) -> tuple[set[str], list[str]]:
    """Which of the facts are stored, and which of those are new since row `before`."""
    rows = store.execute(
        "SELECT id, n FROM facts WHERE agent_id = ? AND id IN (SELECT value FROM json_each(?))",
        (agent_id, _JSON.encode(facts).decode()),
    )
    new = {str(fact) for fact, n in rows if int(n or 0) > before}
    return {str(fact) for fact, _ in rows}, [fact for fact in facts if fact in new]


async def _shorten(memory: Memory, agent_id: str, endpoint: Llm, new: dict[str, ParsedMention]) -> int:
    """Have the model distil each new fact; returns how often rules had to do."""
    short: dict[str, str] = {}
    for done, (fact, mention) in enumerate(new.items(), 1):
        answer = await by_model(endpoint, mention.text, memory.settings.distillation.max_distilled_bytes)
        if answer is not None:
            short[fact] = answer.fact
        report_progress(phase="distilling", done=done, of=len(new))
    await memory.thread.call(lambda store: _write(store, agent_id, short, len(new) - len(short)))
    await memory.settle()
    return len(new) - len(short)


def _write(store: Store, agent_id: str, short: dict[str, str], fallbacks: int) -> None:
    guard = Guard(store, agent_id)
    with store.transaction() as tx:
        for fact, text in short.items():
            if not guard.stops(text):
                set_edit(tx, agent_id, fact, "distilled", text)
        count_llm_fallbacks(tx, agent_id, fallbacks)


def _shown(fact: str, mention: ParsedMention, known: set[str]) -> dict[str, Any]:
    shown = {
        "text": mention.text,
        "category": mention.category,
        "importance": mention.importance,
        "metadata": {kind: getattr(mention.metadata, kind) for kind in _KINDS},
    }
    return {"id": fact, **shown} if fact in known else shown

"""`drill`: tries a restore out in a temporary folder, compares everything, and remembers the result for `status`."""

import math
from functools import partial

from ..clock import MS_PER_DAY, day_number
from ..errors import CloudStoppedError, ReadOnlyError, UnavailableError
from ..search.rank import find
from ..store import Store
from ..store.log import count_unsent
from ..store.thread import Priority, StoreThread
from ..sync.drill import rehearse
from ..sync.service import SyncService
from ..sync.status import Drilled, last_drill, remember_drill
from .memory import Memory
from .progress import report_progress
from .settle import Settler
from .sync_replies import DrillReply
from .sync_requests import DrillRequest
from .synchronise import the_cloud
from .table import Outcome

EVERY_DAYS = 7
"""How often the daemon tries a restore out."""
SEARCHES = 20
_WORDS = 6
_LIMIT = 10
_ESTIMATED = 0.05
"""How common a word is that stands in more than a thousand facts is estimated from where they stand in the index."""
_REMEMBERED = 5
"""Differences that status names; the reply has all."""

_Query = tuple[str, str]
"""Agent and question."""


async def drill(memory: Memory, request: DrillRequest) -> Outcome:  # noqa: ARG001 - every agent's memory is restored
    """Try a restore out now; exit code 1 when something differed."""
    reply = await run_drill(memory)
    return Outcome(reply, 0 if reply.proven else 1)


async def drill_when_due(memory: Memory) -> None:
    """Try a restore out if the last one is older than a week; for the daemon, once a day or more often."""
    if memory.sync is None:
        return
    last = await memory.thread.call(last_drill, priority=Priority.READ)
    if last is None or memory.clock.now_ms() - last.at >= EVERY_DAYS * MS_PER_DAY:
        await run_drill(memory)


async def run_drill(memory: Memory) -> DrillReply:
    """Fold, write, search and compare; the result is kept for `status`. Raises `UnavailableError`s without a cloud."""
    service = the_cloud(memory)
    started = memory.clock.monotonic()
    await _catch_up(service)
    unsent = await memory.thread.call(count_unsent, priority=Priority.READ)

    def count(rows: int) -> None:
        report_progress(phase="read", done=rows, of=None)

    async with rehearse(service, count) as rehearsal:
        differences, asked = list(rehearsal.differences), 0
        # What was not sent yet is not in the cloud, so that answers may differ honestly.
        if not differences and not unsent:
            asked, wrong = await _compare_searches(memory, rehearsal.copy)
            differences += wrong
    seconds = round(memory.clock.monotonic() - started, 3)
    drilled = Drilled(memory.clock.now_ms(), seconds, differences[:_REMEMBERED], asked)
    service.status.last_drill = await memory.thread.call(lambda store: remember_drill(store, drilled))
    return DrillReply(drilled.at / 1000, not differences, seconds, rehearsal.rows, rehearsal.notes, asked, differences)


async def _catch_up(service: SyncService) -> None:
    """Send and fold what waits; a cloud that may only be read, or was set back, is compared as it is."""
    try:
        await service.exchange()
    except UnavailableError as error:
        if not isinstance(error, ReadOnlyError | CloudStoppedError):
            raise


async def _compare_searches(memory: Memory, copy: StoreThread) -> tuple[int, list[str]]:
    today = memory.clock.today()
    await Settler(copy, memory.settings).settle(today)
    queries = await memory.thread.call(_queries, priority=Priority.READ)
    wrong: list[str] = []
    for query in queries:
        ask = partial(_answers, query=query, today=day_number(today))
        ours, theirs = await memory.thread.call(ask, priority=Priority.READ), await copy.call(ask)
        if not _alike(ours, theirs) and (
            await _knows_less(copy, memory.thread, query[0], set(ours) - set(theirs), day_number(today))
            or await _knows_less(memory.thread, copy, query[0], set(theirs) - set(ours), day_number(today))
            or set(ours) == set(theirs)
        ):
            wrong.append(f"a search of agent {query[0]} is answered otherwise after the restore")
    return len(queries), wrong


async def _knows_less(asked: StoreThread, knows: StoreThread, agent: str, facts: set[str], today: int) -> bool:
    """Whether a memory does not find one of `facts` by its own words, which stand in `knows`.

    Of very many facts that match a question equally well only some are ranked, and chance decides which ones.
    """
    for fact in facts:
        text = await knows.call(partial(_text, agent=agent, fact=fact), priority=Priority.READ)
        found = await asked.call(partial(_answers, query=(agent, text), today=today), priority=Priority.READ)
        if fact not in found:
            return True
    return False


def _text(store: Store, agent: str, fact: str) -> str:
    rows = store.execute("SELECT text FROM facts WHERE agent_id = ? AND id = ?", (agent, fact))
    return str(rows[0][0]) if rows else ""


def _queries(store: Store) -> list[_Query]:
    """Questions made of facts that lie evenly over the whole memory; `SEARCHES` of them if there are so many facts."""
    ((count,),) = store.execute("SELECT coalesce(max(n), 0) FROM derived")
    step = max(1, (count if isinstance(count, int) else 0) // SEARCHES)
    found: dict[_Query, None] = {}
    last = 0
    while len(found) < SEARCHES:
        rows = store.execute(
            "SELECT d.n, d.agent_id, f.text FROM derived d JOIN facts f ON f.n = d.n"
            " WHERE d.n > ? AND d.state = 'live' ORDER BY d.n LIMIT 1",
            (last,),
        )
        if rows:
            n, agent, text = rows[0]
            found[str(agent), " ".join(str(text).split()[:_WORDS])[:200]] = None
            last = int(n or 0) + step - 1
        elif step > 1:
            last, step = 0, step // 2  # gaps were met: once more in shorter steps
        else:
            break
    return list(found)


def _answers(store: Store, query: _Query, today: int) -> dict[str, float]:
    """The facts that answer, with their relevance."""
    agent, question = query
    return {hit.fact_id: hit.relevance for hit in find(store, question, agents=[agent], limit=_LIMIT, today=today)}


def _alike(ours: dict[str, float], theirs: dict[str, float]) -> bool:
    """Whether two memories answer alike: the same facts, equally relevant but for how often common words are estimated.

    Among equals at the end of a full answer chance decides which ones are shown.
    """
    if len(ours) != len(theirs):
        return False
    last = max(min(each.values()) for each in (ours, theirs)) if len(ours) == _LIMIT else 0.0
    certain = {
        fact for each in (ours, theirs) for fact, relevance in each.items() if relevance > last * (1 + _ESTIMATED)
    }
    return all(
        fact in ours and fact in theirs and math.isclose(ours[fact], theirs[fact], rel_tol=_ESTIMATED)
        for fact in certain
    )

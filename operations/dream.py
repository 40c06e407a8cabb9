"""`dream`: the memory tidies itself up while nobody asks (docs/memory.md, 3, docs/original.md).

Wordings of one thing are joined, contradictions settled; archiving and fading are computed from the day, and a dream
only tells what time has moved. Each step is small, logged with before and after, and taken back by `undo`; between two
steps the dream waits for whoever asks something. Dreaming twice changes nothing more.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

import msgspec

from ..clock import day_number
from ..crash import crash_point
from ..store import Store
from ..store.sessions import let_go, session_agents
from ..store.thread import Priority
from ..store.versions import set_edit
from ..tiers.layers import LAYERS, LONG_TERM_KINDS, has_faded, layer_of
from .change_log import DREAM, record_edits
from .claims import FIELD, contested_claims, whole_matters
from .contradictions import decisions
from .dream_log import Sides, log_steps, logged
from .dream_plan import LOADED, Group, Wording, beginnings, groups, like_others, pairs_among, wordings
from .dream_undo import begin_dream, trim_dreams
from .last_dream import Rows, has_changed, have_dreamt, keep, last_dream, rows_now
from .layer_replies import DreamLogReply, DreamReply, DreamStep
from .layer_requests import DreamRequest
from .layers_now import walk_live
from .memory import Memory
from .progress import report_progress
from .replies import DreamStatus

T = TypeVar("T")
Links: TypeAlias = dict[str, tuple[str | None, str | None]]
"""Facts with what one field of theirs was and is to be."""

LISTED = 100
LONG_TERM_LIMIT = 1_000
"""Above so many long-term entries a dream does not wait for an idle hour."""
_MERGED = "merged_into"


async def dream(memory: Memory, request: DreamRequest) -> DreamReply | DreamLogReply:
    """Dream now of everything (`dry_run`: only say what would be done), or show the log."""
    agent = request.agent_id
    if request.log:
        return await memory.thread.call(lambda store: DreamLogReply(logged(store, agent)), priority=Priority.READ)
    async with memory.dream_lock:
        reply = await _Dream(memory, agent, deep=True, dry_run=request.dry_run).run()
    if not request.dry_run:
        memory.dreams = _status([reply])
    return reply


async def dream_all(memory: Memory, *, deep: bool) -> list[DreamReply]:
    """Dream for every agent whose rows changed since its last dream; for the daemon's scheduler.

    A dream that is not deep looks at new facts only. Sessions whose time has come are let go of.
    """
    await memory.thread.call(_let_go)
    replies: list[DreamReply] = []
    for agent in sorted({*memory.agents, memory.settings.agent_id}):
        async with memory.dream_lock:
            if await has_changed(memory, agent, deep=deep):
                replies.append(await _Dream(memory, agent, deep=deep).run())
    await memory.thread.call(partial(have_dreamt, deep=deep))
    if replies:
        memory.dreams = _status(replies)
    return replies


async def long_term_entries(memory: Memory) -> int:
    """How many long-term entries the fullest memory of an agent has, counted from an index alone."""
    kinds = ", ".join(f"'{kind}'" for kind in LONG_TERM_KINDS)  # ours, no parameter
    sql = (
        "SELECT count(*) FROM derived INDEXED BY derived_kind WHERE agent_id = ? AND state = 'live' AND kind <> 'fact'"
        f" AND kind IN ({kinds})"
    )

    def read(store: Store) -> int:
        return max((int(store.execute(sql, (agent,))[0][0] or 0) for agent in sorted(memory.agents)), default=0)

    return await memory.thread.call(read, priority=Priority.BULK)


class _Dream:
    """One dream of one agent."""

    def __init__(self, memory: Memory, agent_id: str, *, deep: bool, dry_run: bool = False) -> None:
        self._memory, self._agent, self._dry = memory, agent_id, dry_run
        self._today = day_number(memory.clock.today())
        self._reply = DreamReply(agent_id, memory.clock.now_ms() / 1000, dry_run, deep)
        self._begun = False
        """Whether it has changed something."""
        self._seen = Rows()
        """The rows before the first step, and what the dream wrote: what comes meanwhile is for the next one."""

    async def run(self) -> DreamReply:
        """Find out, then act, step by step."""
        reply, started = self._reply, self._memory.clock.monotonic()
        await self._memory.settle()
        self._seen = await self._step(rows_now)
        last = await self._step(partial(last_dream, agent_id=self._agent))
        if reply.deep:
            await self._contradictions()
        for group in await self._groups(0 if reply.deep else last.n):
            await self._join(group)
        if reply.deep:
            await self._time(last.day)
        if not self._dry:
            await self._memory.settle([self._agent])
            await self._step(self._remember, Priority.WRITE)
        reply.seconds = round(self._memory.clock.monotonic() - started, 3)
        return reply

    async def _step(self, work: Callable[[Store], T], priority: Priority = Priority.BULK) -> T:
        self._reply.paused += await self._memory.asking.undisturbed()
        return await self._memory.thread.call(work, priority=priority)

    async def _contradictions(self) -> None:
        today = self._memory.clock.today().isoformat()
        for part in whole_matters(await contested_claims(self._memory, self._agent)):
            for given in await self._step(partial(decisions, agent_id=self._agent, contested=part, today=today)):
                step = "supersede" if given.later else "revive"
                links: Links = {given.fact: (given.before, given.later)}
                self._reply.superseded += await self._write(step, FIELD, links, given.later or given.fact)

    async def _groups(self, since: int) -> list[Group]:
        """What to join; nothing is looked at where no fact has come since that row."""
        begun: list[tuple[int, int]] = []
        for start in (since, 0) if since else (0,):
            begun = await self._beginnings(start)
            if not begun:
                return []
        self._reply.looked_at = len(begun)
        joined: list[Group] = []
        for numbers in like_others(begun):
            found: list[Wording] = []
            for at in range(0, len(numbers), LOADED):
                found += await self._step(partial(wordings, numbers=numbers[at : at + LOADED]))
            if pairs := await asyncio.to_thread(pairs_among, found):
                joined += await self._step(partial(groups, agent_id=self._agent, pairs=pairs))
        return joined

    async def _beginnings(self, since: int) -> list[tuple[int, int]]:
        begun: list[tuple[int, int]] = []
        after: int | None = since
        while after is not None:
            some, after = await self._step(partial(beginnings, agent_id=self._agent, after=after))
            begun += some
            report_progress(phase="dreaming", done=after or since)
        return begun

    async def _join(self, group: Group) -> None:
        links: Links = {each.fact: (None, group.whole.fact) for each in group.parts}
        joined = await self._write(group.step, _MERGED, links, group.whole.fact)
        if group.step == "merge":
            self._reply.merged += joined
        else:
            self._reply.consolidated += joined

    async def _write(self, step: str, field: str, links: Links, whole: str) -> int:
        """Set one field of some facts, in a change that can be undone; returns how many.

        A fact that somebody changed since it was looked at is left as it is.
        """

        def write(store: Store) -> DreamStep:
            known = _known(store, self._agent, field, [whole, *links])
            still = {fact: link for fact, link in links.items() if fact in known and known[fact][1] == link[0]}
            if whole not in known:
                still = {}
            done = DreamStep(step, whole, known.get(whole, ("", None))[0], [])
            done.parts = [{"id": fact, "text": known[fact][0]} for fact in still]
            if still and not self._dry:
                done.change = self._set(store, step, field, still)
            return done

        done = await self._step(write, Priority.BULK if self._dry else Priority.WRITE)
        if done.parts and len(self._reply.steps) < LISTED:
            self._reply.steps.append(done)
        return len(done.parts)

    def _set(self, store: Store, step: str, field: str, links: Links) -> int:
        before = store.rev
        with store.transaction() as tx:
            for fact, (_, value) in links.items():
                set_edit(tx, self._agent, fact, field, value)
            change = record_edits(tx, self._agent, f"{DREAM}{step}", field, links)
            if not self._begun:
                begin_dream(tx, self._agent, change)
            sides: dict[str, Sides] = {fact: ({field: old}, {field: new}) for fact, (old, new) in links.items()}
            log_steps(tx, self._agent, step, sides, change)
        self._begun = True
        self._seen = self._seen._replace(rev=self._seen.rev + store.rev - before)
        crash_point("dream step")
        return change

    async def _time(self, since: int) -> None:
        """Count the layers, and what time has moved between them since that day."""
        reply = self._reply
        reply.layers = dict.fromkeys(LAYERS, 0)
        more: int | None = 0
        while more is not None:
            found, more = await self._step(partial(walk_live, agent_id=self._agent, after=more))
            moved: dict[str, dict[str, Sides]] = {"archive": {}, "fade": {}}
            for fact, each in found.items():
                now = layer_of(each, self._today)
                reply.layers[now] += 1
                if not since:
                    continue
                before = layer_of(each, since)
                if has_faded(each, self._today) and not has_faded(each, since):
                    moved["fade"][fact] = ({"layer": before}, {"layer": now})
                elif now == "archive" and before != now:
                    moved["archive"][fact] = ({"layer": before}, {"layer": now})
            reply.faded += len(moved["fade"])
            reply.archived += len(moved["archive"])
            if not self._dry and any(moved.values()):
                await self._step(partial(self._log_moves, moved=moved), Priority.WRITE)

    def _log_moves(self, store: Store, moved: dict[str, dict[str, Sides]]) -> None:
        with store.transaction() as tx:
            for step, facts in moved.items():
                if facts:
                    log_steps(tx, self._agent, step, facts)

    def _remember(self, store: Store) -> None:
        last = last_dream(store, self._agent)
        last.at_ms, last.n, last.rows = self._memory.clock.now_ms(), self._seen.newest, self._seen.text
        if self._reply.deep:
            last.day = self._today
        with store.transaction() as tx:
            keep(tx, self._agent, last)
            trim_dreams(tx, self._agent)


def _status(replies: Sequence[DreamReply]) -> DreamStatus:
    return DreamStatus(
        at=replies[-1].at,
        merged=sum(each.merged + each.consolidated for each in replies),
        superseded=sum(each.superseded for each in replies),
        archived=sum(each.archived for each in replies),
        faded=sum(each.faded for each in replies),
    )


def _known(store: Store, agent_id: str, field: str, facts: Sequence[str]) -> dict[str, tuple[str, str | None]]:
    """The text of each fact that is live or superseded now, and that field of it."""
    rows = store.execute(
        "SELECT f.id, f.text, e.value FROM json_each(?) j CROSS JOIN facts f ON f.agent_id = ? AND f.id = j.value"
        " CROSS JOIN derived d ON d.n = f.n AND d.state IN ('live', 'superseded') LEFT JOIN edits e"
        " ON e.agent_id = f.agent_id AND e.fact_id = f.id AND e.field = ?",
        (msgspec.json.encode(list(facts)).decode(), agent_id, field),
    )
    return {str(fact): (str(text), None if value is None else str(value)) for fact, text, value in rows}


def _let_go(store: Store) -> None:
    with store.transaction() as tx:
        for agent in session_agents(store):
            let_go(tx, agent)

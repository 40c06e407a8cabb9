"""`retrieve`: facts of all tiers, best first, with their places, and honest about what is not in yet."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from ..clock import day_number
from ..search.rank import Found, Ranked, rank
from ..store import Store
from ..store.thread import Priority
from .memory import Memory
from .places import shown, standings
from .replies import Envelope, Hit, Why
from .requests import RetrieveRequest
from .tree_search import Chosen, chosen_categories

_JSON = msgspec.json.Encoder()
_OF_CATEGORIES = 200
"""So many hits are looked through for those of the categories that a model chose."""


class Answer(msgspec.Struct):
    """Hits and how they were found: `ranker` as in the envelope, `reason` why another way had to answer."""

    hits: list[Hit]
    ranker: str = "fts"
    reason: str = ""


async def retrieve(memory: Memory, request: RetrieveRequest) -> list[Hit] | Envelope:
    """Answer from all tiers. What is returned counts as read, at most once a day a fact."""
    if request.after_write:
        await memory.rescan()
    # Only who is told how fresh the answer is has to wait for it, a millisecond or two; and what is in doubt now
    # may be in a moment later, after the search.
    stale = request.envelope and (not await memory.watch.caught_up() or memory.in_doubt)
    pending = memory.pending
    answer = await answered(memory, request)
    count_answer(memory, request.agent_id, answer.hits)
    if not request.envelope:
        return answer.hits
    as_of = datetime.fromtimestamp(memory.clock.now_ms() / 1000, UTC).isoformat(timespec="milliseconds")
    return Envelope(as_of, pending, stale, answer.hits, answer.ranker, answer.reason)


async def find_hits(memory: Memory, request: RetrieveRequest) -> list[Hit]:
    """What the memory holds of a question, best first; nothing is counted."""
    return (await answered(memory, request)).hits


async def answered(memory: Memory, request: RetrieveRequest) -> Answer:
    """The hits of a question, by words or by the categories that a model chooses; nothing is counted."""
    # A single command would have to wait for the language process; the daemon has it at hand or does without.
    words = await memory.language.words(request.query) if memory.resident else None
    chosen = await chosen_categories(memory, request) if request.llm else None
    limit = max(request.limit, _OF_CATEGORIES) if chosen and chosen.paths else request.limit
    read = partial(_ranked, memory=memory, request=request, words=words, limit=limit)
    ranked = await memory.thread.call(read, priority=Priority.READ)
    cosines = await memory.language.cosines(ranked.documents) if memory.resident else None
    show = partial(_hits, request=request, found=ranked.best(limit, cosines), chosen=chosen)
    hits = await memory.thread.call(show, priority=Priority.READ)
    lacks = cosines is None or (words is None and memory.language.cuts(request.query))
    return Answer(hits, "fts" if lacks else "full", chosen.reason if chosen else "")


def _ranked(store: Store, memory: Memory, request: RetrieveRequest, words: Sequence[str] | None, limit: int) -> Ranked:
    return rank(
        store,
        request.query,
        agents=None if request.all_agents else [request.agent_id],
        limit=limit,
        today=day_number(memory.clock.today()),
        words=words,
        aliases=memory.aliases.of(request.query),
    )


def _hits(store: Store, request: RetrieveRequest, found: list[Found], chosen: Chosen | None) -> list[Hit]:
    if chosen is not None:
        known = {each.fact_id for each in found}
        more = chosen.facts(store, request.agent_id, request.limit)
        found = found + [each for each in more if each.fact_id not in known]
    hits: dict[tuple[str, str], Hit] = {}
    for agent in {each.agent_id for each in found}:
        for hit in described(store, agent, [each for each in found if each.agent_id == agent]):
            hits[agent, hit.id] = hit
    ordered = [hits[each.agent_id, each.fact_id] for each in found if (each.agent_id, each.fact_id) in hits]
    if chosen is not None:
        ordered = chosen.ordered(ordered)[: request.limit]
    if request.explain:
        by_id = {(each.agent_id, each.fact_id): each for each in found}
        for hit in ordered:
            hit.why = _why(hit, by_id[hit.agent_id, hit.id], chosen.why(hit.category) if chosen else "")
    return ordered


def _why(hit: Hit, found: Found, reason: str) -> Why:
    place = hit.sources[0] if hit.sources else None
    parts = {name: round(value, 4) for name, value in found.parts.items()}
    path = [hit.category.rsplit("/", level)[0] for level in range(hit.category.count("/"), -1, -1)]
    return Why(
        path if hit.category else [],
        found.matched,
        found.unmatched,
        parts,
        place.file if place else "",
        place.lines[0] if place else 0,
        reason,
    )


def described(store: Store, agent: str, found: Sequence[Found]) -> list[Hit]:
    """The live facts that were found, as hits, in no order."""
    by_id = {each.fact_id: each for each in found}
    # With + it looks only at these facts; without it an index leads it through all live facts of the agent.
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT f.id, f.text, d.category, d.importance, d.created_at, d.access_days, d.score, d.tier, d.kind"
        " FROM derived d JOIN facts f ON f.n = d.n WHERE d.agent_id = ? AND +d.state = 'live'"
        " AND d.fact_id IN (SELECT value FROM json_each(?))",
        (agent, _JSON.encode(list(by_id)).decode()),
    )
    standing = standings(store, agent, list(by_id))
    return [
        Hit(
            id=fact, text=text, category=category, importance=importance, created_at=created_at / 1000,
            access_count=access, score=score, metadata=shown(standing[fact].metadata), tier=tier,
            search_method=_method(by_id[fact], tier), relevance=round(by_id[fact].relevance, 4),
            agent_id=agent, kind=kind, sources=standing[fact].sources,
        )
        for fact, text, category, importance, created_at, access, score, tier, kind in rows
    ]  # fmt: skip


def _method(found: Found, tier: str) -> str:
    """How it was found, in the original's words: what a word of the question found is named by its tier."""
    if found.method != "keyword":
        return found.method
    return "cold" if tier in ("cold", "frozen") else "keyword-warm"


def count_answer(memory: Memory, agent_id: str, hits: Sequence[Hit]) -> None:
    """Count one answered question of an agent, and a read of each hit, at most one a day: when nobody asks any more."""
    memory.reads.note(agent_id, [(hit.agent_id, hit.id) for hit in hits], day_number(memory.clock.today()))
    if memory.resident:
        memory.reads.write_when_quiet()
    else:
        memory.later(memory.reads.write())

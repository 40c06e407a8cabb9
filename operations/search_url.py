"""`search-url`: facts by a piece of their URLs, or every fact that has one."""

from collections.abc import Sequence
from functools import partial

from ..errors import UsageError
from ..search.rank import Found
from ..store import Store, Value
from ..store.thread import Priority
from .memory import Memory
from .replies import Hit
from .requests import SearchUrlRequest
from .retrieve import described
from .tier_replies import UrlReply

_INDEXED = 3
"""Characters from which on the index knows a piece; a shorter one is looked for in every URL."""
_FACTS = 50_000
"""Facts a step, so that no step takes 50 ms however many URLs hold the piece."""
_SHOWN = 400
"""Hits a step."""


async def search_url(memory: Memory, request: SearchUrlRequest) -> UrlReply:
    """The facts with that piece in a URL, the strongest first; upper and lower case are the same."""
    if bool(request.url) == request.all:
        raise UsageError("search-url takes --url or --all.", "E.g. memoryd search-url --url github.com")
    limit = -1 if request.all else request.limit
    if not request.url.isprintable():  # no URL holds such signs, and the store takes none of them
        return UrlReply(request.url, 0, [])
    ranked: list[tuple[float, str]] = []
    first, last = 0, await memory.thread.call(_last, priority=Priority.READ)
    while first < last:
        step = partial(_step, agent_id=request.agent_id, piece=request.url.casefold(), first=first, limit=limit)
        ranked += await memory.thread.call(step, priority=Priority.READ)
        first += _FACTS
    facts = [fact for _, fact in sorted(ranked)][: None if request.all else limit]
    hits: list[Hit] = []
    for start in range(0, len(facts), _SHOWN):
        some = [Found(0, request.agent_id, fact, 1.0, [], [], "grep", {}) for fact in facts[start : start + _SHOWN]]
        show = partial(described, agent=request.agent_id, found=some)
        hits += await memory.thread.call(show, priority=Priority.READ)
    hits.sort(key=lambda hit: (-hit.score, hit.id))
    return UrlReply(request.url, len(hits), hits)


def _last(store: Store) -> int:
    last = store.execute("SELECT max(id) FROM url_index_docsize")
    return int(last[0][0] or 0)


def _step(store: Store, agent_id: str, piece: str, first: int, limit: int) -> list[tuple[float, str]]:
    """The strongest of some facts, as (score below zero, id); all of them for a `limit` of -1."""
    condition, asked = _condition(piece)
    rows = store.execute(
        "SELECT -d.score, d.fact_id FROM url_index AS u CROSS JOIN derived AS d ON d.n = u.rowid"
        f" WHERE {condition} AND u.rowid > ? AND u.rowid <= ? AND d.agent_id = ? AND d.state = 'live'"
        " ORDER BY 1, 2 LIMIT ?",
        (*asked, first, first + _FACTS, agent_id, limit),
    )
    return [(float(score or 0), str(fact)) for score, fact in rows]


def _condition(piece: str) -> tuple[str, Sequence[Value]]:
    if len(piece) >= _INDEXED:
        return "u.url_index MATCH ?", ('"{}"'.format(piece.replace('"', '""')),)
    return "instr(u.url, ?)", (piece,)

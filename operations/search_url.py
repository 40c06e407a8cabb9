"""`search-url`: facts by a piece of their URLs, or every fact that has one."""

from collections.abc import Sequence
from functools import partial

import msgspec

from ..errors import UsageError
from ..search.rank import Found
from ..store import Store
from ..store.notes import metadata_of
from ..store.thread import Priority
from .memory import Memory
from .requests import SearchUrlRequest
from .retrieve import described
from .tier_replies import UrlReply

_JSON = msgspec.json.Encoder()
_ROWS = 5_000
"""Mentions a step: about 20 ms on the store thread."""


async def search_url(memory: Memory, request: SearchUrlRequest) -> UrlReply:
    """The facts with that piece in a URL, the strongest first; upper and lower case are the same."""
    if bool(request.url) == request.all:
        raise UsageError("search-url takes --url or --all.", "E.g. memoryd search-url --url github.com")
    facts = await _matching(memory, request.agent_id, request.url.casefold())
    found = [Found(0, request.agent_id, fact, 1.0, [], [], "url", {}) for fact in facts]

    def read(store: Store) -> UrlReply:
        hits = sorted(described(store, request.agent_id, found), key=lambda hit: (-hit.score, hit.id))
        shown = hits if request.all else hits[: request.limit]
        return UrlReply(request.url, len(shown), shown)

    return await memory.thread.call(read, priority=Priority.READ)


async def _matching(memory: Memory, agent_id: str, piece: str) -> list[str]:
    """The ids of all live facts with a URL that holds `piece`, '' for any URL."""
    found: dict[str, None] = {}
    after: tuple[str, str, int] | None = ("", "", -1)
    while after is not None:
        step = partial(_step, agent_id=agent_id, piece=piece, after=after)
        facts, after = await memory.thread.call(step, priority=Priority.READ)
        found.update(dict.fromkeys(facts))
    return list(found)


def _step(
    store: Store, agent_id: str, piece: str, after: tuple[str, str, int]
) -> tuple[Sequence[str], tuple[str, str, int] | None]:
    rows = store.execute(
        "SELECT device, path, n, fact_id, CASE WHEN instr(metadata, '\"urls\"') THEN metadata END FROM mentions"
        " WHERE agent_id = ? AND (device, path, n) > (?, ?, ?) ORDER BY device, path, n LIMIT ?",
        (agent_id, *after, _ROWS),
    )
    facts = [
        str(fact)
        for _, _, _, fact, metadata in rows
        if metadata is not None and any(piece in url.casefold() for url in metadata_of(str(metadata)).urls)
    ]
    live = store.execute(
        "SELECT fact_id FROM derived WHERE agent_id = ? AND state = 'live'"
        " AND fact_id IN (SELECT value FROM json_each(?))",
        (agent_id, _JSON.encode(facts).decode()),
    )
    last = (str(rows[-1][0]), str(rows[-1][1]), int(rows[-1][2] or 0)) if len(rows) == _ROWS else None
    return [str(row[0]) for row in live], last

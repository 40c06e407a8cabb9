"""`context`: the text that an agent loads before it answers, never longer than it asked for."""

from collections.abc import Sequence

from ..clock import day_number
from ..store import Store
from ..store.sessions import sessions, turns
from ..store.thread import Priority
from ..tiers.hot import hot_state
from ..tiers.page import render
from ..tiers.tree import node_line, tree
from .memory import Memory
from .replies import Hit
from .requests import ContextRequest, RetrieveRequest
from .retrieve import count_answer, find_hits
from .tier_replies import ContextReply

_HITS = 20


async def context(memory: Memory, request: ContextRequest) -> ContextReply:
    """Hot state, tree, the latest session and the best hits. Hits that found room count as read."""
    hits: list[Hit] = []
    if request.query.strip():
        hits = await find_hits(memory, RetrieveRequest(agent_id=request.agent_id, query=request.query, limit=_HITS))
    hot, nodes, talk = await memory.thread.call(
        lambda store: _always(store, memory, request.agent_id), priority=Priority.READ
    )
    found = [_hit_line(hit) for hit in hits]
    lines = [*hot, "", "## Tree", "", *nodes]
    lines += ["", "## Last session", "", *talk] if talk else []
    lines += ["", "## Found", "", *found] if found else []
    kept = _fitting(lines, request.max_bytes)
    shown = hits[: max(0, len(kept) - (len(lines) - len(found)))]
    if request.query.strip():
        count_answer(memory, request.agent_id, shown)
    text = "\n".join(kept)
    return ContextReply(text, len(text.encode()), request.max_bytes, len(lines) - len(kept), shown)


def _always(store: Store, memory: Memory, agent_id: str) -> tuple[list[str], list[str], list[str]]:
    """The lines of hot state, as MEMORY.md has them, of the tree, and of the latest session."""
    hot = hot_state(store, agent_id, day_number(memory.clock.today()), memory.settings)
    nodes = tree(store, agent_id, memory.settings)[1:]
    shown = [f"- {node_line(each)} (warm:{each.warm_count}, cold:{each.cold_count})" for each in nodes]
    latest = next(iter(sessions(store, agent_id)), None)
    said = turns(store, agent_id, latest.name) if latest is not None else []
    talk = [f"- {role}: {' '.join(text.split())}" for _, role, text in said]
    return render(hot.state).splitlines(), shown, talk


def _hit_line(hit: Hit) -> str:
    source = hit.sources[0] if hit.sources else None
    where = f", {source.file}:{source.lines[0]}" if source else ""
    more = "".join(f" <{url}>" for url in hit.metadata["urls"]) + "".join(
        f" `{command}`" for command in hit.metadata["commands"]
    )
    return f"- {hit.text}{more} ({hit.category}{where})"


def _fitting(lines: Sequence[str], max_bytes: int) -> list[str]:
    """The first lines that fit, with their line ends; headings at the end that head nothing go too."""
    kept: list[str] = []
    room = max_bytes + 1
    for line in lines:
        room -= len(line.encode()) + 1
        if room < 0:
            break
        kept.append(line)
    while len(kept) < len(lines) and kept and (not kept[-1] or kept[-1].startswith("#")):
        kept.pop()
    return kept

"""Descriptions of the tree by a language model, for the monthly consolidation; without one the tree is counts only.

The tree itself always follows from the facts' categories, so a model can neither lose nor invent a node: what it
says about paths that exist, in one short line each, is taken, and everything else is refused.
"""

from functools import partial
from typing import Any, Literal

import msgspec

from ..ingest.mask import mask_text
from ..store import Store
from ..store.thread import Priority
from ..store.versions import set_tree_node
from ..tiers.tree import DESCRIPTION_LIMIT, tree
from .change_log import UPKEEP, recorded
from .forgotten_words import Guard
from .llm import Llm, LlmError
from .memory import Memory

Rebuilt = Literal["llm", "failed", "error", "counts-only"]

_PROMPT = """You describe the nodes of a memory tree. For each path give one line of at most {limit} characters that
says what its memories are about, in the language of the samples. Answer with JSON only:
[{{"path": "...", "description": "..."}}]

"""
_SAMPLES = 3


class _Line(msgspec.Struct):
    path: str
    description: str


async def describe_tree(memory: Memory, agent_id: str, endpoint: Llm | None) -> tuple[Rebuilt, int]:
    """How the tree was rebuilt, and how many nodes were described anew.

    `failed`: the model's answer was refused; `error`: it did not answer.
    """
    if endpoint is None:
        return "counts-only", 0
    nodes = await memory.thread.call(lambda store: _undescribed(store, memory, agent_id), priority=Priority.READ)
    if not nodes:
        return "counts-only", 0
    lines_of = [await memory.thread.call(partial(_line, agent_id=agent_id, path=path)) for path in nodes]
    try:
        answer = await endpoint.complete_json(_PROMPT.format(limit=DESCRIPTION_LIMIT) + "\n".join(lines_of))
    except LlmError as error:
        return ("failed" if "JSON" in error.message else "error"), 0
    lines = _accepted(answer, nodes)
    if lines is None:
        return "failed", 0
    await memory.thread.call(lambda store: _write(store, agent_id, lines))
    return "llm", len(lines)


def _undescribed(store: Store, memory: Memory, agent_id: str) -> dict[str, str]:
    """Path to description of the nodes that nobody described."""
    described = {
        str(path)
        for (path,) in store.execute(
            "SELECT path FROM tree_nodes WHERE agent_id = ? AND deleted = 0 AND description <> ''", (agent_id,)
        )
    }
    nodes = tree(store, agent_id, memory.settings)[1:]
    return {node.path: node.description for node in nodes if node.path not in described}


def _line(store: Store, agent_id: str, path: str) -> str:
    """A node of the prompt, with what its facts say; a call of its own, for each looks through many facts."""
    rows = store.execute(
        "SELECT distilled FROM derived WHERE agent_id = ? AND state = 'live' AND tier IN ('hot', 'warm', 'cold')"
        " AND category = ? ORDER BY latest_day DESC LIMIT ?",
        (agent_id, path, _SAMPLES),
    )
    return f"{path}: {'; '.join(str(row[0]) for row in rows)}"


def _accepted(answer: Any, nodes: dict[str, str]) -> dict[str, str] | None:
    """Path to description; None unless every line is about a node that was asked for, in one short line."""
    try:
        lines = msgspec.convert(answer, list[_Line])
    except msgspec.ValidationError:
        return None
    found = {each.path: " ".join(mask_text(each.description)[0].split()) for each in lines}
    if not found or not found.keys() <= nodes.keys():
        return None
    if any(not text or len(text) > DESCRIPTION_LIMIT or not text.isprintable() for text in found.values()):
        return None
    return {path: text for path, text in found.items() if text != nodes[path]}


def _write(store: Store, agent_id: str, lines: dict[str, str]) -> None:
    guard = Guard(store, agent_id)
    with store.transaction() as tx, recorded(tx, agent_id, f"{UPKEEP}descriptions by a model"):
        for path, text in lines.items():
            if not guard.stops(text):
                set_tree_node(tx, agent_id, path, text)

"""`retrieve --llm`: a language model chooses the categories that a question belongs to; words answer where it fails.

The model sees the tree (`path — description` lines, at most 2 KB) and the question, masked. Its reply is checked:
a path that does not exist is dropped, and where nothing is left, or nothing comes, the hits are those of the words,
with the reason beside them.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..errors import NoInputError
from ..foreign import read_regular
from ..model import TIERS
from ..search.rank import Found
from ..store import Store
from ..store.thread import Priority
from ..tiers.tree import tree
from .llm import LlmError, llm_of
from .memory import Memory
from .replies import Hit
from .requests import RetrieveRequest

WORDLESS = 0.1
"""The relevance, as a share of its category's, of a fact that no word of the question speaks for."""
PATHS = 5
"""How many categories of a reply are taken."""
_PROMPT = """You search a memory that is kept as a tree of categories. Choose the categories that most likely hold
the answer, at most {limit}, the best first. Answer with JSON only:
[{{"path": "...", "relevance": 0.0}}]

Tree:
{tree}

Question: {query}
"""


class _Line(msgspec.Struct):
    path: str
    relevance: float = 1.0


class Chosen(msgspec.Struct):
    """What the model chose: relevance 0..1 of each path; without paths, `reason` says why."""

    paths: dict[str, float] = {}
    reason: str = ""

    def ordered(self, hits: Sequence[Hit]) -> list[Hit]:
        """The hits of the chosen categories first, best category first; all of them, as they come, without a choice."""
        if not self.paths:
            for hit in hits:
                hit.search_method = "fallback"
            return list(hits)
        for hit in hits:
            if self._worth(hit) > 0:
                hit.search_method = "llm-tree"
        return sorted(hits, key=lambda hit: (self._worth(hit) * hit.relevance, hit.relevance), reverse=True)

    def facts(self, store: Store, agent_id: str, limit: int) -> list[Found]:
        """The newest live facts of the chosen categories themselves, whatever their words."""
        sql = (
            "SELECT n, fact_id FROM derived WHERE agent_id = ? AND state = 'live' AND tier = ? AND category = ?"
            " ORDER BY latest_day DESC LIMIT ?"
        )
        rows: list[tuple[Any, ...]] = [
            (n, fact, worth)
            for path, worth in self.paths.items()
            for tier in TIERS
            for n, fact in store.execute(sql, (agent_id, tier, path, limit))
        ]
        return [
            Found(n, agent_id, fact, worth * WORDLESS, [], [], "llm-tree", {"category": worth})
            for n, fact, worth in rows
        ]

    def _worth(self, hit: Hit) -> float:
        return max(
            (worth for path, worth in self.paths.items() if f"{hit.category}/".startswith(f"{path}/")), default=0.0
        )


async def chosen_categories(memory: Memory, request: RetrieveRequest) -> Chosen:
    """Ask the model; raises `ConfigError` for an endpoint that may not be asked, `NoInputError` without the prompt."""
    endpoint = llm_of(memory.settings, request.llm_endpoint)
    if endpoint is None:
        return Chosen(reason="No LLM endpoint is configured.")
    nodes = await memory.thread.call(
        lambda store: tree(store, request.agent_id, memory.settings)[1:], priority=Priority.READ
    )
    if not nodes:
        return Chosen(reason="The tree has no categories yet.")
    lines = "\n".join(f"{node.path} — {node.description}" for node in nodes)
    prompt = await _prompt(memory, request.llm_prompt_file)
    try:
        answer = await endpoint.complete_json(prompt.replace("{tree}", lines).replace("{query}", request.query))
        found = msgspec.convert(answer, list[_Line])
    except LlmError as error:
        return Chosen(reason=error.message)
    except msgspec.ValidationError:
        return Chosen(reason="The model's answer is no list of paths.")
    known = {node.path for node in nodes}
    paths = {each.path: min(max(each.relevance, 0.0), 1.0) for each in found[:PATHS] if each.path in known}
    return Chosen(paths) if any(paths.values()) else Chosen(reason="The model chose no category that exists.")


async def _prompt(memory: Memory, file: str) -> str:
    if not file:
        return _PROMPT.format(limit=PATHS, tree="{tree}", query="{query}")
    path = Path(memory.workspace / file)
    try:
        return (await asyncio.to_thread(read_regular, path)).decode("utf-8", "replace")
    except OSError:
        raise NoInputError(f"{path} cannot be read.", "Name a text file with {tree} and {query} in it.") from None

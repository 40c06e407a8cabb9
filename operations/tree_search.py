"""`retrieve --llm`: a language model chooses the categories that a question belongs to; words answer where it fails.

The model sees the tree (`path — description (warm:6, cold:45)` lines, at most 50) and the question, masked. Its
reply is checked: a path that does not exist is dropped, and where nothing is left, or nothing comes, the hits are
those of the words, with the reason beside them. Prompt and reply are those of the original skill.
"""

import asyncio
import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ..errors import AccessError, NoInputError
from ..foreign import read_regular
from ..ingest.mask import mask_text
from ..model import TIERS
from ..search.rank import Found
from ..store import Store
from ..store.thread import Priority
from ..tiers.tree import TreeNode, nearest, node_line, tree
from ..tiers.tree import categories as categories_of
from .llm import LlmError, llm_of
from .memory import Memory
from .replies import Hit
from .requests import RetrieveRequest

WORDLESS = 0.1
"""The relevance, as a share of its category's, of a fact that no word of the question speaks for."""
PATHS = 5
"""How many categories of a reply are taken."""
CATEGORIES = 100
"""Of so many categories at and below the chosen ones, the latest used, facts are shown that no word speaks for."""
REASON = 200
"""Characters of a model's reason that are shown."""
_PROMPT = """You are a memory retrieval system. Given a memory tree index and a query, identify which categories are
relevant: at most 5 paths of the index, the most relevant first. Output JSON only.

Memory Tree Index:
{tree}

User Query: {query}

Output (JSON):
[{"path": "category/path", "relevance": 0.95, "reason": "why it is relevant"}]
"""
_PLACE = re.compile(r"\{(?:tree|query)\}")


class _Line(msgspec.Struct):
    path: str
    relevance: float = 1.0
    reason: str = ""


class Chosen(msgspec.Struct):
    """What the model chose: relevance 0..1 of each path, and its reason; without paths, `reason` says why."""

    paths: dict[str, float] = {}
    reasons: dict[str, str] = {}
    categories: dict[str, str] = {}
    """The chosen path of each category that has facts there: its own node's, or that of the node it was folded into."""
    reason: str = ""

    def why(self, category: str) -> str:
        """Why a hit of that category stands where it does, as far as the model has to do with it."""
        return self.reasons.get(self.categories.get(category, ""), "") if self.paths else self.reason

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
        """The newest live facts of the chosen categories, whatever their words."""
        sql = (
            "SELECT n, fact_id FROM derived WHERE agent_id = ? AND state = 'live' AND tier = ? AND category = ?"
            " ORDER BY latest_day DESC LIMIT ?"
        )
        rows: list[tuple[Any, ...]] = [
            (n, fact, self.paths[path])
            for category, path in list(self.categories.items())[:CATEGORIES]
            for tier in TIERS
            for n, fact in store.execute(sql, (agent_id, tier, category, limit))
        ]
        return [
            Found(n, agent_id, fact, worth * WORDLESS, [], [], "llm-tree", {"category": worth})
            for n, fact, worth in rows
        ]

    def _worth(self, hit: Hit) -> float:
        return self.paths.get(self.categories.get(hit.category, ""), 0.0)


async def chosen_categories(memory: Memory, request: RetrieveRequest) -> Chosen:
    """Ask the model; raises `ConfigError` for an endpoint that may not be asked, `NoInputError` without the prompt."""
    endpoint = llm_of(memory.settings, request.llm_endpoint)
    nodes, categories = await memory.thread.call(partial(_tree, memory, request.agent_id), priority=Priority.READ)
    if not nodes:
        return Chosen(reason="The tree has no categories yet.")
    file = memory.workspace / request.llm_prompt_file if request.llm_prompt_file else None
    prompt = await _prompt(file)
    lines = "\n".join(f"{node_line(node)} (warm:{node.warm_count}, cold:{node.cold_count})" for node in nodes)
    given = {"{tree}": lines, "{query}": request.query}
    filled = _PLACE.sub(lambda place: given[place[0]], prompt)  # at once: a description may hold {query} itself
    if file is not None and prompt is _PROMPT:
        await asyncio.to_thread(_write_new, file, mask_text(filled)[0])
    if endpoint is None:
        return Chosen(reason="No LLM endpoint is configured" + (f"; the prompt is in {file}." if file else "."))
    try:
        found = msgspec.convert(await endpoint.complete_json(filled), list[_Line])
    except LlmError as error:
        return Chosen(reason=error.message)
    except msgspec.ValidationError:
        return Chosen(reason="The model's answer is no list of paths.")
    return _chosen(found, nodes, categories)


def _tree(memory: Memory, agent_id: str, store: Store) -> tuple[list[TreeNode], list[str]]:
    """The nodes below the root, and all categories with facts, the latest used first."""
    latest = sorted(categories_of(store, agent_id), key=lambda each: each.last_day, reverse=True)
    return tree(store, agent_id, memory.settings)[1:], [each.path for each in latest]


def _chosen(found: Sequence[_Line], nodes: Sequence[TreeNode], categories: Sequence[str]) -> Chosen:
    known = {node.path for node in nodes}
    valid = [each for each in found if each.path in known and each.relevance > 0][:PATHS]
    if not valid:
        return Chosen(reason="The model chose no category that exists.")
    chosen = Chosen(
        {each.path: min(each.relevance, 1.0) for each in valid},
        {each.path: f"The model chose {each.path}: {each.reason[:REASON]}".removesuffix(": ") for each in valid},
    )
    for category in categories:
        node = nearest(nodes, category)
        above = [path for path in chosen.paths if f"{node}/".startswith(f"{path}/")]
        if above:
            chosen.categories[category] = max(above, key=len)
    return chosen


async def _prompt(file: Path | None) -> str:
    """The prompt with `{tree}` and `{query}` in it: the file's, or ours where there is no such file yet."""
    if file is None:
        return _PROMPT
    try:
        prompt = (await asyncio.to_thread(read_regular, file)).decode("utf-8", "replace")
    except FileNotFoundError:
        return _PROMPT
    except OSError as error:
        raise NoInputError(f"{file} cannot be read: {error.strerror}.", "Name a text file.") from None
    if "{tree}" not in prompt or "{query}" not in prompt:
        raise NoInputError(
            f"{file} is no prompt: it lacks {{tree}} or {{query}}.",
            "Put both in, or name a file that does not exist to have the prompt written there.",
        )
    return prompt


def _write_new(path: Path, text: str) -> None:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(text.encode())
    except OSError as error:
        raise AccessError(f"{path} cannot be written: {error.strerror}.", "Name a file in a folder of yours.") from None

"""`distill`: one fact out of a conversation, by rules or by a language model whose answer is checked."""

import re
from typing import Any

import msgspec

from ..errors import UsageError
from ..ingest.distil import shortened, summary
from ..ingest.mask import mask_text
from ..ingest.metadata import unique
from ..ingest.talk import Distilled, distil_talk, gather_talk, room_for
from ..store import Store
from ..tiers.counters import count_llm_fallbacks
from .llm import Llm, LlmError, llm_of
from .memory import Memory
from .named_file import named_file
from .requests import DistillRequest
from .tier_replies import DistillReply

OUTCOMES = ("positive", "negative", "pending", "ongoing")
_PROMPT = """Distil the conversation below into one fact of at most {limit} bytes, without speaker labels.
Keep every URL, command and path that matters. Answer with JSON only:
{{"fact": "...", "emotion": "one word", "people": ["names in the text"], "topics": ["at most 5"],
"actions": ["at most 3"], "outcome": "positive|negative|pending|ongoing"}}

Conversation:
{text}"""
_WORD = re.compile(r"[A-Za-z]{3,}|\d+|[\u3400-\u9fff]")


async def distill(memory: Memory, request: DistillRequest) -> DistillReply:
    """Distil the text, or the file; nothing is stored but the count of a model that failed."""
    text = await _asked(memory, request)
    chosen = memory.settings.distillation
    limit = room_for(chosen.max_distilled_bytes, chosen.aggression)
    wanted = request.llm or bool(request.llm_endpoint) or chosen.mode == "llm"
    endpoint = llm_of(memory.settings, request.llm_endpoint) if wanted else None
    found = await by_model(endpoint, text, limit) if endpoint is not None else None
    reply = DistillReply(
        distilled=found or distil_talk(text, chosen.max_distilled_bytes, chosen.aggression),
        mode="rule" if found is None else "llm",
        original_size=len(text.encode()),
        distilled_size=0,
        metadata=_metadata(text),
    )
    reply.distilled_size = len(reply.distilled.fact.encode())
    if not reply.distilled.fact:
        raise UsageError("The text holds no words.", "Give a conversation: --text 'User: … Agent: …'.")
    if request.core_summary:
        reply.core_summary = summary(reply.distilled.fact)
    if wanted:
        reply.llm_fallbacks = int(found is None)
        if found is None:
            await memory.thread.call(lambda store: _count(store, request.agent_id))
    return reply


async def by_model(endpoint: Llm, text: str, max_bytes: int) -> Distilled | None:
    """What the model makes of a text; None if it does not answer or its answer does not fit the text."""
    try:
        answer = await endpoint.complete_json(_PROMPT.format(limit=max_bytes, text=text))
    except LlmError:
        return None
    return _accepted(answer, text, max_bytes)


def _accepted(answer: Any, text: str, max_bytes: int) -> Distilled | None:
    try:
        found = msgspec.convert(answer, Distilled)
    except msgspec.ValidationError:
        return None
    fact = " ".join(mask_text(found.fact)[0].split())
    if not _words(fact) & _words(text) or found.outcome not in OUTCOMES:
        return None
    return Distilled(
        fact=shortened(fact, max_bytes),
        emotion=_line(found.emotion) or "neutral",
        people=[name for name in _lines(found.people, 10) if name.lower() in text.lower()],
        topics=_lines(found.topics, 5),
        actions=_lines(found.actions, 3),
        outcome=found.outcome,
    )


def _metadata(text: str) -> dict[str, list[str]]:
    """What no distillation may lose: the URLs, commands and paths of the text."""
    found = gather_talk(text)
    return {"urls": found.urls, "commands": found.commands, "paths": found.paths}


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}


def _line(text: str) -> str:
    return " ".join(mask_text(text)[0].split())[:60]


def _lines(texts: list[str], most: int) -> list[str]:
    return unique(filter(None, map(_line, texts)))[:most]


async def _asked(memory: Memory, request: DistillRequest) -> str:
    if bool(request.text.strip()) == bool(request.file):
        raise UsageError("distill takes --text or --file.", "Give one of them.")
    if request.file:
        data = (await named_file(memory, request.file, request.agent_id)).data
        return mask_text(data.decode("utf-8-sig", "replace"))[0]
    return mask_text(request.text)[0]


def _count(store: Store, agent_id: str) -> None:
    with store.transaction() as tx:
        count_llm_fallbacks(tx, agent_id, 1)

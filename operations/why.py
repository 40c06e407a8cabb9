"""`why`: what became of a line, and how a fact came to its category, its weight and its tier (docs/memory.md, 2)."""

from typing import Any

import msgspec

from ..config import Settings
from ..errors import NoInputError, UsageError
from ..ingest.category import from_headings
from ..model import Metadata, fact_id
from ..store import Store
from ..store.notes import metadata_of
from ..store.thread import Priority
from ..tiers.layers import has_faded, layer_of
from ..tiers.score import age_of
from .aliases import resolved
from .layers_now import referred
from .memory import Memory
from .named_file import named_file
from .places import standings
from .reasons import FACT_REASONS, LAYER_REASONS, LINE_REASONS
from .replies import Source
from .why_requests import WhyRequest

_EPOCH_ORDINAL = 719_163
"""`date.toordinal` of 1970-01-01."""
_headings = msgspec.json.Decoder(list[str])


class WhyReply(msgspec.Struct):
    """Why memory says something, or why a line says nothing: `reasons` are sentences, the first is the answer."""

    fact_id: str | None
    text: str
    state: str
    """Of the fact; of the line where no fact came of it."""
    reasons: list[str]
    category: str = ""
    importance: float | None = None
    tier: str | None = None
    score: float | None = None
    sources: list[Source] = []
    file: str = ""
    line: int = 0
    line_state: str = ""
    layer: str | None = None


async def why(memory: Memory, request: WhyRequest) -> WhyReply:
    """Explain a fact by its id, or a line of a file."""
    if bool(request.id) == bool(request.file) or bool(request.file) != bool(request.line):
        raise UsageError("Name a fact by --id, or a line by --file and --line.", "memoryd ledger lists a file's lines.")
    if request.id:
        return await _of_fact(memory, request.agent_id, request.id)
    file = await named_file(memory, request.file, request.agent_id)
    if file.parsed.whole:
        return WhyReply(None, "", "too_large", [LINE_REASONS["too_large"]], file=file.path, line=request.line)
    if request.line > len(file.parsed.lines):
        raise UsageError(f"{file.path} has {len(file.parsed.lines)} lines.", "Lines count from 1.")
    state, owner = file.parsed.lines[request.line - 1]
    reply = WhyReply(None, "", state, [])
    if owner >= 0:
        text = file.parsed.mentions[owner].text
        fact = fact_id(file.agent_id, text)
        try:
            reply = await _of_fact(memory, file.agent_id, fact)
        except NoInputError:
            reply = WhyReply(fact, text, "waiting", ["The fact is not taken in yet: memoryd rescan does it now."])
        if reply.state == "forgotten":
            state = "forgotten"
    reply.reasons = [LINE_REASONS[state], *reply.reasons]
    reply.file, reply.line, reply.line_state = file.path, request.line, state
    return reply


async def _of_fact(memory: Memory, agent_id: str, fact: str) -> WhyReply:
    today = memory.clock.today().toordinal() - _EPOCH_ORDINAL
    return await memory.thread.call(
        lambda store: _explained(store, agent_id, fact, today, memory.settings), priority=Priority.READ
    )


def _explained(store: Store, agent_id: str, fact: str, today: int, settings: Settings) -> WhyReply:
    fact = resolved(store, agent_id, fact)
    if has_tombstone(store, agent_id, fact):
        return WhyReply(fact, "", "forgotten", [FACT_REASONS["forgotten"]])
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT f.text, d.state, d.category, d.importance, d.kind, d.tier, d.score, d.latest_day, d.on_page,"
        " d.access_days FROM facts f JOIN derived d ON d.n = f.n WHERE f.agent_id = ? AND f.id = ?",
        (agent_id, fact),
    )
    if not rows:
        raise NoInputError(f"There is no fact {fact}.", "memoryd retrieve shows the ids.")
    text, state, category, importance, kind, tier, score, latest, on_page, reads = rows[0]
    edited = {
        str(row[0])
        for row in store.execute(
            "SELECT field FROM edits WHERE agent_id = ? AND fact_id = ? AND value IS NOT NULL", (agent_id, fact)
        )
    }
    headings, metadata = _latest(store, agent_id, fact)
    reasons = [
        FACT_REASONS[state],
        _of_category(category, headings, metadata, edited),
        _of_importance(importance, kind, metadata, edited),
    ]
    reply = WhyReply(fact, text, state, reasons, category, importance)
    reply.sources = standings(store, agent_id, [fact])[fact].sources
    if state == "live":
        reply.tier, reply.score = tier, round(score, 3)
        age = age_of(latest, bool(on_page), today)
        reasons.append(
            f"It is {tier}: score {score:.3f} = {importance:g} × exp(−{age} / {settings.scoring.half_life_days:g})"
            f" × (1 + {settings.scoring.reinforcement_boost:g} × {reads}), with {age} days since its latest mention"
            f" and {reads} days on which it was read."
        )
        found = referred(store, agent_id, [fact])[fact]
        reply.layer = layer_of(found, today)
        reasons.append(LAYER_REASONS["faded" if has_faded(found, today) else reply.layer])
    return reply


def has_tombstone(store: Store, agent_id: str, fact: str) -> bool:
    """Whether the fact was forgotten, and that was not lifted."""
    return bool(
        store.execute(
            "SELECT 1 FROM forgotten WHERE agent_id = ? AND fact_id = ? AND version > lifted_version", (agent_id, fact)
        )
    )


def _latest(store: Store, agent_id: str, fact: str) -> tuple[list[str], Metadata]:
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT headings, metadata FROM mentions INDEXED BY mentions_fact WHERE agent_id = ? AND fact_id = ?"
        " ORDER BY rtrim(date, 'Z') DESC, path DESC, line_from DESC LIMIT 1",
        (agent_id, fact),
    )
    return (_headings.decode(rows[0][0]), metadata_of(rows[0][1])) if rows else ([], Metadata())


def _of_category(category: str, headings: list[str], metadata: Metadata, edited: set[str]) -> str:
    if "category" in edited:
        return f"Its category {category} was set by a command."
    if "category" in metadata.explicit:
        return f"Its category {category} is written in the note: a tag, front matter, or a heading of the tree."
    if headings and from_headings(headings) == category:
        return f"Its category {category} comes from the headings above it: {' > '.join(headings)}."
    return f"Its category {category} comes from its words, as no heading or tag names one."


def _of_importance(importance: float, kind: str, metadata: Metadata, edited: set[str]) -> str:
    if "importance" in edited:
        return f"Its importance {importance:g} was set by a command."
    if "importance" in metadata.explicit:
        return f"Its importance {importance:g} is written in the note."
    return f"Its importance {importance:g} comes from its words: they read like a {kind}."

"""`why-not`: why a sentence is not in memory, or that it is (docs/memory.md, 2)."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

import msgspec

from ..errors import MemorydError
from ..ingest.mask import mask_text, without_masks
from ..ingest.parse import parse_statement
from ..ingest.reader import read_note
from ..ingest.source import read_source
from ..model import FactState, ParsedNote, fact_id
from ..store import Store
from ..store.thread import Priority
from .memory import Memory
from .named_file import open_regular, parse_in_time
from .reasons import FACT_REASONS, LINE_REASONS, NOTE_REASONS
from .why import has_tombstone
from .why_requests import WhyNotRequest

_MOST = 20
"""So many places are listed at most."""
_LINE_MARK = re.compile(r"\s*(?:>\s*)*(?:[-*+]\s+|\d{1,9}[.)]\s+|#{1,6}\s+)?")
_WORD = re.compile(r"[^\W_]+")
_WORDS = 60
"""So many words of a sentence are looked for, whatever markup stands between them."""
_PIECE = 1 << 20
_OVERLAP = 4096
"""Bytes of a piece that are looked at again with the next one: a sentence may begin in one and end in the other."""
_NOT_IN = "The line says it, but it is not taken in yet: memoryd rescan does it now."
_IN = "The line says it, and it is in memory."


class SentencePlace(msgspec.Struct):
    """A line that holds the sentence, with the line's state and what that means."""

    file: str
    line: int
    state: str
    reason: str


class WhyNotReply(msgspec.Struct):
    """Whether the sentence is in memory, and why not; `state` is the fact's, '' if there is none."""

    sentence: str
    fact_id: str | None
    in_memory: bool
    state: str
    reason: str
    places: list[SentencePlace] = []


async def why_not(memory: Memory, request: WhyNotRequest) -> WhyNotReply:
    """Name the reason for one sentence: its own words first, then the store, then the files on disk."""
    said = parse_statement(_LINE_MARK.sub("", request.sentence, count=1), "general", 0.5)
    if not said.text:
        reason = LINE_REASONS["secret" if mask_text(request.sentence)[1] else "empty_text"]
        return WhyNotReply(mask_text(request.sentence)[0], None, in_memory=False, state="", reason=reason)
    fact = fact_id(request.agent_id, said.text)
    state = await memory.thread.call(lambda store: _state(store, request.agent_id, fact), priority=Priority.READ)
    reply = WhyNotReply(said.text, fact, state == "live", state, "")
    places = [_as_known(place, state) for place in await _places(memory, request.agent_id, said.text)]
    reply.places = sorted(places, key=lambda place: place.state == "own_output")
    reply.reason = _reason(reply)
    return reply


def _state(store: Store, agent_id: str, fact: str) -> str:
    if has_tombstone(store, agent_id, fact):
        return "forgotten"
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT state FROM derived WHERE agent_id = ? AND fact_id = ?", (agent_id, fact)
    )
    return str(rows[0][0]) if rows else ""


def _as_known(place: SentencePlace, state: str) -> SentencePlace:
    """The place as the store knows its fact: parsing alone cannot tell what became of what the line says."""
    if place.reason != _NOT_IN or state in ("", "retracted"):
        return place
    reason = _IN if state == "live" else FACT_REASONS[cast(FactState, state)]
    return msgspec.structs.replace(place, state="forgotten" if state == "forgotten" else place.state, reason=reason)


def _reason(reply: WhyNotReply) -> str:
    if reply.state:
        return FACT_REASONS[cast(FactState, reply.state)]
    if not reply.places:
        return "No file that is watched says it."
    return reply.places[0].reason


async def _places(memory: Memory, agent_id: str, sentence: str) -> list[SentencePlace]:
    """The lines that say the sentence: in watched notes, then in files that are left out, with the reason."""
    pattern = re.compile(r"[\W_]{0,40}".join(map(re.escape, _WORD.findall(without_masks(sentence))[:_WORDS])))
    files = iter(_candidates(memory, agent_id))
    found: list[SentencePlace] = []
    while len(found) < _MOST:
        holds = await asyncio.to_thread(_next_holding, memory, files, pattern)
        if holds is None:
            break
        path, data, reason = holds
        if isinstance(data, int):
            found.append(SentencePlace(path, data, "too_large", reason or LINE_REASONS["too_large"]))
            continue
        if isinstance(data, str):
            found.append(SentencePlace(path, 0, "unreadable", data))
            continue
        parsed = await parse_in_time(memory, path, data)
        found += _lines(path, data, parsed, sentence, pattern, reason)
    return found[:_MOST]


def _next_holding(
    memory: Memory, files: Iterator[tuple[str, str]], pattern: re.Pattern[str]
) -> tuple[str, bytes | str | int, str] | None:
    """The next file that holds the sentence, and why it is left out.

    Between them its bytes, or why they cannot be read, or the line of a file that is too large to be kept in memory.
    """
    for path, reason in files:
        try:
            data = read_note(memory.workspace, path, memory.settings.notes.max_backup_bytes).data
            line = _line_in_large(memory, path, pattern) if data is None else 0
        except MemorydError as error:
            if reason:
                return path, error.message, reason
            continue
        if line:
            return path, line, reason
        if data is not None and pattern.search("\n".join(read_source(data).lines)) is not None:
            return path, data, reason
    return None


def _line_in_large(memory: Memory, path: str, pattern: re.Pattern[str]) -> int:
    """The first line that holds the sentence of a file of any size, looked at piece by piece; 0 if none does."""
    try:
        with open_regular(memory.workspace / path, memory.workspace) as opened:
            return _line_in(opened, pattern)
    except OSError:  # it went between two looks
        return 0


def _line_in(opened: BinaryIO, pattern: re.Pattern[str]) -> int:
    kept, line = b"", 1
    while piece := opened.read(_PIECE):
        window = kept + piece
        text = window.decode("utf-8", "replace")
        if (match := pattern.search(text)) is not None:
            return line + text.count("\n", 0, match.start())
        line += window.count(b"\n", 0, max(0, len(window) - _OVERLAP))
        kept = window[-_OVERLAP:]
    return 0


def _candidates(memory: Memory, agent_id: str) -> Iterator[tuple[str, str]]:
    """Files of this agent, each with the reason why it is left out as a whole, or ''."""
    walk = memory.intake.last_walk
    for path, record in sorted(memory.intake.records.items()):
        if record.agent_id == agent_id:
            reason = NOTE_REASONS.get(record.state, "")
            yield path, f"{reason}: {record.reason}." if reason and record.reason else reason and f"{reason}."
    for path in sorted(walk.files.keys() - memory.intake.records.keys()):
        if walk.files[path].name.agent_id == agent_id:
            yield path, "The note is not taken in yet: memoryd rescan does it now."
    for path, why in sorted({**walk.skipped, **walk.conflicts}.items()):
        yield path, f"The file is left out: {why}."
    for path in sorted(walk.unmatched):
        yield path, "The file's name matches no pattern of notes; notes.extra can take it in."


def _lines(
    path: str, data: bytes, parsed: ParsedNote, sentence: str, pattern: re.Pattern[str], reason: str
) -> Iterator[SentencePlace]:
    text = "\n".join(read_source(data).lines)  # masking keeps the lines
    for match in pattern.finditer(text):
        number = text.count("\n", 0, match.start())
        if parsed.whole:
            yield SentencePlace(path, number + 1, "too_large", reason or LINE_REASONS["too_large"])
            continue
        state, owner = parsed.lines[number]
        why = reason or LINE_REASONS[state]
        if not reason and owner >= 0 and parsed.mentions[owner].text != sentence:
            why = f"It is part of a longer fact: {parsed.mentions[owner].text[:200]}"
        elif not reason and state in ("fact", "duplicate"):
            why = _NOT_IN
        yield SentencePlace(path, number + 1, state, why)

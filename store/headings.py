"""Headings that say something forgotten: no fact of their own, but the blocks below carry their words."""

import msgspec

from ..model import ParsedMention, ParsedNote, fact_id
from .chunks import lines_saying
from .store import Tx

_GENERAL = "general"
_JSON = msgspec.json.Encoder()


def without_forgotten_headings(
    tx: Tx, agent_id: str, parsed: ParsedNote
) -> tuple[list[ParsedMention], list[tuple[int, int]]]:
    """The note's mentions without such headings and the categories made of them, and its lines that say them."""
    mentions = parsed.mentions
    ids = {fact_id(agent_id, heading): heading for each in mentions for heading in each.headings}
    rows = tx.execute(
        "SELECT fact_id FROM forgotten WHERE agent_id = ? AND version > lifted_version AND moved_to = ''"
        " AND fact_id IN (SELECT value FROM json_each(?))",
        (agent_id, _JSON.encode(sorted(ids)).decode()),
    )
    gone = {ids[str(row[0])] for row in rows}
    if not gone:
        return list(mentions), []
    lines = [place for heading in sorted(gone) for place in _lines_of(parsed, heading)]
    return [_without(each, gone) for each in mentions], lines


def _lines_of(parsed: ParsedNote, heading: str) -> list[tuple[int, int]]:
    """Where it stands as a heading, else, as a speaker's name or a title, wherever it is said.

    `Tea` is said by `The Team meets`, too, which is no heading.
    """
    said = lines_saying(parsed.body, heading)
    own = [
        (first, last) for first, last in said if any(state == "heading" for state, _ in parsed.lines[first - 1 : last])
    ]
    return own or said


def _without(mention: ParsedMention, gone: set[str]) -> ParsedMention:
    kept = [each for each in mention.headings if each not in gone]
    if len(kept) == len(mention.headings):
        return mention
    category = mention.category if "category" in mention.metadata.explicit else _GENERAL
    return msgspec.structs.replace(mention, headings=kept, category=category)

"""Where facts stand: the sources of a hit, read from the mentions that the store holds."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ..model import Metadata
from ..store import Store
from ..store.notes import metadata_of
from .replies import Source

_JSON = msgspec.json.Encoder()
MAX_SOURCES = 20


class Standing(msgspec.Struct):
    """Everything that the mentions of one fact say beside its words."""

    sources: list[Source] = []
    metadata: Metadata = msgspec.field(default_factory=Metadata)


def standings(store: Store, agent_id: str, facts: Sequence[str]) -> dict[str, Standing]:
    """For each fact its places, latest first, and its merged metadata. Equal places of several devices are one.

    The places of shorter wordings that were merged into a fact are its places too.
    """
    owner = dict.fromkeys(facts) | merged_wordings(store, agent_id, facts)
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT fact_id, path, line_from, line_to, date, metadata FROM mentions INDEXED BY mentions_fact"
        " WHERE agent_id = ? AND fact_id IN (SELECT value FROM json_each(?))"
        " ORDER BY rtrim(date, 'Z') DESC, path, line_from",
        (agent_id, _JSON.encode(list(owner)).decode()),
    )
    found = {fact: Standing([], Metadata()) for fact in facts}
    for fact, path, first, last, day, metadata in rows:
        standing = found[owner[fact] or fact]
        standing.metadata = merged(standing.metadata, metadata_of(metadata))
        source = Source(path, [first, last], day)
        if path and source not in standing.sources and len(standing.sources) < MAX_SOURCES:
            standing.sources.append(source)
    return found


def merged_wordings(store: Store, agent_id: str, facts: Sequence[str]) -> dict[str, str]:
    """The wordings that were merged into these facts and stay so, each with the fact that stands for it."""
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT e.fact_id, e.value FROM edits e INDEXED BY edits_after CROSS JOIN derived d"
        " ON d.agent_id = e.agent_id AND d.fact_id = e.fact_id AND d.state = 'merged'"
        " WHERE e.agent_id = ? AND e.value IN (SELECT value FROM json_each(?)) AND e.field = 'merged_into'"
        # Word for word the condition of the partial index, or it is not used.
        " AND e.field IN ('after', 'superseded_by', 'merged_into') ORDER BY e.fact_id",
        (agent_id, _JSON.encode(list(facts)).decode()),
    )
    asked = set(facts)
    return {part: whole for part, whole in rows if part not in asked}


def merged(one: Metadata, two: Metadata) -> Metadata:
    """The union, in order, without repeats; the first emotion and outcome that say something."""
    lists = {
        name: list(dict.fromkeys([*getattr(one, name), *getattr(two, name)]))
        for name in ("urls", "commands", "paths", "people", "topics", "actions", "explicit")
    }
    return Metadata(emotion=one.emotion or two.emotion, outcome=one.outcome or two.outcome, **lists)


def shown(metadata: Metadata) -> dict[str, Any]:
    """Metadata as replies show it: `urls`, `commands` and `paths` always, the rest where it says something."""
    always: dict[str, Any] = {"urls": metadata.urls, "commands": metadata.commands, "paths": metadata.paths}
    names = ("people", "topics", "actions", "emotion", "outcome")
    return always | {name: getattr(metadata, name) for name in names if getattr(metadata, name)}

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
    """For each fact its places, latest first, and its merged metadata. Equal places of several devices are one."""
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT fact_id, path, line_from, line_to, date, metadata FROM mentions INDEXED BY mentions_fact"
        " WHERE agent_id = ? AND fact_id IN (SELECT value FROM json_each(?)) ORDER BY date DESC, path, line_from",
        (agent_id, _JSON.encode(list(facts)).decode()),
    )
    found = {fact: Standing([], Metadata()) for fact in facts}
    for fact, path, first, last, day, metadata in rows:
        standing = found[fact]
        standing.metadata = merged(standing.metadata, metadata_of(metadata))
        source = Source(path, [first, last], day)
        if path and source not in standing.sources and len(standing.sources) < MAX_SOURCES:
            standing.sources.append(source)
    return found


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

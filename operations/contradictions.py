"""Of two facts that contradict each other the later one is current, the earlier one superseded with a link (TR-6).

Both stay in `history`. A fact that is stated again later is current again: a note that still says it always wins.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from ..clock import day_of_ms
from ..store import Store
from ..store.thread import Priority
from ..store.versions import set_edit
from ..tiers.stance import Stance, stance
from .change_log import recorded
from .memory import Memory

FIELD = "superseded_by"
_ROWS = 2_000
_JSON = msgspec.json.Encoder()


class _Said(NamedTuple):
    """One stance as a fact: when and where it was said last."""

    when: tuple[str, str, int, int]
    fact: str
    stance: Stance
    superseded_by: str
    withdrawn: str
    """The day on which the link was taken back, '' if it was not."""


class Given(NamedTuple):
    """One decision: the fact gives way to `later`, None = it is current again; `before` is the link it had."""

    fact: str
    before: str | None
    later: str | None


async def settle_contradictions(memory: Memory, agent_id: str) -> int:
    """Supersede what was contradicted later, revive what was said again; returns how many facts changed."""
    steps = memory.settler.steps
    if memory.contradictions_settled.get(agent_id) == steps:
        return 0  # no fact changed since: an idle daemon does not read them all every two hours
    contested = await contested_stances(memory, agent_id)
    changed = 0
    if contested:
        changed = len(await memory.thread.call(lambda store: _decide(store, agent_id, contested)))
    memory.contradictions_settled[agent_id] = steps
    if changed:
        await memory.settle([agent_id])
    return changed


async def contested_stances(memory: Memory, agent_id: str) -> list[tuple[str, Stance, int]]:
    """Facts that say they like what others say they do not, with their first day [ms]; read in steps."""
    found: list[tuple[str, Stance, int]] = []
    after: int | None = 0
    while after is not None:
        some, after = await memory.thread.call(
            partial(_stances, agent_id=agent_id, after=after), priority=Priority.BULK
        )
        found += some
    sides: dict[tuple[str, str], set[bool]] = {}
    for _, each, _ in found:
        sides.setdefault((each.who, each.what), set()).add(each.liked)
    return [one for one in found if len(sides[one[1].who, one[1].what]) == 2]


def _stances(store: Store, agent_id: str, after: int) -> tuple[Sequence[tuple[str, Stance, int]], int | None]:
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT d.n, f.id, f.text, f.first_seen FROM derived d NOT INDEXED JOIN facts f ON f.n = d.n"
        " WHERE d.n > ? AND d.agent_id = ? AND d.state IN ('live', 'superseded') AND d.kind <> 'quote'"
        " AND length(f.text) < 200"
        " ORDER BY d.n LIMIT ?",
        (after, agent_id, _ROWS),
    )
    found = [(fact, each, seen) for _, fact, text, seen in rows if (each := stance(text)) is not None]
    return found, rows[-1][0] if len(rows) == _ROWS else None


def _decide(store: Store, agent_id: str, contested: Sequence[tuple[str, Stance, int]]) -> list[Given]:
    given = decisions(store, agent_id, contested)
    with store.transaction() as tx, recorded(tx, agent_id, "contradictions"):
        for each in given:
            set_edit(tx, agent_id, each.fact, FIELD, each.later)
    return given


def decisions(store: Store, agent_id: str, contested: Sequence[tuple[str, Stance, int]]) -> list[Given]:
    """What has to change so that of each contested matter the stance said last is current."""
    said = _said(store, agent_id, contested)
    given: list[Given] = []
    for about in sorted({(each.stance.who, each.stance.what) for each in said}):
        given += _settle_one(sorted(each for each in said if (each.stance.who, each.stance.what) == about))
    return given


def _settle_one(said: Sequence[_Said]) -> Iterator[Given]:
    """The stance that was said last holds; what says the opposite points to it."""
    last = said[-1]
    others = {each.fact for each in said}
    for each in said:
        wanted = last.fact if each.stance.liked != last.stance.liked else ""
        if each.superseded_by == wanted or (each.superseded_by and each.superseded_by not in others):
            continue  # somebody else's decision stands
        if wanted and each.withdrawn >= last.when[0]:
            continue  # undone, and nothing was said since
        yield Given(each.fact, each.superseded_by or None, wanted or None)


def _said(store: Store, agent_id: str, contested: Sequence[tuple[str, Stance, int]]) -> list[_Said]:
    keys = _JSON.encode([fact for fact, _, _ in contested]).decode()
    edits: Mapping[str, tuple[str, str]] = {
        str(fact): (str(value or ""), "" if value else day_of_ms(int(str(version)[:13])).isoformat())
        for fact, value, version in store.execute(
            "SELECT fact_id, value, version FROM edits WHERE agent_id = ? AND field = ?"
            " AND fact_id IN (SELECT value FROM json_each(?))",
            (agent_id, FIELD, keys),
        )
    }
    when: dict[str, tuple[str, str, int]] = {}
    for fact, day, path, line in store.execute(
        "SELECT fact_id, date, path, line_from FROM mentions WHERE agent_id = ?"
        " AND fact_id IN (SELECT value FROM json_each(?))",
        (agent_id, keys),
    ):
        place = (str(day), str(path), int(line or 0))
        when[str(fact)] = max(when.get(str(fact), place), place)
    return [
        _Said((*_dated(when.get(fact, ("", "", 0)), seen), seen), fact, each, *edits.get(fact, ("", "")))
        for fact, each, seen in contested
    ]


def _dated(place: tuple[str, str, int], seen: int) -> tuple[str, str, int]:
    """A place with a day: what was stored by command was said when it was first seen."""
    day, path, line = place
    return (day or day_of_ms(seen).isoformat())[:10], path, line

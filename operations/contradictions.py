"""Of two facts that contradict each other the later one is current, the earlier one superseded with a link (TR-6).

Two stances contradict each other (`I love X`, `I hate X`), and two values of one thing in one category (`The port of
kestrel is 8081`, `… is 8082`). Both facts stay in `history`. A fact that is stated again later is current again: a note
that still says it always wins.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from ..clock import day_of_ms
from ..model import COMMAND_PATH
from ..store import Store
from ..store.thread import Priority
from ..store.versions import set_edit
from ..tiers.stance import stance
from ..tiers.values import setting
from .change_log import recorded
from .memory import Memory

FIELD = "superseded_by"
_ROWS = 2_000
_DAY = len("2026-02-13")
_JSON = msgspec.json.Encoder()


class Claim(NamedTuple):
    """What a sentence says about a matter of which only one thing can hold: a stance, or a value.

    Two values of one day may both hold, unless somebody stored one after the other; so may two in notes that do not
    say whose they are (not `owned`): there, what stands around a line says it.
    """

    about: tuple[str, ...]
    says: str
    is_value: bool = False
    owned: bool = True


class _Said(NamedTuple):
    """One claim as a fact: when and where it was said last (day, path, line, time [ms])."""

    when: tuple[str, str, int, int]
    fact: str
    claim: Claim
    superseded_by: str
    withdrawn: int
    """When the link was taken back [ms], 0 if it was not."""
    stored: bool
    """Whether a command said it, be it that notes say it too."""


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
    contested = await contested_claims(memory, agent_id)
    changed = 0
    if contested:
        changed = len(await memory.thread.call(lambda store: _decide(store, agent_id, contested)))
    memory.contradictions_settled[agent_id] = steps
    if changed:
        await memory.settle([agent_id])
    return changed


async def contested_claims(memory: Memory, agent_id: str) -> list[tuple[str, Claim, int]]:
    """Facts about a matter of which others say something else, with their first day [ms]; read in steps."""
    found: list[tuple[str, Claim, int]] = []
    after: int | None = 0
    while after is not None:
        some, after = await memory.thread.call(partial(_claims, agent_id=agent_id, after=after), priority=Priority.BULK)
        found += some
    sides: dict[tuple[str, ...], set[str]] = {}
    for _, each, _ in found:
        sides.setdefault(each.about, set()).add(each.says)
    return [one for one in found if len(sides[one[1].about]) > 1]


def claim(text: str, category: str) -> Claim | None:
    """What a sentence claims, None if nothing that another one could contradict."""
    if (taken := stance(text)) is not None:
        return Claim((taken.who, taken.what), "liked" if taken.liked else "disliked")
    if (sets := setting(text)) is not None:
        return Claim((category, sets.what, "value"), sets.value, is_value=True, owned=sets.owned)
    return None


def _claims(store: Store, agent_id: str, after: int) -> tuple[Sequence[tuple[str, Claim, int]], int | None]:
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT d.n, f.id, f.text, d.category, f.first_seen FROM derived d NOT INDEXED JOIN facts f ON f.n = d.n"
        " WHERE d.n > ? AND d.agent_id = ? AND d.state IN ('live', 'superseded') AND d.kind <> 'quote'"
        " AND length(f.text) < 200"
        " ORDER BY d.n LIMIT ?",
        (after, agent_id, _ROWS),
    )
    found = [
        (fact, each, seen) for _, fact, text, category, seen in rows if (each := claim(text, category)) is not None
    ]
    return found, rows[-1][0] if len(rows) == _ROWS else None


def _decide(store: Store, agent_id: str, contested: Sequence[tuple[str, Claim, int]]) -> list[Given]:
    given = decisions(store, agent_id, contested)
    with store.transaction() as tx, recorded(tx, agent_id, "contradictions"):
        for each in given:
            set_edit(tx, agent_id, each.fact, FIELD, each.later)
    return given


def decisions(store: Store, agent_id: str, contested: Sequence[tuple[str, Claim, int]]) -> list[Given]:
    """What has to change so that of each contested matter the stance said last is current."""
    said = _said(store, agent_id, contested)
    given: list[Given] = []
    for _, together in groupby(sorted(said, key=_by_matter), key=lambda each: each.claim.about):
        given += _settle_one(list(together))
    return given


def _by_matter(each: _Said) -> tuple[tuple[str, ...], tuple[str, str, int, int], str]:
    return each.claim.about, each.when, each.fact


def _settle_one(said: Sequence[_Said]) -> Iterator[Given]:
    """What was said last holds; what contradicts it points to it."""
    last = said[-1]
    others = {each.fact for each in said}
    for each in said:
        wanted = last.fact if _contradicted(each, last) else ""
        if each.superseded_by == wanted or (each.superseded_by and each.superseded_by not in others):
            continue  # somebody else's decision stands
        if wanted and _undone_since(each, last):
            continue  # undone, and nothing was said since
        yield Given(each.fact, each.superseded_by or None, wanted or None)


def _contradicted(each: _Said, last: _Said) -> bool:
    if each.claim.says == last.claim.says:
        return False
    if not each.claim.is_value or (each.stored and last.stored):
        return True
    return each.claim.owned and each.when[0] < last.when[0]


def _undone_since(each: _Said, last: _Said) -> bool:
    day, path, _, at = last.when
    if path == COMMAND_PATH:
        return each.withdrawn >= at
    return each.withdrawn > 0 and day_of_ms(each.withdrawn).isoformat() >= day


def _said(store: Store, agent_id: str, contested: Sequence[tuple[str, Claim, int]]) -> list[_Said]:
    keys = _JSON.encode([fact for fact, _, _ in contested]).decode()
    edits: Mapping[str, tuple[str, int]] = {
        str(fact): (str(value or ""), 0 if value else int(str(version)[:13]))
        for fact, value, version in store.execute(
            "SELECT fact_id, value, version FROM edits WHERE agent_id = ? AND field = ?"
            " AND fact_id IN (SELECT value FROM json_each(?))",
            (agent_id, FIELD, keys),
        )
    }
    places: dict[str, list[tuple[str, str, int]]] = {}
    for fact, date, path, line in store.execute(
        "SELECT fact_id, date, path, line_from FROM mentions WHERE agent_id = ?"
        " AND fact_id IN (SELECT value FROM json_each(?))",
        (agent_id, keys),
    ):
        places.setdefault(str(fact), []).append((str(date), str(path), int(line or 0)))
    return [
        _Said(
            max((_when(*place, seen) for place in places.get(fact, [])), default=_when("", COMMAND_PATH, 0, seen)),
            fact, each, *edits.get(fact, ("", 0)), any(path == COMMAND_PATH for _, path, _ in places.get(fact, [])),
        )
        for fact, each, seen in contested
    ]  # fmt: skip


def _when(date: str, path: str, line: int, seen: int) -> tuple[str, str, int, int]:
    """When a place says it: what has no day was said when it was first seen, and what a command says has a time."""
    if not date:
        return day_of_ms(seen).isoformat(), path, line, seen
    said = datetime.fromisoformat(date).timestamp() if path == COMMAND_PATH and len(date) > _DAY else 0
    return date[:_DAY], path, line, max(seen, round(said * 1000))

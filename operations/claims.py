"""What facts claim about matters of which only one thing can hold, and when and where each was said last.

Two stances contradict each other (`I love X`, `I hate X`), and two values of one thing in one category (`The port of
kestrel is 8081`, `… is 8082`).
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
from ..tiers.stance import stance
from ..tiers.values import form, setting
from .memory import Memory

FIELD = "superseded_by"
FACTS_AT_ONCE = 200
"""So many contested facts are decided in one call of the store thread; one matter is never cut."""
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


class Contested(NamedTuple):
    """A fact about a matter of which another one says something else; `seen` first at [ms]."""

    fact: str
    claim: Claim
    seen: int


class Place(NamedTuple):
    """Where and when a fact was said: by command (path '') at that moment [ms].

    In a note `at` is when memoryd first saw the fact [ms]; `headings` as JSON.
    """

    day: str
    at: int
    path: str
    line: int
    device: str = ""
    headings: str = "[]"


class Said(NamedTuple):
    """One claim as a fact, with the place that said it last."""

    claim: Claim
    fact: str
    last: Place
    link: str | None
    """The fact it gave way to, '' = settled to be current, None = no link."""
    withdrawn: int
    """When somebody took the link back [ms], 0 if nobody did."""
    stored: bool
    """Whether a command said it, be it that notes say it too."""


async def contested_claims(memory: Memory, agent_id: str) -> list[Contested]:
    """Facts about a matter of which others say something else; read in steps."""
    found: list[Contested] = []
    after: int | None = 0
    while after is not None:
        some, after = await memory.thread.call(partial(_claims, agent_id=agent_id, after=after), priority=Priority.BULK)
        found += some
    sides: dict[tuple[str, ...], set[str]] = {}
    for each in found:
        sides.setdefault(each.claim.about, set()).add(each.claim.says)
    return [each for each in found if len(sides[each.claim.about]) > 1]


def whole_matters(contested: Sequence[Contested]) -> Iterator[list[Contested]]:
    """The same in parts, each of whole matters and of about `FACTS_AT_ONCE` facts."""
    part: list[Contested] = []
    for _, together in groupby(sorted(contested, key=_about), key=_about):
        matter = list(together)
        if part and len(part) + len(matter) > FACTS_AT_ONCE:
            yield part
            part = []
        part += matter
    if part:
        yield part


def _about(each: Contested) -> tuple[str, ...]:
    return each.claim.about


def claim(text: str, category: str) -> Claim | None:
    """What a sentence claims, None if nothing that another one could contradict."""
    if (taken := stance(text)) is not None:
        return Claim((taken.who, taken.what), "liked" if taken.liked else "disliked")
    if (sets := setting(text)) is not None:
        return Claim((category, sets.what, form(sets.value)), sets.value, is_value=True, owned=sets.owned)
    return None


def _claims(store: Store, agent_id: str, after: int) -> tuple[Sequence[Contested], int | None]:
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT d.n, f.id, f.text, d.category, f.first_seen FROM derived d NOT INDEXED JOIN facts f ON f.n = d.n"
        " WHERE d.n > ? AND d.agent_id = ? AND d.state IN ('live', 'superseded') AND d.kind <> 'quote'"
        " AND length(f.text) < 200"
        " ORDER BY d.n LIMIT ?",
        (after, agent_id, _ROWS),
    )
    found = [
        Contested(fact, each, seen)
        for _, fact, text, category, seen in rows
        if (each := claim(text, category)) is not None
    ]
    return found, rows[-1][0] if len(rows) == _ROWS else None


def said(store: Store, agent_id: str, contested: Sequence[Contested], today: str) -> list[Said]:
    """Where each was said last, until today if it was, and what was decided about it before."""
    keys = _JSON.encode([each.fact for each in contested]).decode()
    edits: Mapping[str, tuple[str | None, int]] = {
        str(fact): (None, int(str(version)[:13])) if value is None else (str(value), 0)
        for fact, value, version in store.execute(
            "SELECT fact_id, value, version FROM edits WHERE agent_id = ? AND field = ?"
            " AND fact_id IN (SELECT value FROM json_each(?))",
            (agent_id, FIELD, keys),
        )
    }
    seen = {each.fact: each.seen for each in contested}
    places: dict[str, list[Place]] = {}
    stored: set[str] = set()
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT fact_id, date, path, line_from, device, headings FROM mentions WHERE agent_id = ?"
        " AND fact_id IN (SELECT value FROM json_each(?))",
        (agent_id, keys),
    )
    for fact, date, path, line, device, headings in rows:
        day, at = _when(date, path, seen[fact])
        places.setdefault(fact, []).append(Place(day, at, path, line, device, headings))
        if path == COMMAND_PATH and len(date) != _DAY:  # a mere day is a note's, from an export
            stored.add(fact)
    return [
        Said(
            each.claim, each.fact,
            max(
                _until(today, places.get(each.fact, [])),
                default=Place(*_when("", COMMAND_PATH, each.seen), COMMAND_PATH, 0),
            ),
            *edits.get(each.fact, (None, 0)), each.fact in stored,
        )
        for each in contested
    ]  # fmt: skip


def _until(today: str, places: Sequence[Place]) -> Sequence[Place]:
    return [each for each in places if each.day <= today] or places


def _when(date: str, path: str, seen: int) -> tuple[str, int]:
    """The day and the moment [ms]: what has no day was said when it was first seen, what a command says has a time."""
    if not date:
        return day_of_ms(seen).isoformat(), seen
    said_at = datetime.fromisoformat(date).timestamp() if path == COMMAND_PATH and len(date) > _DAY else 0
    return date[:_DAY], max(seen, round(said_at * 1000))

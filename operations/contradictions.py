"""Of two facts that contradict each other the later one is current, the earlier one superseded with a link (TR-6).

Both facts stay in `history`. A fact that is stated again later is current again: a note that still says it always wins.
What stands in notes is superseded only where the notes themselves say that it is one thing: a false link hides a fact
that holds, while two values side by side hide nothing.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

import msgspec

from ..clock import day_of_ms
from ..ingest.category import heading_segment
from ..model import COMMAND_PATH
from ..store import Store
from ..store.versions import set_edit
from .change_log import UPKEEP, record_edits
from .claims import FIELD, Contested, Place, Said, contested_claims, said, whole_matters
from .memory import Memory
from .note_lines import NoteLines

_JSON = msgspec.json.Encoder()
_strings = msgspec.json.Decoder(list[str])


class Given(NamedTuple):
    """One decision: the fact gives way to `later`, '' = it is current again; `before` is the link it had."""

    fact: str
    before: str | None
    later: str


async def settle_contradictions(memory: Memory, agent_id: str) -> int:
    """Supersede what was contradicted later, revive what was said again; returns how many facts changed."""
    today = memory.clock.today().isoformat()
    looked_at = memory.settler.steps, today
    if memory.contradictions_settled.get(agent_id) == looked_at:
        return 0  # no fact changed since that day: an idle daemon does not read them all every two hours
    changed = 0
    for part in whole_matters(await contested_claims(memory, agent_id)):
        changed += await memory.thread.call(partial(_settle, agent_id=agent_id, contested=part, today=today))
    memory.contradictions_settled[agent_id] = looked_at
    if changed:
        await memory.settle([agent_id])
    return changed


def _settle(store: Store, agent_id: str, contested: Sequence[Contested], today: str) -> int:
    given = decisions(store, agent_id, contested, today)
    if given:
        with store.transaction() as tx:
            for each in given:
                set_edit(tx, agent_id, each.fact, FIELD, each.later)
            links: dict[str, tuple[str | None, str | None]] = {each.fact: (each.before, each.later) for each in given}
            record_edits(tx, agent_id, f"{UPKEEP}contradictions", FIELD, links)
    return len(given)


def decisions(store: Store, agent_id: str, contested: Sequence[Contested], today: str) -> list[Given]:
    """What has to change so that of each contested matter what was said last is current; of whole matters.

    `today` is the UTC day as in `2026-02-13`.
    """
    notes = NoteLines(store, agent_id)
    given: list[Given] = []
    together = sorted(said(store, agent_id, contested, today), key=lambda each: (each.claim.about, each.fact))
    standing = _standing(store, agent_id, together)
    for _, group in groupby(together, key=lambda each: each.claim.about):
        matter = list(group)
        given += _settle_one(matter, standing - {each.fact for each in matter}, notes, today)
    return given


def _standing(store: Store, agent_id: str, together: Sequence[Said]) -> set[str]:
    """The facts that others gave way to, without those that nobody states any more: a link to these decides nothing."""
    links = {each.link for each in together if each.link}
    rows = store.execute(
        "SELECT f.id FROM json_each(?) j CROSS JOIN facts f ON f.agent_id = ? AND f.id = j.value"
        " JOIN derived d ON d.n = f.n WHERE d.state IN ('live', 'superseded', 'merged')",
        (_JSON.encode(sorted(links)).decode(), agent_id),
    )
    return {str(fact) for (fact,) in rows}


def _settle_one(matter: Sequence[Said], decided: Collection[str], notes: NoteLines, today: str) -> Iterator[Given]:
    """What was said last holds; what contradicts it points to it.

    Unless it has given way to one of the `decided`, which are of other matters. A line that is struck through claims
    nothing, one of a day to come nothing yet.
    """
    claiming = [each for each in matter if each.last.day <= today and not notes.is_struck(each.last)]
    if not claiming:
        return
    last = _last(claiming)
    for each in matter:
        if each.claim.is_value and _is_imported(each) and _is_imported(last):
            continue  # what stood around them was known where they were exported, and links came along
        wanted = last.fact if _contradicted(each, last, notes) else ""
        if (each.link or "") == wanted or each.link in decided:
            continue  # somebody else's decision stands
        if wanted and _undone_since(each, last):
            continue  # undone, and nothing was said since
        yield Given(each.fact, each.link, wanted)


def _is_imported(each: Said) -> bool:
    return each.last.path == COMMAND_PATH and not each.stored


def _last(matter: Sequence[Said]) -> Said:
    """What was said last: on one day notes go by path and line, commands by their moment.

    Between the two it counts when memoryd first saw what the note says.
    """
    day = max(each.last.day for each in matter)
    today = [each for each in matter if each.last.day == day]
    stored = [each for each in today if each.last.path == COMMAND_PATH]
    noted = [each for each in today if each.last.path != COMMAND_PATH]
    by_command = max(stored, key=lambda each: (each.last.at, each.fact)) if stored else None
    by_note = max(noted, key=lambda each: (each.last.path, each.last.line, each.fact)) if noted else None
    if by_command is None or (by_note is not None and by_note.last.at > by_command.last.at):
        assert by_note is not None  # of a matter something was said
        return by_note
    return by_command


def _contradicted(each: Said, last: Said, notes: NoteLines) -> bool:
    if each.claim.says == last.claim.says or each.last.day > last.last.day:
        return False
    if not each.claim.is_value or (each.stored and last.stored):
        return True
    return each.claim.owned and each.last.day < last.last.day and _stand_alike(each.last, last.last, notes)


def _stand_alike(one: Place, other: Place, notes: NoteLines) -> bool:
    """Whether notes say both below the same headings, and below no other line, which may say whose they are."""
    noted = [each for each in (one, other) if each.path != COMMAND_PATH]
    if len({_matters_above(each.headings) for each in noted}) > 1:
        return False
    return not any(notes.is_below(each) for each in noted)


def _matters_above(headings: str) -> tuple[str, ...]:
    return tuple(segment for heading in _strings.decode(headings) if (segment := heading_segment(heading)))


def _undone_since(each: Said, last: Said) -> bool:
    if last.last.path == COMMAND_PATH:
        return each.withdrawn >= last.last.at
    return each.withdrawn > 0 and day_of_ms(each.withdrawn).isoformat() >= last.last.day

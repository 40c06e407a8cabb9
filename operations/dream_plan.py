"""What a dream would join: shorter wordings that a fuller one says too (docs/memory.md, 3, docs/original.md).

Only standing knowledge is joined: lessons, preferences, decisions, and facts that count as much. Without a model
nothing is written anew: the fullest wording that somebody wrote stands for the others, with the places of all.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from ..store import Store
from ..store.notes import metadata_of
from ..tiers.layers import LONG_TERM_KINDS, REPEATS
from .wordings import beginning, is_fuller, words

MERGE_IMPORTANCE = 0.7
"""Confidence 7 of 10: wordings that all have it are joined at once, others from three statements on."""
WALKED = 500
"""Rows that one step reads; some 20 ms."""
LOADED = 300
"""Wordings that one step reads; some 10 ms."""
_LONGEST = 400
_NEIGHBOURS = 100
"""A short sentence with more that begin like it is no wording of theirs."""
_JSON = msgspec.json.Encoder()
_KINDS = ", ".join(f"'{kind}'" for kind in LONG_TERM_KINDS)  # ours, no parameter
_JOINABLE = (
    f"d.state = 'live' AND length(f.text) <= {_LONGEST}"
    f" AND (d.kind IN ({_KINDS}) OR d.kind = 'fact' AND d.importance >= {MERGE_IMPORTANCE})"
)


class Wording(NamedTuple):
    """A fact that may be joined with another."""

    n: int
    fact: str
    category: str
    importance: float
    latest_day: int
    on_page: bool
    text: str

    @property
    def fullness(self) -> tuple[int, int, str]:
        """The strict order in which one stands for another (tiers/derive.py): said later, longer, greater id."""
        return self.latest_day, len(self.text), self.fact


class Group(NamedTuple):
    """A fuller wording and those that it stands for."""

    step: str
    whole: Wording
    parts: list[Wording]


def beginnings(store: Store, agent_id: str, after: int) -> tuple[list[tuple[int, int]], int | None]:
    """`(how it begins, n)` of the joinable facts among the next rows, and the row to go on after, None at the end.

    Wordings of one thing are of one category and begin with the same words, which a number stands for here.
    """
    ((last, many),) = store.execute(
        "SELECT max(n), count(*) FROM (SELECT n FROM derived NOT INDEXED WHERE n > ? ORDER BY n LIMIT ?)",
        (after, WALKED),
    )
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT d.n, d.category, f.text FROM derived d NOT INDEXED CROSS JOIN facts f ON f.n = d.n"
        f" WHERE d.n > ? AND d.n <= ? AND d.agent_id = ? AND {_JOINABLE}",
        (after, int(last or 0), agent_id),
    )
    found = [(hash((category, *begun)), n) for n, category, text in rows if (begun := beginning(text))]
    return found, int(last or 0) if many == WALKED else None


def like_others(begun: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The numbers of the facts that begin as others do, those that begin alike together."""
    ordered = sorted(begun)
    together = ([n for _, n in same] for _, same in groupby(ordered, key=itemgetter(0)))
    return [numbers for numbers in together if len(numbers) > 1]


def wordings(store: Store, numbers: Sequence[int]) -> list[Wording]:
    """These facts, at most `LOADED`, as they stand now."""
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT d.n, d.fact_id, d.category, d.importance, d.latest_day, d.on_page, f.text FROM json_each(?) j"
        f" CROSS JOIN derived d ON d.n = j.value CROSS JOIN facts f ON f.n = d.n WHERE {_JOINABLE}",
        (_JSON.encode(list(numbers)).decode(),),
    )
    return [Wording(*row) for row in rows]


def pairs_among(found: Iterable[Wording]) -> list[tuple[Wording, Wording]]:
    """`(shorter, fuller)` for each two of which one says all that the other says."""
    # In order, whatever begins with the words of a wording follows it without a gap.
    ordered = sorted((each.category, words(each.text), each) for each in found)
    pairs: list[tuple[Wording, Wording]] = []
    for at, (category, begun, one) in enumerate(ordered):
        for other_category, other_words, two in ordered[at + 1 : at + 1 + _NEIGHBOURS]:
            if other_category != category or other_words[: len(begun)] != begun:
                break
            pairs += _joined(one, two)
    return pairs


def groups(store: Store, agent_id: str, pairs: Iterable[tuple[Wording, Wording]]) -> list[Group]:
    """Which of these pairs to join, each shorter wording with the fullest one; what a person decided stays.

    Every part is at confidence 7 and so is the whole: merged. Else it takes three statements: consolidated.
    """
    best: dict[str, tuple[Wording, Wording]] = {}
    for part, whole in pairs:
        known = best.get(part.fact)
        if known is None or _extent(whole) > _extent(known[1]):
            best[part.fact] = (part, whole)
    allowed = _allowed(store, agent_id, list(best.values()))
    by_whole: dict[str, tuple[Wording, list[Wording]]] = {}
    for part, whole in sorted(best.values(), key=lambda pair: pair[0].fact):
        if part.fact in allowed:
            by_whole.setdefault(whole.fact, (whole, []))[1].append(part)
    found: list[Group] = []
    for whole, parts in by_whole.values():
        strong = [each for each in parts if min(each.importance, whole.importance) >= MERGE_IMPORTANCE]
        if strong:
            found.append(Group("merge", whole, strong))
        weak = [each for each in parts if each not in strong]
        if weak and _statements(store, agent_id, [each.fact for each in (whole, *parts)]) >= REPEATS:
            found.append(Group("consolidate", whole, weak))
    return found


def _joined(one: Wording, two: Wording) -> list[tuple[Wording, Wording]]:
    part, whole = (one, two) if one.fullness < two.fullness else (two, one)
    # A line of MEMORY.md stands there because somebody wants it to.
    return [(part, whole)] if not part.on_page and is_fuller(part.text, whole.text) else []


def _extent(each: Wording) -> tuple[int, tuple[int, int, str]]:
    return len(words(each.text)), each.fullness


def _allowed(store: Store, agent_id: str, pairs: Sequence[tuple[Wording, Wording]]) -> set[str]:
    """The shorter wordings that nobody decided about, and that bring nothing which the fuller one lacks."""
    parts = [part.fact for part, _ in pairs]
    keys = _JSON.encode(parts).decode()
    decided = store.execute(
        "SELECT fact_id FROM edits WHERE agent_id = ? AND fact_id IN (SELECT value FROM json_each(?))"
        # A link that was taken back was undone by somebody: it is not made again.
        " AND field IN ('category', 'importance', 'pin', 'done', 'merged_into')"
        " UNION SELECT key FROM hot_items WHERE agent_id = ? AND section IN ('lessons', 'events', 'tasks')"
        " AND deleted = 0 AND key IN (SELECT value FROM json_each(?))",
        (agent_id, keys, agent_id, keys),
    )
    refused = {str(row[0]) for row in decided}
    brought = _brought(store, agent_id, [each.fact for pair in pairs for each in pair])
    return {
        part.fact for part, whole in pairs
        if part.fact not in refused and brought.get(part.fact, set()) <= brought.get(whole.fact, set())
    }  # fmt: skip


def _brought(store: Store, agent_id: str, facts: Sequence[str]) -> dict[str, set[str]]:
    """Links, commands, paths and code that hang on each fact."""
    rows = store.execute(
        "SELECT fact_id, metadata, code FROM mentions INDEXED BY mentions_fact WHERE agent_id = ?"
        " AND fact_id IN (SELECT value FROM json_each(?))",
        (agent_id, _JSON.encode(list(facts)).decode()),
    )
    found: dict[str, set[str]] = {}
    for fact, metadata, code in rows:
        each = metadata_of(metadata)
        found.setdefault(str(fact), set()).update([*each.urls, *each.commands, *each.paths, *filter(None, [str(code)])])
    return found


def _statements(store: Store, agent_id: str, facts: Sequence[str]) -> int:
    """At how many places these facts are stated; what several devices hold of one note counts once."""
    ((count,),) = store.execute(
        "SELECT count(*) FROM (SELECT DISTINCT fact_id, path, line_from, date FROM mentions INDEXED BY mentions_fact"
        " WHERE agent_id = ? AND fact_id IN (SELECT value FROM json_each(?)))",
        (agent_id, _JSON.encode(list(facts)).decode()),
    )
    return int(count or 0)

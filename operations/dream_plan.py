"""What a dream would join: shorter wordings that a fuller one says too (SPEC section 5, COMPAT section 9).

Only standing knowledge is joined: lessons, preferences, decisions, and facts that count as much. Without a model
nothing is written anew: the fullest wording that somebody wrote stands for the others, with the places of all.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from ..search.candidates import quoted
from ..search.tokens import Term
from ..store import Store
from ..store.notes import metadata_of
from ..tiers.layers import LONG_TERM_KINDS, REPEATS
from .wordings import is_fuller, words

MERGE_IMPORTANCE = 0.7
"""Confidence 7 of 10: wordings that all have it are joined at once, others from three statements on."""
WALKED = 1_000
"""Rows that one step reads; some 10 ms."""
ASKED = 40
"""Facts whose like one step looks for; some 10 ms."""
_LONGEST = 400
_ALIKE = 40
_STATEMENTS = 10
_JSON = msgspec.json.Encoder()
_KINDS = ", ".join(f"'{kind}'" for kind in LONG_TERM_KINDS)  # ours, no parameter
_JOINABLE = (
    f"d.state = 'live' AND length(f.text) <= {_LONGEST}"
    f" AND (d.kind IN ({_KINDS}) OR d.kind = 'fact' AND d.importance >= {MERGE_IMPORTANCE})"
)
_COLUMNS = "d.n, d.fact_id, d.category, d.importance, d.latest_day, d.on_page, f.text, s.body"


class Wording(NamedTuple):
    """A fact that may be joined with another. `body` are its index tokens."""

    n: int
    fact: str
    category: str
    importance: float
    latest_day: int
    on_page: bool
    text: str
    body: str

    @property
    def fullness(self) -> tuple[int, int, str]:
        """The strict order in which one stands for another (tiers/derive.py): said later, longer, greater id."""
        return self.latest_day, len(self.text), self.fact


class Group(NamedTuple):
    """A fuller wording and those that it stands for."""

    step: str
    whole: Wording
    parts: list[Wording]


def wordings(store: Store, agent_id: str, after: int) -> tuple[list[Wording], int | None]:
    """The joinable facts among the next rows after `after`, and the row to go on after, None at the end."""
    ((last, many),) = store.execute(
        "SELECT max(n), count(*) FROM (SELECT n FROM derived NOT INDEXED WHERE n > ? ORDER BY n LIMIT ?)",
        (after, WALKED),
    )
    rows: list[tuple[Any, ...]] = store.execute(
        f"SELECT {_COLUMNS} FROM derived d NOT INDEXED CROSS JOIN facts f ON f.n = d.n"
        " CROSS JOIN search_index s ON s.rowid = d.n"
        f" WHERE d.n > ? AND d.n <= ? AND d.agent_id = ? AND {_JOINABLE}",
        (after, int(last or 0), agent_id),
    )
    return [Wording(*row) for row in rows], int(last or 0) if many == WALKED else None


def alike(store: Store, agent_id: str, asked: Sequence[Wording]) -> list[tuple[Wording, Wording]]:
    """`(shorter, fuller)` for each of these facts and every other of its category that begins with its words."""
    pairs: list[tuple[Wording, Wording]] = []
    one = (
        f"SELECT * FROM (SELECT ? AS asked, {_COLUMNS}"
        " FROM search_index AS s CROSS JOIN derived AS d ON d.n = s.rowid CROSS JOIN facts f ON f.n = d.n"
        f" WHERE s.search_index MATCH ? AND d.agent_id = ? AND d.category = ? AND d.n <> ? AND {_JOINABLE}"
        f" LIMIT {_ALIKE})"
    )
    for start in range(0, len(asked), _STATEMENTS):
        some = asked[start : start + _STATEMENTS]
        given = [
            value for at, each in enumerate(some) for value in (at, _beginning(each), agent_id, each.category, each.n)
        ]
        rows: list[tuple[Any, ...]] = store.execute(" UNION ALL ".join([one] * len(some)), tuple(given))
        for at, *row in rows:
            pairs += _joined(some[at], Wording(*row))
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


def _beginning(each: Wording) -> str:
    """An index question for everything that begins as this wording and its shorter ones do."""
    tokens = each.body.split()
    begun = tokens[: max(3, len(tokens) // 2)]
    return f"body : ^ {quoted(Term(' '.join(begun), 1.0))}"


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

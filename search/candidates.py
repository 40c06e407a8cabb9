"""Chooses the few facts that are worth ranking, from postings that stay short whatever the size of the memory.

The library freezes every thread while it runs, so that no statement here may walk more than some tens of
thousands of index entries. Measured at 200,000 facts: counting costs 0.05 µs an entry, a bm25 0.7 µs.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import product

import msgspec

from ..store import Store, Value
from .dates import DayRange
from .index import owner_token
from .tokens import Term

COLUMNS = {"body": 1.0, "headings": 0.9, "category": 0.3, "extra": 0.7, "agent": 0.0}
"""The index's columns in their order, and what a match in each is worth beside one in the fact's own words."""

KEPT = 30
"""How many candidates are ranked at least, and again as many of a named day."""
RANKED = 1_500
"""Index entries that one bm25 statement may walk."""
_COUNTED = 500  # beyond it a term is common and its count an estimate
_DEARER = 4  # how much dearer an entry is that has to be found among everybody's
_SLICE = 20_000  # facts looked through by one statement that has to read agents
_STATEMENT_TERMS = 16
_ENOUGH = 20
_JOINED = 4  # common terms that are asked for together


class Weighed(msgspec.Struct, frozen=True):
    """A term and in about how many facts it stands."""

    term: Term
    count: int


class Scope(msgspec.Struct, frozen=True):
    """Whose live facts are searched; `agents` None = everybody's."""

    last: int
    """The greatest fact number."""
    size: int
    """In about how many facts words are counted."""
    agents: Sequence[str] | None
    owner: str
    """What keeps an index question to these agents' entries, '' where most entries are theirs anyway."""
    kept: int
    """How many candidates are wanted of each kind."""
    enough: int
    """With so many candidates the commoner words are not looked up any more."""

    @property
    def condition(self) -> str:
        """SQL over `derived AS d`."""
        marks = ", ".join("?" * len(self.agents or ()))
        return "d.state = 'live'" + (f" AND d.agent_id IN ({marks})" if self.agents is not None else "")

    @property
    def values(self) -> tuple[Value, ...]:
        """The parameters of `condition`."""
        return tuple(self.agents or ())

    def question(self, expression: str) -> str:
        """An index question for these agents' entries alone, where that saves work."""
        return f"({self.owner}) AND ({expression})" if self.owner else expression


def scope_of(store: Store, agents: Sequence[str] | None, limit: int) -> Scope:
    """The scope of one search that returns at most `limit` facts."""
    # Each of the four is one step in an index. FTS5 keeps its record number 1 for bm25.
    ((last, first_agent, last_agent, record),) = store.execute(
        "SELECT (SELECT max(n) FROM facts), (SELECT min(agent_id) FROM derived), (SELECT max(agent_id) FROM derived),"
        " (SELECT block FROM search_index_data WHERE id = 1)"
    )
    everything = Scope(_number(last), _rows_in(record), agents, "", max(KEPT, limit), max(_ENOUGH, limit))
    if not agents or first_agent == last_agent in agents:
        return everything
    owners = [Term(owner_token(agent), 1.0) for agent in agents]
    own = sum(_spread(store, each, everything.last) for each in owners)
    if own > everything.size // 2:
        return everything
    return msgspec.structs.replace(everything, size=max(own, 1), owner=" OR ".join(map(quoted, owners)))


def _rows_in(record: Value) -> int:
    """How many facts the index holds: the first varint of the record.

    Row numbers say it only roughly: forgotten facts leave gaps, which a restored memory has not.
    """
    count = 0
    for byte in record if isinstance(record, bytes) else b"":
        count = count << 7 | byte & 127
        if byte < 128:
            break
    return max(count, 1)


def _spread(store: Store, term: Term, last: int) -> int:
    """In about how many facts a term stands, seen from both ends: an agent's facts may all be old, or all new."""
    sql = "SELECT count(*), min(rowid), max(rowid) FROM (SELECT rowid FROM search_index WHERE search_index MATCH ?"
    ends = [f"{sql} ORDER BY rowid {order} LIMIT {_COUNTED})" for order in ("ASC", "DESC")]
    rows = store.execute(" UNION ALL ".join(ends), (quoted(term), quoted(term)))
    seen, _, first_reach = map(_number, rows[0])
    reaches = first_reach, last - _number(rows[1][1]) + 1
    return seen if seen < _COUNTED else max(seen, min(seen * last // max(reach, 1) for reach in reaches))


def weigh(store: Store, scope: Scope, terms: Sequence[Term]) -> list[Weighed]:
    """Count each term's facts: exactly while it is rare, else from how closely its first entries stand."""
    found: list[Weighed] = []
    limit = _COUNTED // (_DEARER if scope.owner else 1)
    one = f"SELECT count(*), max(rowid) FROM (SELECT rowid FROM search_index WHERE search_index MATCH ? LIMIT {limit})"
    for start in range(0, len(terms), _STATEMENT_TERMS):
        some = terms[start : start + _STATEMENT_TERMS]
        asked = tuple(scope.question(quoted(term)) for term in some)
        rows = store.execute(" UNION ALL ".join([one] * len(some)), asked)
        for term, (count, last) in zip(some, rows, strict=True):
            seen, reach = _number(count), _number(last)
            found.append(Weighed(term, seen if seen < limit else max(seen, seen * scope.last // max(reach, 1))))
    return found


def candidates(store: Store, scope: Scope, terms: Sequence[Weighed]) -> list[int]:
    """Some `scope.kept` fact numbers: the best matches of the rare terms, then of the common ones together."""
    present = sorted((each for each in terms if each.count), key=_selectivity)
    rare = list(_affordable(present, RANKED // (_DEARER if scope.owner else 1)))
    common = [each.term for each in present[len(rare) :]]
    found = dict.fromkeys(_of_rare(store, scope, rare) if rare else ())
    if rare and common:
        found |= dict.fromkeys(_with_common(store, scope, rare, common))
    if common and len(found) < scope.enough:
        for expression in _together(common, scope, present):
            if len(found) >= scope.enough:
                break
            found |= dict.fromkeys(_best(store, scope, expression))
    return list(found)


def of_days(store: Store, scope: Scope, days: Iterable[DayRange]) -> list[int]:
    """The newest facts whose day lies in one of `days`, at most `scope.kept`."""
    agents = scope.agents if scope.agents is not None else _every_agent(store)
    found: list[int] = []
    sql = (
        "SELECT n FROM derived WHERE agent_id = ? AND latest_day BETWEEN ? AND ? AND state = 'live' "
        "ORDER BY latest_day DESC LIMIT ?"
    )
    for agent in agents:
        for first, last in days:
            if len(found) >= scope.kept:
                return found
            found += [_number(n) for (n,) in store.execute(sql, (agent, first, last, scope.kept - len(found)))]
    return found


def end_days(store: Store, scope: Scope, ends: Iterable[str], today: int) -> list[DayRange]:
    """The `first` day of which anything is remembered, and the `last` one before today, of each agent."""
    agents = scope.agents if scope.agents is not None else _every_agent(store)
    found: list[DayRange] = []
    for end, agent in product(ends, agents):
        best, before = ("min", today + 1) if end == "first" else ("max", today)
        sql = f"SELECT {best}(latest_day) FROM derived WHERE agent_id = ? AND state = 'live' AND latest_day < ?"
        ((day,),) = store.execute(sql, (agent, before))
        if isinstance(day, int):
            found.append((day, day))
    return found


def quoted(term: Term) -> str:
    """The term as an FTS5 string, in which no character has a meaning."""
    text = term.text.replace('"', '""')
    asked = f'"{text}"*' if term.prefix else f'"{text}"'
    return f"({{body headings}} : {asked})" if term.alone else asked


def _selectivity(each: Weighed) -> float:
    # Of equally frequent terms the one that stands for more of the asked word is tried first.
    return each.count / max(each.term.weight, 0.01)


def _affordable(terms: Iterable[Weighed], limit: int) -> Iterator[Weighed]:
    walked = 0
    for each in terms:
        walked += each.count
        if walked > limit:
            return
        yield each


def _together(common: Sequence[Term], scope: Scope, present: Sequence[Weighed]) -> Iterator[str]:
    """All the common terms at once, then without the commonest, down to one. Words of every other fact say nothing."""
    everywhere = {each.term.text for each in present if each.count > scope.size // 4}
    telling = [term for term in common if term.text not in everywhere] or list(common)
    for several in range(min(_JOINED, len(telling)), 0, -1):
        yield " AND ".join(map(quoted, telling[:several]))


def _with_common(store: Store, scope: Scope, rare: Sequence[Weighed], common: Sequence[Term]) -> list[int]:
    """Of many facts with a rare word those that hold commoner words too: all of them, else one of them."""
    if sum(each.count for each in rare) <= scope.kept:
        return []
    one_of = " OR ".join(quoted(each.term) for each in rare)
    joined = dict.fromkeys([" AND ".join(map(quoted, common[:_JOINED])), *map(quoted, common[:_JOINED])])
    sql = (
        "SELECT d.n FROM search_index AS s CROSS JOIN derived AS d ON d.n = s.rowid "
        f"WHERE s.search_index MATCH ? AND {scope.condition} ORDER BY s.rowid DESC LIMIT ?"
    )
    found: dict[int, None] = {}
    for expression in joined:
        asked = scope.question(f"({one_of}) AND ({expression})")
        rows = store.execute(sql, (asked, *scope.values, scope.enough // 2))
        found |= dict.fromkeys(_number(n) for (n,) in rows)
        if len(found) >= scope.enough // 2:
            break
    return list(found)


def _of_rare(store: Store, scope: Scope, rare: Sequence[Weighed]) -> list[int]:
    if not scope.owner:
        return _ranked(store, scope, " OR ".join(quoted(each.term) for each in rare))
    # bm25 would count each word in everybody's entries: worth summed here instead, half for a heading's word.
    promise: dict[int, float] = {}
    for each in rare:
        worth = each.term.weight * math.log1p(scope.size / each.count)
        for columns, share in (("body", 1.0), ("headings category extra", 0.5)):
            question = scope.question(f"{{{columns}}} : {quoted(each.term)}")
            sql = f"SELECT rowid FROM search_index WHERE search_index MATCH ? ORDER BY rowid DESC LIMIT {RANKED}"
            for (n,) in store.execute(sql, (question,)):
                promise[_number(n)] = promise.get(_number(n), 0.0) + share * worth
    return nlargest(scope.kept, promise, key=lambda n: (promise[n], n))


def _best(store: Store, scope: Scope, expression: str) -> list[int]:
    sql = f"SELECT count(*) FROM (SELECT 1 FROM search_index WHERE search_index MATCH ? LIMIT {RANKED + 1})"
    few = _number(store.execute(sql, (scope.question(expression),))[0][0]) <= RANKED
    return _ranked(store, scope, expression) if few else _newest(store, scope, expression)


def _ranked(store: Store, scope: Scope, expression: str) -> list[int]:
    weights = ", ".join(map(str, COLUMNS.values()))
    # The index alone first, and the owners of the best only: a look at each match's owner costs three times its bm25.
    sql = (
        "SELECT d.n FROM (SELECT rowid AS n FROM search_index WHERE search_index MATCH ?"
        f" ORDER BY bm25(search_index, {weights}) LIMIT {RANKED}) AS s CROSS JOIN derived AS d ON d.n = s.n"
        f" WHERE {scope.condition} LIMIT {scope.kept}"
    )
    return [_number(n) for (n,) in store.execute(sql, (scope.question(expression), *scope.values))]


def _newest(store: Store, scope: Scope, expression: str) -> list[int]:
    sql = (
        "SELECT d.n FROM search_index AS s CROSS JOIN derived AS d ON d.n = s.rowid "
        f"WHERE s.search_index MATCH ? AND s.rowid > ? AND s.rowid <= ? AND {scope.condition} "
        "ORDER BY s.rowid DESC LIMIT ?"
    )
    found: list[int] = []
    for upper in range(scope.last, 0, -_SLICE):
        rows = store.execute(
            sql, (scope.question(expression), upper - _SLICE, upper, *scope.values, scope.kept - len(found))
        )
        found += [_number(n) for (n,) in rows]
        if len(found) >= scope.kept:
            break
    return found


def _every_agent(store: Store) -> list[str]:
    # Jumps from agent to agent in the index; DISTINCT would walk all facts.
    sql = (
        "WITH RECURSIVE a(id) AS (SELECT min(agent_id) FROM derived UNION ALL "
        "SELECT (SELECT min(agent_id) FROM derived WHERE agent_id > a.id) FROM a WHERE a.id IS NOT NULL) "
        "SELECT id FROM a WHERE id IS NOT NULL"
    )
    return [str(agent) for (agent,) in store.execute(sql)]


def _number(value: Value) -> int:
    return value if isinstance(value, int) else 0

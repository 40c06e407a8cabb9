"""Live facts of one agent in the order of (score, id), read lazily: no step looks at all of them.

Scores change every day, their order within one day of origin does not: of two facts that were last
mentioned on the same day and that nobody read, the more important one has the higher score on any day.
So an index on (day, importance) gives the order, and merging the days gives the whole. Facts that were
read, or that stand on MEMORY.md, are few; they are read whole and merged in.
"""

import heapq
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from ..config import ScoringSettings
from ..store import ResultRow, Store
from .score import age_of, score

_FIRST_PAGE = 32
_LONGEST_PAGE = 1024
_FIELDS = (
    "n, fact_id, importance, latest_day, on_page, access_days, kind, task_state, created_at, octet_length(distilled)"
)
_LIVE = "agent_id = ? AND state = 'live'"


class Ranked(NamedTuple):
    """A live fact with its score today; `size` in bytes of its distilled text, `created_at` in ms."""

    n: int
    fact_id: str
    importance: float
    latest_day: int
    on_page: bool
    access_days: int
    kind: str
    task_state: str
    created_at: int
    size: int
    score: float
    age_days: int

    @property
    def rank(self) -> tuple[float, str]:
        """The smaller, the better."""
        return -self.score, self.fact_id


Keep = Callable[[Ranked], bool]


class Ranking:
    """The live facts of one agent on one day (days since 1970)."""

    def __init__(self, store: Store, agent_id: str, today: int, scoring: ScoringSettings) -> None:
        self._store = store
        self._agent_id = agent_id
        self.today = today
        self._scoring = scoring

    def best(self, since_day: int, keep: Keep, *, kind: str = "") -> Iterator[Ranked]:
        """The facts that `keep` accepts, best first, among those mentioned since `since_day` and those in use.

        `keep` must accept every fact that is more important than an accepted one of the same day.
        With `kind` only facts of that kind; not for the kind `fact`.
        """
        days = [self._of_day(day, keep, kind) for day in self._days(since_day, kind)]
        used = sorted(
            (each for each in self.in_use if keep(each) and kind in ("", each.kind)), key=lambda one: one.rank
        )
        return heapq.merge(used, *days, key=lambda one: one.rank)

    @cached_property
    def in_use(self) -> list[Ranked]:
        """Every fact that was read or stands on MEMORY.md."""
        found: list[Ranked] = []
        n = 0
        while True:
            page = self._store.execute(
                f"SELECT {_FIELDS} FROM derived INDEXED BY derived_used WHERE {_LIVE}"
                " AND (access_days > 0 OR on_page = 1) AND n > ? ORDER BY n LIMIT ?",
                (self._agent_id, n, _LONGEST_PAGE),
            )
            found += map(self.ranked, page)
            if len(page) < _LONGEST_PAGE:
                return found
            n = found[-1].n

    def ranked(self, row: ResultRow) -> Ranked:
        """A row of `_FIELDS` with its score."""
        n, fact, importance, day, on_page, access, kind, task_state, created, size = row
        weight, latest, reads = float(importance or 0), int(day or 0), int(access or 0)
        age = age_of(latest, bool(on_page), self.today)
        return Ranked(
            int(n or 0), str(fact), weight, latest, bool(on_page), reads, str(kind), str(task_state), int(created or 0),
            int(size or 0), score(weight, age, reads, self._scoring), age,
        )  # fmt: skip

    def _days(self, since_day: int, kind: str) -> list[int]:
        """The days since `since_day` on which facts were last mentioned, one index seek a day."""
        source, condition, agent = _source(kind), f"{_LIVE}{_of_kind(kind)}", self._agent_id
        rows = self._store.execute(
            f"WITH RECURSIVE days (day) AS (SELECT min(latest_day) FROM {source} WHERE {condition} AND latest_day >= ?"
            f" UNION ALL SELECT (SELECT min(latest_day) FROM {source} WHERE {condition} AND latest_day > days.day)"
            " FROM days WHERE days.day IS NOT NULL) SELECT day FROM days WHERE day IS NOT NULL",
            (agent, since_day, agent),
        )
        return [int(row[0] or 0) for row in rows]

    def _of_day(self, day: int, keep: Keep, kind: str) -> Iterator[Ranked]:
        """The facts of one day that nobody read, the most important first, in pages that grow."""
        importance, fact, limit = 2.0, "", _FIRST_PAGE
        while True:
            rows = self._store.execute(
                f"SELECT {_FIELDS} FROM {_source(kind)} WHERE {_LIVE}{_of_kind(kind)} AND latest_day = ?"
                " AND importance <= ? AND (importance < ? OR fact_id > ?) ORDER BY importance DESC, fact_id LIMIT ?",
                (self._agent_id, day, importance, importance, fact, limit),
            )
            page = [self.ranked(row) for row in rows]
            for each in page:
                if each.access_days or each.on_page:
                    continue
                if not keep(each):
                    return
                yield each
            if len(page) < limit:
                return
            importance, fact, limit = page[-1].importance, page[-1].fact_id, min(limit * 2, _LONGEST_PAGE)


def _source(kind: str) -> str:
    return f"derived INDEXED BY {'derived_kind' if kind else 'derived_recent'}"


def _of_kind(kind: str) -> str:
    # The second condition is that of the partial index. Kinds are our own closed words.
    return f" AND kind = '{kind}' AND kind <> 'fact'" if kind else ""

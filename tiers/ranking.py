"""Live facts of one agent in the order of (score, id), read lazily: no step looks at all of them.

Scores change every day, their order within one day of origin does not: of two facts that were last
mentioned on the same day and that nobody read, the more important one has the higher score on any day.
So an index on (day, importance) gives the order, and merging the days gives the whole. Facts that were
read, or that stand on MEMORY.md, are few: those that may score enough are read whole and merged in.
"""

import heapq
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..config import ScoringSettings
from ..store import ResultRow, Store
from .score import age_of, days_gained, score

_FIRST_PAGE = 32
_LONGEST_PAGE = 1024
_FIRST_DAY = -1_000_000
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
        self._in_use: tuple[int, list[Ranked]] | None = None

    def best(self, since_day: int, keep: Keep, *, kind: str = "") -> Iterator[Ranked]:
        """The facts that `keep` accepts, best first, among those mentioned since `since_day` and those in use.

        `keep` must accept every fact that is more important than an accepted one of the same day.
        With `kind` only facts of that kind; not for the kind `fact`.
        """
        days = [self._of_day(day, keep, kind) for day in self._days(since_day, kind)]
        used = sorted(
            (each for each in self.in_use(since_day) if keep(each) and kind in ("", each.kind)),
            key=lambda one: one.rank,
        )
        return heapq.merge(used, *days, key=lambda one: one.rank)

    def in_use(self, since_day: int) -> list[Ranked]:
        """What was read or stands on MEMORY.md, as far as it can score what an unread fact of `since_day` can."""
        if self._in_use is None or self._in_use[0] != since_day:
            found = self._since(_FIRST_DAY, "derived_on_page", "on_page = 1")
            for reads in self._read_counts():
                first = since_day - days_gained(reads, self._scoring)
                # The first condition is that of the partial index.
                so_often = f"access_days > 0 AND access_days = {reads} AND on_page = 0"
                found += self._since(first, "derived_used", so_often)
            self._in_use = since_day, found
        return self._in_use[1]

    def _since(self, day: int, index: str, condition: str) -> list[Ranked]:
        """The facts of an index since a day, in pages: one statement for all would hold every thread."""
        found: list[Ranked] = []
        n = 0
        while True:
            page = self._store.execute(
                f"SELECT {_FIELDS} FROM derived INDEXED BY {index} WHERE {_LIVE} AND {condition} AND latest_day >= ?"
                " AND (latest_day > ? OR n > ?) ORDER BY latest_day, n LIMIT ?",
                (self._agent_id, day, day, n, _LONGEST_PAGE),
            )
            found += map(self.ranked, page)
            if len(page) < _LONGEST_PAGE:
                return found
            day, n = found[-1].latest_day, found[-1].n

    def _read_counts(self) -> list[int]:
        """On how many days facts were read, each number once, one index seek a number."""
        least = f"min(access_days) FROM derived INDEXED BY derived_used WHERE {_LIVE} AND access_days >"
        rows = self._store.execute(
            f"WITH RECURSIVE reads (days) AS (SELECT {least} 0 UNION ALL SELECT (SELECT {least} 0 AND access_days >"
            " reads.days) FROM reads WHERE reads.days IS NOT NULL) SELECT days FROM reads WHERE days IS NOT NULL",
            (self._agent_id, self._agent_id),
        )
        return [int(row[0] or 0) for row in rows]

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

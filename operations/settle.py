"""Derived values and the index follow the rows: drains `dirty` in short steps until nothing waits."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from operator import attrgetter

import msgspec

from ..clock import day_number
from ..config import ScoringSettings, Settings
from ..crash import crash_point
from ..ingest.distil import distilled, summary
from ..model import Derived
from ..search.index import Entry, remove_entry, write_entries
from ..store import Store, Tx
from ..store.adapter import ResultRow
from ..store.notes import metadata_of
from ..store.thread import Priority, StoreThread
from ..tiers.derive import derived_from
from ..tiers.evidence import Evidence, gather, later_wordings
from ..tiers.limits import agent_limits
from ..tiers.tiering import own_tier, retier, retier_rest
from .words import Words

BATCH = 200
"""Facts a step: about 30 ms on the store thread."""
BULK = 50_000
"""Facts a step where nobody else waits for the store: what is written many times over is written once a step."""
BULK_SLICE = 2_000
"""Facts of such a step that are in memory at once."""
_CHANGING = (
    "state", "tier", "score", "category", "importance", "kind", "task_state", "created_at", "latest_day", "on_page",
    "access_days", "last_read", "distilled", "summary",
)  # fmt: skip
_UPSERT_DERIVED = (
    f"INSERT INTO derived (n, agent_id, fact_id, {', '.join(_CHANGING)}) SELECT "
    + ", ".join(f"value ->> {place}" for place in range(3 + len(_CHANGING)))
    + " FROM json_each(?) WHERE true ON CONFLICT (n) DO UPDATE SET "
    + ", ".join(f"{column} = excluded.{column}" for column in _CHANGING)
)
_SIDE_LIMIT = 8_000
"""Characters of code and links that are handed to the index beside a fact's words."""

_JSON = msgspec.json.Encoder()
_strings = msgspec.json.Decoder(list[str])
_date_of = attrgetter("date")


class Settler:
    """Keeps `derived`, `search_index` and the tiers in step with the rows and the day."""

    def __init__(self, thread: StoreThread, settings: Settings) -> None:
        self._thread = thread
        self._settings = settings
        self._tiers_of = date(1970, 1, 1)
        self._derived: set[str] = set()
        """Agents whose tiers have yet to follow."""
        self.steps = 0
        """How often some facts were derived since the start: who has seen this number has seen every change."""

    async def settle(self, today: date, *, priority: Priority = Priority.WRITE) -> set[str]:
        """Derive everything that waits; returns the agents whose memory changed."""
        touched: set[str] = set()
        if today != self._tiers_of:
            touched = await self._thread.call(_agents, priority=priority)
            for agent in sorted(touched):
                await self._age(agent, day_number(today), priority)
            self._tiers_of = today
        if self._thread.alone:
            await self._derive_in_bulk(today)
        await self.derive(today, priority=priority)
        touched |= self._derived
        self._derived = set()
        for agent in sorted(touched):
            # Each step moves a few hundred facts at most, so that waiting questions go between.
            step = partial(_retier, agent=agent, day=day_number(today), settings=self._settings)
            while await self._thread.call(step, priority=priority):
                pass
        return touched

    async def derive(self, today: date, *, priority: Priority = Priority.BULK) -> None:
        """Only derive and index what waits; `settle` moves the tiers of these agents later."""
        derive_some = partial(settle_step, today=today, settings=self._settings)
        while agents := await self._thread.call(derive_some, priority=priority):
            self._derived |= agents
            self.steps += 1

    async def _derive_in_bulk(self, today: date) -> None:
        after: int | None = 0
        while after is not None:
            step = partial(_bulk_step, after=after, today=today, settings=self._settings)
            agents, after = await self._thread.call(step)
            self.derived(agents)

    def derive_within(self, tx: Tx, today: date, words: Mapping[str, Words]) -> set[str]:
        """Derive and index a batch in the transaction that brought it, and so write the pages it touches once.

        `words` by text, as far as they are known. Returns the agents, for `derived`. What is too much for
        one step waits for `derive`.
        """
        return _settle_batch(tx, today, self._settings, words)

    def derived(self, agents: Iterable[str]) -> None:
        """The tiers of these agents have to follow what was derived."""
        self._derived.update(agents)
        self.steps += bool(agents)

    async def _age(self, agent: str, day: int, priority: Priority) -> None:
        """A new day: every fact's score and own tier, in steps."""
        after: int | None = 0
        while after is not None:
            step = partial(_retier_rest, agent=agent, after=after, day=day, settings=self._settings)
            after = await self._thread.call(step, priority=priority)


def settle_step(store: Store, today: date, settings: Settings) -> set[str]:
    """Derive one batch of waiting facts in one transaction; returns their agents, empty when none waits."""
    if not store.execute("SELECT 1 FROM dirty LIMIT 1"):
        return set()
    with store.transaction() as tx:
        agents = _settle_batch(tx, today, settings, {})
        crash_point("settle written")
    crash_point("settle committed")
    return agents


def _bulk_step(store: Store, after: int, today: date, settings: Settings) -> tuple[set[str], int | None]:
    """Derive many waiting facts after number `after`; returns their agents and the number to go on after.

    In the order of their numbers, so that derived rows and entries are appended.
    """
    rows = store.execute(
        "SELECT f.agent_id, f.id, f.n FROM facts f NOT INDEXED CROSS JOIN dirty d"
        " ON d.agent_id = f.agent_id AND d.fact_id = f.id WHERE f.n > ? ORDER BY f.n LIMIT ?",
        (after, BULK),
    )
    if not rows:
        return set(), None
    agents: set[str] = set()
    with store.transaction() as tx:
        for start in range(0, len(rows), BULK_SLICE):
            agents |= _settle_rows(tx, rows[start : start + BULK_SLICE], today, settings, {})
        crash_point("settle written")
    crash_point("settle committed")
    return agents, int(rows[-1][2] or 0)


def _settle_batch(tx: Tx, today: date, settings: Settings, known: Mapping[str, Words]) -> set[str]:
    rows = tx.execute("SELECT agent_id, fact_id FROM dirty LIMIT ?", (BATCH,))
    return _settle_rows(tx, rows, today, settings, known)


def _settle_rows(
    tx: Tx, rows: Sequence[ResultRow], today: date, settings: Settings, known: Mapping[str, Words]
) -> set[str]:
    """Derive and index facts, given as (agent, id, …); returns their agents."""
    by_agent: dict[str, list[str]] = {}
    for agent, fact, *_ in rows:
        by_agent.setdefault(str(agent), []).append(str(fact))
    for agent, facts in by_agent.items():
        _settle_facts(tx, agent, facts, day_number(today), settings, known)
    return set(by_agent)


def _settle_facts(
    tx: Tx, agent: str, facts: Sequence[str], day: int, settings: Settings, known: Mapping[str, Words]
) -> None:
    facts = [*facts, *later_wordings(tx.store, agent, facts)]
    evidence = gather(tx.store, agent, facts)
    limits = agent_limits(tx.store, agent, settings)
    found = derived_from(evidence, facts, day, limits)
    for each in found:
        text = evidence.facts[each.fact_id].text
        words = known.get(text)
        each.distilled = each.distilled or (words.distilled if words else distilled(text))
        each.summary = words.summary if words else summary(text)
    numbers = {each.fact_id: evidence.facts[each.fact_id].n for each in found}
    # All derived rows before all entries: a statement between two index writes makes the index flush its pages.
    rows = [_derived_row(numbers[each.fact_id], each, day, limits.scoring) for each in found]
    tx.run_bulk(_UPSERT_DERIVED, rows, BULK_SLICE)
    for each in found:
        if each.state != "live":
            remove_entry(tx, numbers[each.fact_id])
    live = [each for each in found if each.state == "live"]
    write_entries(tx, {numbers[each.fact_id]: _index_entry(evidence, each, known) for each in live})
    keys = _JSON.encode(list(facts)).decode()
    tx.run("DELETE FROM dirty WHERE agent_id = ? AND fact_id IN (SELECT value FROM json_each(?))", (agent, keys))


def _index_entry(evidence: Evidence, each: Derived, known: Mapping[str, Words]) -> Entry:
    """The index entry of a live fact: where it stands, and what belongs to it, of the latest place first."""
    # A dict keeps the order and drops what repeats.
    headings: dict[str, None] = {}
    extra: dict[str, None] = {}
    urls: dict[str, None] = {}
    for place in sorted(evidence.mentions.get(each.fact_id, []), key=_date_of, reverse=True):
        meta = metadata_of(place.metadata)
        headings.update(dict.fromkeys(_strings.decode(place.headings)))
        urls.update(dict.fromkeys(meta.urls))
        extra.update(dict.fromkeys([*meta.urls, *meta.commands, *meta.paths, *meta.people, place.code]))
    text = evidence.facts[each.fact_id].text
    body = known[text].body if text in known else ""
    return Entry(text, list(headings), each.category, _joined(extra), evidence.agent_id, list(urls), body)


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(filter(None, parts))[:_SIDE_LIMIT]


def _derived_row(n: int, each: Derived, day: int, scoring: ScoringSettings) -> tuple[str | int | float, ...]:
    score, tier = own_tier(each, day, scoring)
    return (
        n, each.agent_id, each.fact_id, each.state, tier, float(score), each.category, float(each.importance),
        each.kind, each.task_state, each.created_at, each.latest_day, int(each.on_page), each.access_days,
        each.last_read, each.distilled, each.summary,
    )  # fmt: skip


def _agents(store: Store) -> set[str]:
    # Jumps from agent to agent in the index; DISTINCT would walk all facts.
    rows = store.execute(
        "WITH RECURSIVE a (id) AS (SELECT min(agent_id) FROM derived UNION ALL"
        " SELECT (SELECT min(agent_id) FROM derived WHERE agent_id > a.id) FROM a WHERE a.id IS NOT NULL)"
        " SELECT id FROM a WHERE id IS NOT NULL"
    )
    return {str(row[0]) for row in rows}


def _retier(store: Store, agent: str, day: int, settings: Settings) -> bool:
    with store.transaction() as tx:
        more = retier(tx, agent, day, settings)
    crash_point("tiers moved")
    return more


def _retier_rest(store: Store, agent: str, after: int, day: int, settings: Settings) -> int | None:
    with store.transaction() as tx:
        return retier_rest(tx, agent, day, settings, after=after)

"""The rows that speak about a batch of facts, read with one query a table."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ..model import COMMAND_PATH, DEFAULT_AGENT, date_order
from ..store import Store

_JSON = msgspec.json.Encoder()
_strings = msgspec.json.Decoder(list[str])


class Mention(msgspec.Struct, frozen=True):
    """One place of a fact, as far as derived values and the index need it; `headings` and `metadata` are JSON."""

    device: str
    path: str
    n: int
    line_from: int
    date: str
    category: str
    importance: float
    kind: str
    task_state: str
    headings: str
    metadata: str
    code: str
    on_page: bool

    def order(self) -> tuple[bool, str, str, int, str, int]:
        """Later mentions are greater; those of MEMORY.md are the weakest (docs/data.md, 2)."""
        return not self.on_page, date_order(self.date), self.path, self.line_from, self.device, self.n


class Stated(msgspec.Struct, frozen=True):
    """The row of a fact; `first_seen` in ms."""

    n: int
    text: str
    first_seen: int


class Evidence(msgspec.Struct):
    """Everything the rows say about some facts, the earlier wordings behind them and the facts they gave way to.

    `mentions` holds all mentions, `standing` those that count; `access` the days on which somebody read it and the last
    of them; `held` are facts that somebody put into hot state.
    """

    agent_id: str
    facts: dict[str, Stated]
    mentions: dict[str, list[Mention]]
    standing: dict[str, list[Mention]]
    edits: dict[str, dict[str, str | None]]
    access: dict[str, tuple[int, int]]
    forgotten: set[str]
    held: set[str]

    def counting(self, fact: str) -> list[Mention]:
        """The mentions that keep the fact live."""
        return self.standing.get(fact, [])


def page_path(agent_id: str) -> str:
    """The long-term memory page of an agent, relative to the workspace."""
    return "MEMORY.md" if agent_id == DEFAULT_AGENT else f"MEMORY-{agent_id}.md"


def gather(store: Store, agent_id: str, fact_ids: Sequence[str]) -> Evidence:
    """Read the rows about these facts, about those they came from, and about those they gave way to."""
    keys = _with_linked(store, agent_id, fact_ids)
    mentions = _mentions(store, agent_id, keys)
    return Evidence(
        agent_id=agent_id,
        facts=_facts(store, agent_id, keys),
        mentions=mentions,
        standing=_standing(store, agent_id, mentions),
        edits=_edits(store, agent_id, keys),
        access=_access(store, agent_id, keys),
        forgotten=_forgotten(store, agent_id, keys),
        held=_held(store, agent_id, keys),
    )


def later_wordings(store: Store, agent_id: str, fact_ids: Sequence[str]) -> list[str]:
    """The facts that stand for these now, along `after`, and those that gave way to them.

    They have to be derived again together with them.
    """
    rows = store.execute(
        "WITH RECURSIVE later (id) AS (SELECT value FROM json_each(?) UNION"
        " SELECT e.fact_id FROM later CROSS JOIN edits e INDEXED BY edits_after ON e.agent_id = ?"
        " AND e.value = later.id"
        # Word for word the condition of the partial index, or it is not used.
        " AND e.field IN ('after', 'superseded_by', 'merged_into')) SELECT id FROM later",
        (_JSON.encode(list(fact_ids)).decode(), agent_id),
    )
    given = set(fact_ids)
    return [str(row[0]) for row in rows if row[0] not in given]


def successors(rows: Iterable[tuple[str, Sequence[str]]]) -> dict[str, set[str]]:
    """For each succeeded device all that succeed it along the chain; `rows` are (device, the ids it succeeds).

    Devices that succeed each other in a ring succeed nobody in it: a ring must not hide its notes.
    """
    direct: dict[str, set[str]] = {}
    for device, old_ids in rows:
        for old in old_ids:
            direct.setdefault(old, set()).add(device)
    reach = {old: _reachable(direct, old) for old in direct}
    return {old: {new for new in found if old not in reach.get(new, set())} for old, found in reach.items()}


def _reachable(direct: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for device in direct.get(waiting.pop(), set()) - found:
            found.add(device)
            waiting.append(device)
    return found


def _with_linked(store: Store, agent_id: str, fact_ids: Sequence[str]) -> str:
    rows = store.execute(
        "WITH RECURSIVE chain (id) AS (SELECT value FROM json_each(?) UNION"
        " SELECT e.value FROM chain CROSS JOIN edits e NOT INDEXED ON e.agent_id = ? AND e.fact_id = chain.id"
        " AND e.field IN ('after', 'superseded_by', 'merged_into')"
        # By the key of the fact: the partial index would walk all links of the agent.
        " AND +e.value IS NOT NULL) SELECT id FROM chain",
        (_JSON.encode(list(fact_ids)).decode(), agent_id),
    )
    return _JSON.encode([row[0] for row in rows]).decode()


def _facts(store: Store, agent_id: str, keys: str) -> dict[str, Stated]:
    rows = store.execute(
        "SELECT id, n, text, first_seen FROM facts WHERE agent_id = ? AND id IN (SELECT value FROM json_each(?))",
        (agent_id, keys),
    )
    return {str(fact): Stated(int(n or 0), str(text), int(seen or 0)) for fact, n, text, seen in rows}


def _mentions(store: Store, agent_id: str, keys: str) -> dict[str, list[Mention]]:
    rows = store.execute(
        "SELECT fact_id, device, path, n, line_from, date, category, importance, kind, task_state,"
        " headings, metadata, code"
        # Left to itself the planner walks through all mentions of the agent by their primary key.
        " FROM mentions INDEXED BY mentions_fact WHERE agent_id = ? AND fact_id IN (SELECT value FROM json_each(?))",
        (agent_id, keys),
    )
    page = page_path(agent_id)
    found: dict[str, list[Mention]] = {}
    for fact, *values in rows:
        # Of some hundred thousand rows each conversion counts; the table is STRICT.
        each = Mention(*values, on_page=values[1] == page)  # type: ignore[arg-type, misc]
        found.setdefault(str(fact), []).append(each)
    return found


def _standing(store: Store, agent_id: str, mentions: Mapping[str, list[Mention]]) -> dict[str, list[Mention]]:
    """The mentions that count: not those of a succeeded device whose successor has a note row of that path."""
    rows = store.execute("SELECT device, succeeds FROM devices WHERE succeeds <> '[]'")
    newer = successors((str(device), _strings.decode(str(old))) for device, old in rows)
    taken = _taken_over(store, agent_id, mentions, newer) if newer else set()
    return {
        fact: [each for each in places if each.path == COMMAND_PATH or (each.device, each.path) not in taken]
        for fact, places in mentions.items()
    }


def _taken_over(
    store: Store, agent_id: str, mentions: Mapping[str, list[Mention]], newer: Mapping[str, set[str]]
) -> set[tuple[str, str]]:
    """(succeeded device, path) whose successor has a note row, deleted or not."""
    places = {(each.device, each.path) for found in mentions.values() for each in found if each.device in newer}
    wanted = sorted({(device, path) for old, path in places for device in newer[old]})
    rows = store.execute(
        "SELECT w.value ->> 0, w.value ->> 1 FROM json_each(?) w CROSS JOIN notes n"
        " ON n.agent_id = ? AND n.device = w.value ->> 0 AND n.path = w.value ->> 1",
        (_JSON.encode(wanted).decode(), agent_id),
    )
    noted = {(str(device), str(path)) for device, path in rows}
    return {(old, path) for old, path in places if any((device, path) in noted for device in newer[old])}


def _edits(store: Store, agent_id: str, keys: str) -> dict[str, dict[str, str | None]]:
    rows = store.execute(
        "SELECT fact_id, field, value FROM edits WHERE agent_id = ? AND fact_id IN (SELECT value FROM json_each(?))",
        (agent_id, keys),
    )
    found: dict[str, dict[str, str | None]] = {}
    for fact, field, value in rows:
        found.setdefault(str(fact), {})[str(field)] = None if value is None else str(value)
    return found


def _access(store: Store, agent_id: str, keys: str) -> dict[str, tuple[int, int]]:
    rows = store.execute(
        "SELECT fact_id, sum(days), max(last_day) FROM access WHERE agent_id = ?"
        " AND fact_id IN (SELECT value FROM json_each(?)) GROUP BY fact_id",
        (agent_id, keys),
    )
    return {str(fact): (int(days or 0), int(last or 0)) for fact, days, last in rows}


def _forgotten(store: Store, agent_id: str, keys: str) -> set[str]:
    rows = store.execute(
        "SELECT fact_id FROM forgotten WHERE agent_id = ? AND version > lifted_version"
        " AND fact_id IN (SELECT value FROM json_each(?))",
        (agent_id, keys),
    )
    return {str(row[0]) for row in rows}


def _held(store: Store, agent_id: str, keys: str) -> set[str]:
    rows = store.execute(
        "SELECT key FROM hot_items WHERE agent_id = ? AND section IN ('lessons', 'events', 'tasks') AND deleted = 0"
        " AND key IN (SELECT value FROM json_each(?))",
        (agent_id, keys),
    )
    return {str(row[0]) for row in rows}

"""Hot state: what an agent always has before it (docs/memory.md, 3, shape of docs/original.md).

Two sources: what somebody wrote (`hot_items`), and facts that are promoted while they are important and
fresh. What somebody wrote goes first, and is left out only by the limits:

1. At most so many lessons (the least important leaves first), events (the oldest) and tasks (the least
   important, then the oldest). Promoted facts fill what room is left, by (score, id).
2. At most `hot.max_bytes` of compact UTF-8 JSON. Left out until it fits, in this order: free JSON values
   over a fifth of the limit, the largest first; promoted items, the least important and then the oldest
   first; written lessons, events and tasks in the same order; projects, the one written longest ago
   first; fields of owner_profile, then of identity, the largest first.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from ..config import Settings
from ..store import Store
from .limits import Limits, agent_limits
from .ranking import Ranked, Ranking
from .score import HOT_SCORE, days_above, promoted

SCHEMA_VERSION = "2.0"
FREE_SECTIONS = ("identity", "owner_profile", "projects")
"""Sections of free JSON; the keys are field names, or a project's name."""
FACT_SECTIONS = ("lessons", "events", "tasks")
"""Sections of facts; the keys are fact ids."""
SECTION_OF_KIND = {
    "decision": "lessons", "lesson": "lessons", "preference": "lessons", "event": "events", "task": "tasks",
}  # fmt: skip
"""Where a promoted fact goes; no other kind is promoted."""
OPEN_TASK = "open"
NEARLY_FULL = 0.85
"""From this share of the limit on, hot state is worth a warning."""

_LARGE_SHARE = 5
_MS_PER_S = 1000
_JSON = msgspec.json.Encoder(order="deterministic")


class HotItem(msgspec.Struct):
    """One entry of hot state.

    `key` is the fact id, field name or project name; `value` what hot state shows of it; `at` [ms] its
    place in time; `written` tells what somebody wrote from what was promoted.
    """

    section: str
    key: str
    value: Any
    importance: float
    at: int
    written: bool

    @property
    def size(self) -> int:
        """Bytes of its JSON."""
        return len(_JSON.encode(self.value)) + (0 if self.section in FACT_SECTIONS else len(self.key.encode()))


class HotState(msgspec.Struct):
    """Hot state as it is today, and what its limits kept out.

    `left_out` holds `{"section", "key", "text", "reason": "limit" | "bytes"}`; `fact_ids` are the facts
    whose tier is hot.
    """

    state: dict[str, Any]
    items: list[HotItem]
    size_bytes: int
    max_bytes: int
    left_out: list[dict[str, str]]

    @property
    def fact_ids(self) -> set[str]:
        """The facts that hot state holds."""
        return {each.key for each in self.items if each.section in FACT_SECTIONS}

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show."""
        return not self.items

    @property
    def nearly_full(self) -> bool:
        """Whether the size is worth a warning."""
        return self.size_bytes >= NEARLY_FULL * self.max_bytes


def hot_state(store: Store, agent_id: str, today: int, settings: Settings) -> HotState:
    """The hot state of an agent on a day (days since 1970), computed from rows and derived values."""
    limits = agent_limits(store, agent_id, settings)
    return _assembled(store, agent_id, Ranking(store, agent_id, today, limits.scoring), limits)


def hot_facts(store: Store, agent_id: str, ranking: Ranking, limits: Limits) -> set[str]:
    """The ids of the facts that hot state holds."""
    return _assembled(store, agent_id, ranking, limits).fact_ids


def state_of(items: Iterable[HotItem]) -> dict[str, Any]:
    """The shape of the original's file (docs/original.md)."""
    parts: dict[str, list[HotItem]] = {section: [] for section in (*FREE_SECTIONS, *FACT_SECTIONS)}
    for each in sorted(items, key=lambda one: (one.at, one.key)):
        parts[each.section].append(each)
    return {
        "identity": {each.key: each.value for each in sorted(parts["identity"], key=_by_key)},
        "owner_profile": {each.key: each.value for each in sorted(parts["owner_profile"], key=_by_key)},
        "active_context": {
            "projects": [each.value for each in sorted(parts["projects"], key=_by_key)],
            "events": [each.value for each in parts["events"]],
            "tasks": [each.value for each in parts["tasks"]],
        },
        "critical_lessons": [each.value for each in parts["lessons"]],
        "_schema_version": SCHEMA_VERSION,
    }


def size_of(state: dict[str, Any]) -> int:
    """Bytes of the state as compact UTF-8 JSON: `hot_bytes`."""
    return len(_JSON.encode(state))


def _assembled(store: Store, agent_id: str, ranking: Ranking, limits: Limits) -> HotState:
    free, facts, removed = _written(store, agent_id)
    kept, over = _within_counts(facts, limits)
    held = {each.key for each in facts} | removed
    kept += _promoted(store, agent_id, ranking, limits, kept, held)
    items, cut = _within_bytes(free + kept, limits.hot.max_bytes)
    state = state_of(items)
    left_out = [_told(each, "limit") for each in over] + [_told(each, "bytes") for each in cut]
    return HotState(state, items, size_of(state), limits.hot.max_bytes, left_out)


def _written(store: Store, agent_id: str) -> tuple[list[HotItem], list[HotItem], set[str]]:
    """What somebody wrote: free JSON, live facts, and the ids of facts that somebody removed."""
    rows = store.execute(
        "SELECT section, key, coalesce(value, 'null'), version, deleted FROM hot_items"
        " WHERE agent_id = ? AND section <> 'settings'",
        (agent_id,),
    )
    free: list[HotItem] = []
    noted: dict[str, tuple[str, Any]] = {}
    removed: set[str] = set()
    for section, key, value, version, deleted in map(_strings, rows):
        if deleted == "1":
            removed.add(key)
        elif section in FREE_SECTIONS:
            free.append(HotItem(section, key, _free(section, key, value), 1.0, int(version[:13]), written=True))
        elif section in FACT_SECTIONS:
            noted[key] = (section, msgspec.json.decode(value))
    facts = _fact_items(store, agent_id, {key: section for key, (section, _) in noted.items()}, written=True)
    for each in facts:
        _take_time(each, noted[each.key][1])
    return free, facts, removed - noted.keys()


def _free(section: str, key: str, text: str) -> Any:
    """The value of a row's JSON; a project is an object with a name, also where another program wrote the row."""
    value = msgspec.json.decode(text)
    if section != "projects" or (isinstance(value, dict) and "name" in value):
        return value
    return {"name": key} | (value if isinstance(value, dict) else {"description": value})


def _strings(row: Sequence[Any]) -> list[str]:
    return [str(value) for value in row]


def _take_time(item: HotItem, value: Any) -> None:
    """The time that was written with an item (`timestamp`, epoch seconds) is the one it shows."""
    stamp = value.get("timestamp") if isinstance(value, dict) else None
    if isinstance(stamp, int | float) and not isinstance(stamp, bool):
        item.at = round(stamp * _MS_PER_S)
        item.value["timestamp"] = stamp


def _fact_items(store: Store, agent_id: str, sections: dict[str, str], *, written: bool) -> list[HotItem]:
    """The live facts among `sections` (id → section) as items; finished tasks are none."""
    rows = store.execute(
        "SELECT d.fact_id, f.text, d.category, d.importance, d.created_at, d.task_state"
        # CROSS JOIN keeps the order of the tables: the planner would read every live fact.
        " FROM json_each(?) wanted CROSS JOIN derived d INDEXED BY derived_fact ON d.agent_id = ?"
        " AND d.fact_id = wanted.value CROSS JOIN facts f ON f.n = d.n WHERE d.state = 'live'",
        (_JSON.encode(list(sections)).decode(), agent_id),
    )
    items: list[HotItem] = []
    for fact, text, category, importance, created, task_state in rows:
        section, weight, at = sections[str(fact)], float(importance or 0), int(created or 0)
        if section == "tasks" and task_state not in ("", OPEN_TASK):
            continue
        value = _shown(section, str(text), str(category), weight, at // _MS_PER_S)
        items.append(HotItem(section, str(fact), value, weight, at, written))
    return items


def _shown(section: str, text: str, category: str, importance: float, timestamp: int) -> dict[str, Any]:
    if section == "lessons":
        return {"text": text, "category": category, "importance": importance, "timestamp": timestamp}
    if section == "tasks":
        return {"text": text, "status": "pending", "timestamp": timestamp}
    return {"text": text, "timestamp": timestamp}


def _within_counts(items: Sequence[HotItem], limits: Limits) -> tuple[list[HotItem], list[HotItem]]:
    """Split written facts into those that stay and those over the limit of their section."""
    kept: list[HotItem] = []
    over: list[HotItem] = []
    for section in FACT_SECTIONS:
        strength: Callable[[HotItem], Any] = _by_time if section == "events" else _by_importance
        ordered = sorted((each for each in items if each.section == section), key=strength, reverse=True)
        room = _room(section, limits)
        kept += ordered[:room]
        over += ordered[room:]
    return kept, over


def _promoted(
    store: Store, agent_id: str, ranking: Ranking, limits: Limits, kept: Sequence[HotItem], held: set[str]
) -> list[HotItem]:
    """Facts that enter by themselves, each section up to its limit by (score, id)."""
    chosen: dict[str, str] = {}
    for section in FACT_SECTIONS:
        room = _room(section, limits) - sum(each.section == section for each in kept)
        kinds = [kind for kind, target in SECTION_OF_KIND.items() if target == section]
        best = sorted(
            (each for kind in kinds for each in _best_of(ranking, limits, kind, room, held)), key=lambda one: one.rank
        )
        chosen |= {each.fact_id: section for each in best[: max(0, room)]}
    return _fact_items(store, agent_id, chosen, written=False)


def _best_of(ranking: Ranking, limits: Limits, kind: str, room: int, held: set[str]) -> list[Ranked]:
    def keep(each: Ranked) -> bool:
        return promoted(each.importance, each.age_days, each.access_days, limits.scoring)

    found: list[Ranked] = []
    since = ranking.today - days_above(HOT_SCORE, limits.scoring)
    for each in ranking.best(since, keep, kind=kind) if room > 0 else ():
        open_enough = kind != "task" or each.task_state == OPEN_TASK
        if open_enough and not each.on_page and each.fact_id not in held:
            found.append(each)
        if len(found) == room:
            break
    return found


def _within_bytes(items: Sequence[HotItem], max_bytes: int) -> tuple[list[HotItem], list[HotItem]]:
    """Leave out as few items as needed, in the order that the module names."""
    order = _leaving_order(items, max_bytes)
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        if size_of(state_of(order[middle:])) <= max_bytes:
            high = middle
        else:
            low = middle + 1
    return order[low:], order[:low]


def _leaving_order(items: Sequence[HotItem], max_bytes: int) -> list[HotItem]:
    large = max_bytes // _LARGE_SHARE

    def key(each: HotItem) -> tuple[int, float, int, str]:
        if each.section in FACT_SECTIONS:
            return 2 if each.written else 1, each.importance, each.at, each.key
        if each.size > large:
            return 0, -each.size, 0, each.key
        if each.section == "projects":
            return 3, 0, each.at, each.key
        return 4 if each.section == "owner_profile" else 5, -each.size, 0, each.key

    return sorted(items, key=key)


def _room(section: str, limits: Limits) -> int:
    hot = limits.hot
    return {"lessons": hot.max_lessons, "events": hot.max_events, "tasks": hot.max_tasks}[section]


def _told(item: HotItem, reason: str) -> dict[str, str]:
    text = item.value["text"] if item.section in FACT_SECTIONS else item.key
    return {"section": item.section, "key": item.key, "text": text, "reason": reason}


def _by_importance(item: HotItem) -> tuple[float, int, str]:
    return item.importance, item.at, item.key


def _by_time(item: HotItem) -> tuple[int, str]:
    return item.at, item.key


def _by_key(item: HotItem) -> str:
    return item.key

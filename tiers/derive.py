"""What memory says of a fact now: a function of the rows and the UTC day alone (docs/data.md, 2, "Derived").

One query a table for a whole batch of facts; the rules are plain functions over what came back.
"""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..clock import MS_PER_DAY, day_number
from ..config import Settings
from ..model import COMMAND_PATH, Derived, FactState
from ..store import Store
from .evidence import Evidence, Mention, gather
from .limits import Limits, agent_limits
from .score import FROZEN_BELOW, age_of, score

FROZEN_AGE_DAYS = 30
"""A younger fact is warm or cold, never frozen for good."""
DEFAULT_CATEGORY = "general"
DEFAULT_IMPORTANCE = 0.5

DISTILLED_BYTES = 100
"""The short form of a fact is at most so long (docs/memory.md, 2)."""
_MS_PER_MINUTE = 60_000
_UNREAD = (0, 0)
_DONE = frozenset({"done", "true", "1"})


class _Said(NamedTuple):
    """What the notes and the edits make of one fact, before states."""

    category: str
    importance: float
    kind: str
    task_state: str


def derive(
    store: Store, agent_id: str, fact_ids: Sequence[str], today: int, settings: Settings | None = None
) -> list[Derived]:
    """Derive the facts of one agent; `today` in days since 1970, `settings` this device's, defaults if None.

    Ids without a fact row are absent from the result; `summary` is left empty, and `distilled` where no
    model made it: they come from the text.
    """
    evidence = gather(store, agent_id, fact_ids)
    return derived_from(evidence, fact_ids, today, agent_limits(store, agent_id, settings))


def derived_from(evidence: Evidence, fact_ids: Sequence[str], today: int, limits: Limits) -> list[Derived]:
    """The same from evidence that was gathered for these facts."""
    return [_derive_one(evidence, fact, today, limits) for fact in dict.fromkeys(fact_ids) if fact in evidence.facts]


def chain(evidence: Evidence, fact: str) -> Iterator[str]:
    """The fact itself, then the earlier wordings that it stands for.

    `after` is followed only into facts that are retracted now, each once.
    """
    seen: set[str] = set()
    step: str | None = fact
    while step is not None and step not in seen:
        yield step
        seen.add(step)
        step = evidence.edits.get(step, {}).get("after")
        if step is not None and evidence.counting(step):
            return


@lru_cache(maxsize=1024)
def mention_ms(date: str) -> int:
    """Milliseconds of a mention's date: 00:00 UTC, or the clock time written beside it."""
    minutes = int(date[11:13]) * 60 + int(date[14:16]) if len(date) > 10 else 0
    return day_number(dt.date.fromisoformat(date[:10])) * MS_PER_DAY + minutes * _MS_PER_MINUTE


def _derive_one(evidence: Evidence, fact: str, today: int, limits: Limits) -> Derived:
    standing = evidence.counting(fact)
    mentions = standing or evidence.mentions.get(fact, [])
    wordings = list(chain(evidence, fact)) if fact in evidence.edits else [fact]
    created = _created_at(evidence, fact, mentions)
    said = _said(evidence, wordings, mentions)
    derived = Derived(
        agent_id=evidence.agent_id,
        fact_id=fact,
        state="live",
        category=said.category,
        importance=said.importance,
        kind=said.kind,
        task_state=said.task_state,
        created_at=created,
        latest_day=_latest_day(mentions, created),
        on_page=any(each.on_page for each in standing),
        access_days=sum([evidence.access.get(each, _UNREAD)[0] for each in wordings]),
        last_read=evidence.access.get(fact, _UNREAD)[1],
        distilled=_distilled(evidence.edits.get(fact, {}).get("distilled")),
        summary="",
    )
    derived.state = _state(evidence, derived, today, limits)
    return derived


def _said(evidence: Evidence, wordings: Sequence[str], mentions: Sequence[Mention]) -> _Said:
    latest = max(mentions, key=Mention.order) if len(mentions) > 1 else mentions[0] if mentions else None
    edits = _carried_edits(evidence, wordings)
    done = edits.get("done")
    return _Said(
        category=edits.get("category") or (latest.category if latest else "") or DEFAULT_CATEGORY,
        importance=_importance(edits.get("importance"), latest.importance if latest else DEFAULT_IMPORTANCE),
        kind=latest.kind if latest else "fact",
        task_state=(latest.task_state if latest else "") if done is None else _task_state(done),
    )


def _carried_edits(evidence: Evidence, wordings: Sequence[str]) -> Mapping[str, str | None]:
    """For each field the edit of the newest wording that has one; a withdrawn edit hides the older ones too."""
    carried: dict[str, str | None] = {}
    for each in wordings:
        carried = {**evidence.edits.get(each, {}), **carried}
    return carried


def _importance(edit: str | None, mentioned: float) -> float:
    return min(1.0, max(0.0, mentioned if edit is None else float(edit)))


def _distilled(edit: str | None) -> str:
    """A language model's short form, where it is short."""
    return edit if edit is not None and len(edit.encode()) <= DISTILLED_BYTES else ""


def _task_state(done: str) -> str:
    return "done" if done.lower() in _DONE else "open"


def _created_at(evidence: Evidence, fact: str, mentions: Sequence[Mention]) -> int:
    """The earliest date; with a place that has none of its own, or with none left, not later than first_seen."""
    dates = [mention_ms(each.date) for each in mentions if each.date]
    undated = [each for each in mentions if each.on_page or not each.date or each.path == COMMAND_PATH]
    if undated or not evidence.counting(fact):
        dates.append(evidence.facts[fact].first_seen)
    return min(dates)


def _latest_day(mentions: Sequence[Mention], created_at: int) -> int:
    days = [mention_ms(each.date) // MS_PER_DAY for each in mentions if each.date]
    return max(days, default=created_at // MS_PER_DAY)


def _state(evidence: Evidence, derived: Derived, today: int, limits: Limits) -> FactState:
    fact = derived.fact_id
    edits = evidence.edits.get(fact, {})
    old = today - evidence.facts[fact].first_seen // MS_PER_DAY >= limits.expiry_days
    if fact in evidence.forgotten:
        return "forgotten"
    if not evidence.counting(fact):
        return "expired" if old else "retracted"
    if _is_merged(evidence, fact, edits.get("merged_into")):
        return "merged"
    if _stands_later(evidence, fact, edits.get("superseded_by")):
        return "superseded"
    if old and _is_stored_only(evidence, fact) and _is_frozen(derived, today, limits) and fact not in evidence.held:
        return "expired"
    return "live"


def _stands_later(evidence: Evidence, fact: str, other: str | None) -> bool:
    """Whether the fact that this one gave way to is still stated, and was not before it.

    What a later note states again, or has lost what stood against it, is live again.
    """
    if other is None or other not in evidence.facts or other in evidence.forgotten or not evidence.counting(other):
        return False
    return _day_of(evidence, other) >= _day_of(evidence, fact)


def _is_merged(evidence: Evidence, fact: str, whole: str | None) -> bool:
    """The same for the fuller wording, in a strict order: two that devices merged into each other never both go."""
    if whole is None or not _stands_later(evidence, fact, whole) or evidence.edits.get(whole, {}).get("superseded_by"):
        return False
    return _fullness(evidence, whole) > _fullness(evidence, fact)


def _fullness(evidence: Evidence, fact: str) -> tuple[int, int, str]:
    return _day_of(evidence, fact), len(evidence.facts[fact].text), fact


def _day_of(evidence: Evidence, fact: str) -> int:
    standing = evidence.counting(fact)
    return _latest_day(standing, _created_at(evidence, fact, standing))


def _is_stored_only(evidence: Evidence, fact: str) -> bool:
    return all(each.path == COMMAND_PATH for each in evidence.counting(fact))


def _is_frozen(derived: Derived, today: int, limits: Limits) -> bool:
    age = age_of(derived.latest_day, derived.on_page, today)
    return age > FROZEN_AGE_DAYS and score(derived.importance, age, derived.access_days, limits.scoring) < FROZEN_BELOW

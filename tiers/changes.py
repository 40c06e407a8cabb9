"""Changing hot state: by command, and by hand in MEMORY.md's managed block.

Lessons, events and tasks become facts stated by command; hot state only holds on to them. Identity,
owner profile and projects are free JSON, one row a field or project, so that two devices can change
different fields. Whatever comes in goes through `Words` first: facts have one text rule, secrets are masked.
"""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from ..errors import NoInputError, UsageError
from ..foreign import decoded_json
from ..model import ParsedMention, fact_id
from ..store import Tx
from ..store.versions import set_edit, set_hot_item, state_fact
from .hot import FACT_SECTIONS, HotState
from .stance import stance
from .values import setting

SECTION_OF_KEY = {
    "identity": "identity", "owner_profile": "owner_profile", "project": "projects",
    "lesson": "lessons", "event": "events", "task": "tasks",
}  # fmt: skip
"""The KEY of `hot --update` and the section it writes."""
KIND_OF_SECTION = {"lessons": "lesson", "events": "event", "tasks": "task"}
DEFAULT_IMPORTANCE = 0.7
DEFAULT_CATEGORY = "general"

_FIELDS = {
    "lessons": {"text", "category", "importance", "timestamp"},
    "events": {"text", "category", "importance", "timestamp"},
    "tasks": {"text", "category", "importance", "timestamp", "status"},
}
_DONE_WORDS = frozenset({"done", "completed", "complete", "finished"})
_OPEN_WORDS = frozenset({"", "pending", "open", "todo", "in_progress"})
_LAST_TIMESTAMP = 253_402_300_799  # 9999-12-31, the last day that dates can name
_JSON = msgspec.json.Encoder(order="deterministic")


class Words(NamedTuple):
    """How text becomes fact text: ingest's rule for one statement (text, category, importance), its masks, the guard.

    `says_forgotten` tells whether an agent's text, or JSON with texts in it, says a sentence that was forgotten.
    """

    statement: Callable[[str, str, float], ParsedMention]
    mask: Callable[[str], str]
    says_forgotten: Callable[[Tx, str, Any], bool]


class Item(msgspec.Struct):
    """A lesson, event or task on its way into hot state; `timestamp` in epoch seconds, None = now or as it was."""

    section: str
    text: str
    category: str = DEFAULT_CATEGORY
    importance: float = DEFAULT_IMPORTANCE
    timestamp: float | None = None
    done: bool = False


def change_hot(tx: Tx, agent_id: str, key: str, value_json: str, words: Words) -> str:
    """`hot --update KEY JSON`; returns the id of the fact, or the name of the project or section.

    Raises `UsageError` for an unknown KEY, for what is no JSON, and for JSON of another shape.
    """
    section = SECTION_OF_KEY.get(key)
    if section is None:
        raise UsageError(f"{key!r} is no part of hot state.", f"Use one of {', '.join(SECTION_OF_KEY)}.")
    try:
        value = decoded_json(value_json)
    except msgspec.DecodeError as error:
        raise UsageError(f"The value is not valid JSON: {error}.", """Quote it: '{"text": "…"}'.""") from None
    if section in FACT_SECTIONS:
        fact = hold(tx, agent_id, _item(section, value), words)
        if not fact:
            raise UsageError("The text holds no words, or it was forgotten and stays so.", "Write it in other words.")
        return fact
    if section == "projects":
        return _update_project(tx, agent_id, _project(value), words)
    return _update_fields(tx, agent_id, section, value, words)


def hold(tx: Tx, agent_id: str, item: Item, words: Words) -> str:
    """State a lesson, event or task as a fact and hold it in hot state.

    Returns the fact's id, '' for a text without words and for one that says something forgotten.
    """
    mention = words.statement(item.text, item.category, item.importance)
    if not mention.text or words.says_forgotten(tx, agent_id, [item.text, item.category]):
        return ""
    fact = fact_id(agent_id, mention.text)
    stamp = _stamp(tx, agent_id, item, fact)
    again = withdraw_links(tx, agent_id, fact) or _may_be_contradicted(tx, agent_id, fact, mention.text)
    said_now = again and item.timestamp is None
    state_fact(
        tx, agent_id, mention.text, mention.category, mention.importance, mention.metadata,
        kind=KIND_OF_SECTION[item.section], task_state=_task_state(item),
        date=now_as_date(tx) if said_now else datetime.fromtimestamp(stamp, UTC).strftime("%Y-%m-%dT%H:%MZ"),
    )  # fmt: skip
    set_hot_item(tx, agent_id, item.section, fact, _JSON.encode({"timestamp": stamp}).decode())
    return fact


def now_as_date(tx: Tx) -> str:
    """This moment as a mention's date, to the millisecond: of what contradicts each other the later one is current."""
    now = datetime.fromtimestamp(tx.store.clock.now_ms() / 1000, UTC)
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def withdraw_links(tx: Tx, agent_id: str, fact: str) -> bool:
    """Take back what a fact gave way to, a later fact or a fuller wording: somebody states it by command now.

    Returns whether it had given way.
    """
    gave_way = tx.execute(
        "SELECT field FROM edits WHERE agent_id = ? AND fact_id = ? AND field IN ('superseded_by', 'merged_into')"
        " AND value <> ''",
        (agent_id, fact),
    )
    for (field,) in gave_way:
        set_edit(tx, agent_id, fact, str(field), None)
    return bool(gave_way)


def _may_be_contradicted(tx: Tx, agent_id: str, fact: str, text: str) -> bool:
    """Whether it is a known fact of those that others contradict: when it is said again is what decides then."""
    known = tx.execute("SELECT 1 FROM facts WHERE agent_id = ? AND id = ?", (agent_id, fact))
    return bool(known) and (stance(text) is not None or setting(text) is not None)


def finish_item(tx: Tx, agent_id: str, state: HotState, which: str) -> str:
    """`hot --done WHICH`: the task, named by id or text, is done; returns its id."""
    section, key = find_item(state, which)
    if section != "tasks":
        raise UsageError("Only tasks can be done.", "Take it out with: memoryd hot --remove.")
    set_edit(tx, agent_id, key, "done", "done")
    return key


def remove_item(tx: Tx, agent_id: str, state: HotState, which: str) -> tuple[str, str]:
    """`hot --remove WHICH`: out of hot state, whether written or promoted; a fact stays a fact.

    Returns (section, key).
    """
    section, key = find_item(state, which)
    set_hot_item(tx, agent_id, section, key, None, deleted=True)
    return section, key


def find_item(state: HotState, which: str) -> tuple[str, str]:
    """Section and key of the one item with this id, text, field name or project name, left out or not."""
    shown = [(each.section, each.key, _text_of(each.section, each.value)) for each in state.items]
    left = [(each["section"], each["key"], each["text"]) for each in state.left_out]
    found = {(section, key) for section, key, text in [*shown, *left] if which in (key, text)}
    if not found:
        raise NoInputError(f"Hot state holds nothing named {which!r}.", "memoryd hot shows what it holds.")
    if len(found) > 1:
        raise UsageError(f"{which!r} names several items of hot state.", "Name it by its id.")
    return found.pop()


def _text_of(section: str, value: Any) -> str:
    return str(value["text"]) if section in FACT_SECTIONS else ""


def _item(section: str, value: Any) -> Item:
    """The item that JSON describes: an object with `text`, or just a text."""
    given = {"text": value} if isinstance(value, str) else value
    if not isinstance(given, dict) or not isinstance(given.get("text"), str) or not given["text"].strip():
        raise UsageError("The value has no text.", """Use an object with a text, e.g. '{"text": "Measure twice"}'.""")
    if unknown := sorted(given.keys() - _FIELDS[section]):
        raise UsageError(f"The value has no field {unknown[0]!r}.", f"Known: {', '.join(sorted(_FIELDS[section]))}.")
    category = given.get("category", DEFAULT_CATEGORY)
    if not isinstance(category, str) or not category.strip():
        raise UsageError("The category is no text.", "Give a path such as craft/wood, or leave it out.")
    return Item(
        section,
        given["text"],
        category,
        _number(given, "importance", 0, 1, DEFAULT_IMPORTANCE),
        _number(given, "timestamp", 0, _LAST_TIMESTAMP, None),
        done=_is_done(given.get("status", "")),
    )


def _number(given: dict[str, Any], field: str, least: float, most: float, default: Any) -> Any:
    value = given.get(field, default)
    if value is default:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(f"The {field} is no number.", f"Give a number from {least} to {most}.")
    if not least <= value <= most:
        raise UsageError(f"The {field} {value} is out of range.", f"Give a number from {least} to {most}.")
    return value


def _is_done(status: Any) -> bool:
    word = status.strip().lower() if isinstance(status, str) else None
    if word in _DONE_WORDS:
        return True
    if word in _OPEN_WORDS:
        return False
    raise UsageError(f"{status!r} is no status of a task.", "Use pending or done.")


def _task_state(item: Item) -> str:
    if item.section != "tasks":
        return ""
    return "done" if item.done else "open"


def _stamp(tx: Tx, agent_id: str, item: Item, fact: str) -> float:
    """The time an item shows: what was given, else what it showed before, else now."""
    if item.timestamp is not None:
        return item.timestamp
    old = current(tx, agent_id, item.section, fact)
    stamp = old.get("timestamp") if isinstance(old, dict) else None
    if isinstance(stamp, int | float):
        return min(max(stamp, 0), _LAST_TIMESTAMP)
    return tx.store.clock.now_ms() // 1000


def current(tx: Tx, agent_id: str, section: str, key: str) -> Any:
    """The value that an item has now, None if there is none."""
    rows = tx.execute(
        "SELECT value FROM hot_items WHERE agent_id = ? AND section = ? AND key = ? AND deleted = 0",
        (agent_id, section, key),
    )
    return msgspec.json.decode(str(rows[0][0])) if rows and rows[0][0] is not None else None


def _update_fields(tx: Tx, agent_id: str, section: str, value: Any, words: Words) -> str:
    """Set the fields of an object one by one; null takes a field out."""
    if not isinstance(value, dict) or not value:
        raise UsageError(f"{section} is an object with fields.", """E.g. '{"timezone": "Europe/Paris"}'.""")
    for field, content in value.items():
        write_free(tx, agent_id, section, field, content, words)
    return section


def _project(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str) or not value["name"].strip():
        raise UsageError("A project has a name.", """E.g. '{"name": "EvoClaw", "status": "Active"}'.""")
    return {**value, "name": " ".join(value["name"].split())}


def _update_project(tx: Tx, agent_id: str, value: dict[str, Any], words: Words) -> str:
    """Add a project, or change the fields of the one of that name."""
    name = words.mask(str(value["name"]))
    old = current(tx, agent_id, "projects", name)
    write_free(tx, agent_id, "projects", name, (old if isinstance(old, dict) else {}) | value, words)
    return name


def write_free(tx: Tx, agent_id: str, section: str, key: str, content: Any, words: Words) -> None:
    """Write one field or project of free JSON; None takes it out. Writing what stands there changes nothing.

    What says something forgotten is not written.
    """
    name = words.mask(key)
    if not name.strip() or "\0" in name:
        raise UsageError("A field needs a name.", "Give letters or digits.")
    clean = _masked(content, words, key)
    if clean is not None and words.says_forgotten(tx, agent_id, {name: clean}):
        return
    if clean != current(tx, agent_id, section, name):
        text = None if clean is None else _JSON.encode(clean).decode()
        set_hot_item(tx, agent_id, section, name, text, deleted=clean is None)


def _masked(value: Any, words: Words, key: str = "") -> Any:
    """The value with every text in it masked, names of fields too.

    A text is judged behind the name of its field, as it would be in a note: `token: …`.
    """
    if isinstance(value, str):
        lead = f"{key}: "
        judged = words.mask(lead + value)
        return judged.removeprefix(lead) if judged.startswith(lead) else words.mask(value)
    if isinstance(value, list):
        return [_masked(each, words, key) for each in value]
    if isinstance(value, dict):
        return {words.mask(name): _masked(each, words, name) for name, each in value.items()}
    return value

"""What a memory holds, as plain rows, and how two memories that read the same files differ."""

import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from memoryd.store.adapter import Database
from memoryd.store.log import KEYS, TABLES

Rows = set[tuple[Any, ...]]

_OWN = "device = (SELECT v FROM meta WHERE k = 'device')"
_QUESTIONS = {
    # What the notes say, line by line.
    "mentions": "SELECT agent_id, path, n, fact_id, line_from, line_to, date, headings, category, importance, kind,"
    f" task_state, metadata, code FROM mentions WHERE {_OWN} AND path <> ''",
    "notes": f"SELECT agent_id, path, size, chunks, mentions, state FROM notes WHERE {_OWN} AND deleted_at IS NULL",
    "ledger totals": "SELECT path, agent_id, raw_sha256, state, totals, findings, masked FROM files",
    "live facts": "SELECT d.agent_id, d.fact_id, f.text, d.tier, round(d.score, 9), d.category, d.importance, d.kind,"
    " d.task_state, d.latest_day, d.on_page, d.distilled, d.summary FROM derived d JOIN facts f ON f.n = d.n"
    " WHERE d.state = 'live'",
    "index": "SELECT f.agent_id, f.id, s.body, s.headings, s.category, s.extra, s.agent FROM search_index s"
    " JOIN facts f ON f.n = s.rowid",
    "stored facts": "SELECT agent_id, fact_id, category, importance FROM mentions WHERE path = ''",
    "forgotten": "SELECT agent_id, fact_id FROM forgotten WHERE version > lifted_version",
    "waiting": "SELECT * FROM dirty",
}
_SHARED = {
    **{
        name: f"SELECT {columns} FROM {name}"
        for name, columns in ((t.name, t.columns) for t in TABLES if t.name in KEYS)
    },
    "derived": "SELECT agent_id, fact_id, state, tier, round(score, 9), category, importance, kind, task_state,"
    " created_at, latest_day, on_page, access_days, distilled, summary FROM derived",
    "index": "SELECT f.agent_id, f.id, s.body, s.headings, s.category, s.extra, s.agent FROM search_index s"
    " JOIN facts f ON f.n = s.rowid",
    "waiting": "SELECT * FROM dirty",
}
_TORN = f"""SELECT n.path, n.mentions, (SELECT count(*) FROM mentions m WHERE m.agent_id = n.agent_id
 AND m.device = n.device AND m.path = n.path) AS held FROM notes n WHERE n.{_OWN} AND held <> n.mentions"""


def dump(database: Path) -> dict[str, Rows]:
    """Everything that the files alone decide. The daemon must have ended."""
    with closing(Database(database)) as db:
        return {name: set(db.execute(sql)) for name, sql in _QUESTIONS.items()}


def shared(database: Path) -> dict[str, Rows]:
    """Everything in which devices of one memory agree, row by row. The daemon must have ended."""
    with closing(Database(database)) as db:
        return {name: set(db.execute(sql)) for name, sql in _SHARED.items()}


def soundness(database: Path) -> list[str]:
    """What is broken in the file, and notes that are half in (ST-1); empty when all is well."""
    with closing(Database(database)) as db:
        found = [str(row[0]) for row in db.execute("PRAGMA integrity_check")]
        db.execute("INSERT INTO search_index (search_index, rank) VALUES ('integrity-check', 1)")
        torn = [f"half a note: {row}" for row in db.execute(_TORN)]
    return [each for each in found if each != "ok"] + torn


def picture(rows: list[list[str | None]], state: list[list[str | None]]) -> dict[str, Rows]:
    """The cloud's readable tables: `cold_memories` of live facts, `critical_state` without its time."""
    return {
        "cold_memories": {tuple(row) for row in rows},
        "critical_state": {(agent, _timeless(data or "{}")) for agent, data in state},
    }


def differences(found: Mapping[str, Rows], wanted: Mapping[str, Rows]) -> list[str]:
    """One line a row that stands only here or only there."""
    lines: list[str] = []
    for name, rows in wanted.items():
        lines += [f"{name}: too much: {row!r}" for row in sorted(found[name] - rows, key=repr)]
        lines += [f"{name}: missing: {row!r}" for row in sorted(rows - found[name], key=repr)]
    return lines


def _timeless(data: str) -> str:
    parsed = json.loads(data)
    parsed.pop("timestamp", None)
    return json.dumps(_without_times(parsed), sort_keys=True, ensure_ascii=False)


def _without_times(value: Any) -> Any:
    """`updated_at` and the like say when something was computed, not what."""
    if isinstance(value, dict):
        return {k: _without_times(v) for k, v in value.items() if k not in ("updated_at", "last_access", "created_at")}
    return [_without_times(each) for each in value] if isinstance(value, list) else value

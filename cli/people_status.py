"""`memoryd status` as people read it, at once or as a view that lives."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from .people_times import ago, duration, moment

_STATE_STYLES = {
    "ok": "green",
    "native": "green",
    "off": "dim",
    "starting": "cyan",
    "pending": "cyan",
    "polling": "yellow",
}
_FAILED = "red"


def show_status(status: dict[str, Any], console: Console) -> None:
    """Eight lines, then a table of what is wrong with a fix each."""
    for name, line in _status_lines(status):
        console.print(Text(f"{name:<10}", "bold"), line, sep="", soft_wrap=True)
    if table := _problem_table(status):
        console.print(table)


def live_view(status: dict[str, Any], now: float) -> Group:
    """The status as one picture that is drawn again and again, with the last saves; `now` in epoch seconds."""
    if "error" in status:
        return Group(Text(status["error"]["message"], _FAILED), Text(status["error"]["hint"], "dim"))
    lines = [Text.assemble((f"{name:<10}", "bold"), line) for name, line in _status_lines(status)]
    saves = Table("saved note", "when", "searchable after", box=None, padding=(0, 2, 0, 0))
    for save in reversed(status.get("saves", [])):
        saves.add_row(Text(save["path"]), ago(max(0.0, now - save["at"])), f"{save['latency_s'] * 1000:,.0f} ms")
    tables = [table for table in (saves if saves.row_count else None, _problem_table(status)) if table is not None]
    return Group(*lines, *(part for table in tables for part in (Text(""), table)))


def _problem_table(status: dict[str, Any]) -> Table | None:
    problems = _problems(status)
    if not problems:
        return None
    table = Table("problem", "what", "fix", box=None, padding=(0, 2, 0, 0))
    for problem in problems:
        table.add_row(*(Text(cell) for cell in problem))
    return table


def _status_lines(status: dict[str, Any]) -> Iterator[tuple[str, Text]]:
    watcher, notes, sync = status["watcher"], status["notes"], status["sync"]
    yield (
        "memoryd",
        _line(_state(status["state"]), status["version"], f"up {duration(status['uptime_s'])}", f"pid {status['pid']}"),
    )
    yield "workspace", Text(status["workspace"])
    yield (
        "watcher",
        _line(
            _state(watcher["state"]),
            f"last event {ago(watcher.get('last_event_age_s'))}",
            f"last scan {ago(watcher.get('last_scan_age_s'))}",
        ),
    )
    yield (
        "notes",
        _line(
            f"{notes['known']:,} known",
            f"{notes['with_findings']:,} with findings",
            f"{len(notes['unreadable']):,} unreadable",
            f"{notes['unmatched']:,} unmatched",
        ),
    )
    yield "pending", Text(f"{status['pending']:,} to take in")
    agents = status["agents"].values()
    yield (
        "facts",
        _line(*(f"{sum(a['facts'][tier] for a in agents):,} {tier}" for tier in ("hot", "warm", "cold", "frozen"))),
    )
    yield (
        "agents",
        _line(
            *(f"{name} ({a['hot_bytes']:,} bytes hot, {a['tree_nodes']} nodes)" for name, a in status["agents"].items())
        ),
    )
    yield "cloud", _cloud(sync)


def _cloud(sync: dict[str, Any]) -> Text:
    parts: list[Text | str] = [_state(sync["state"])]
    if sync["state"] != "off":
        parts += [f"{sync['pending_rows']:,} rows to send", f"last confirmed {moment(sync['last_ok_at'])}"]
    if sync.get("next_retry_in_s") is not None:
        parts.append(f"next try in {duration(sync['next_retry_in_s'])}")
    return _line(*parts)


_FIXES = {
    "unreadable": "Check the file's owner and mode.",
    "quarantined": "Look at the file; it stays as it is, and so does what was known of it.",
}


def _problems(status: dict[str, Any]) -> list[tuple[str, str, str]]:
    found = [(w["code"], w["message"], w["fix"]) for w in status["warnings"]]
    for state in ("unreadable", "quarantined"):
        for each in status["notes"][state]:
            path, reason = (each["path"], each.get("reason", "")) if isinstance(each, dict) else (str(each), "")
            found.append((state, f"{path}: {reason}" if reason else path, _FIXES[state]))
    return found


def _line(*parts: Text | str) -> Text:
    return Text(" · ").join([part if isinstance(part, Text) else Text(part) for part in parts])


def _state(state: str) -> Text:
    return Text(state, _STATE_STYLES.get(state, _FAILED))

"""Replies as people read them. Loaded only when somebody looks: rich costs more than a whole `memoryd status`."""

import contextlib
import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console, Group
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from .people_doctor import show_doctor
from .people_memory import LAYOUTS

_STATE_STYLES = {
    "ok": "green",
    "native": "green",
    "off": "dim",
    "starting": "cyan",
    "pending": "cyan",
    "polling": "yellow",
}
_FAILED = "red"


def show_reply(command: str, reply: Any, console: Console | None = None) -> None:
    """Print one reply; commands without a layout of their own show as names and values."""
    console = console or Console(highlight=False)
    _LAYOUTS.get(command, show_values)(reply, console)


@contextlib.contextmanager
def progress_bar(what: str, console: Console | None = None) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A bar on stderr fed by `{"phase", "done", "of"}` reports; gone when the command is done."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console or Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)

        def report(found: dict[str, Any]) -> None:
            progress.update(
                task,
                description=str(found.get("phase", what)),
                completed=found.get("done", 0),
                total=found.get("of"),
            )

        yield report


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
        saves.add_row(Text(save["path"]), _ago(max(0.0, now - save["at"])), f"{save['latency_s'] * 1000:,.0f} ms")
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
            f"last event {_ago(watcher.get('last_event_age_s'))}",
            f"last scan {_ago(watcher.get('last_scan_age_s'))}",
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


def show_hits(reply: Any, console: Console) -> None:
    """Hits as a list: the sentence, then where it stands."""
    hits = reply["results"] if isinstance(reply, dict) else reply
    if isinstance(reply, dict) and (reply.get("stale") or reply.get("pending")):
        console.print(Text("Not everything on disk is in yet.", "yellow"))
    if not hits:
        console.print("Nothing found.")
    for n, hit in enumerate(hits, 1):
        console.print(Text(f"{n:>2}. "), Text(hit["text"], "bold"), sep="", soft_wrap=True)
        facts = [
            hit["category"],
            hit["tier"],
            f"importance {hit['importance']:g}",
            *map(_source, hit.get("sources", [])),
            f"id {hit['id']}",
        ]
        console.print(Text("    " + " · ".join(map(str, facts)), "dim"), soft_wrap=True)
        for line in _extras(hit.get("metadata") or {}):
            console.print(Text(f"    {line}", "cyan"), soft_wrap=True)


def _source(source: dict[str, Any]) -> str:
    first, last = source["lines"]
    return f"{source['file']}:{first}" if first == last else f"{source['file']}:{first}-{last}"


def _extras(metadata: dict[str, Any]) -> Iterator[str]:
    yield from metadata.get("urls", [])
    yield from (f"$ {command}" for command in metadata.get("commands", []))
    yield from metadata.get("paths", [])


def show_devices(reply: dict[str, Any], console: Console) -> None:
    """One device a row; what `--retire` did as names and values."""
    if "devices" not in reply:
        show_values(reply, console)
        return
    table = Table("device", "name", "last seen", "succeeded by", box=None, padding=(0, 2, 0, 0))
    for each in reply["devices"]:
        name = f"{each['name']} (this one)" if each.get("this") else each["name"]
        table.add_row(each["device"], Text(name), moment(each.get("last_seen")), each.get("succeeded_by") or "")
    console.print(table)


def show_verify(reply: dict[str, Any], console: Console) -> None:
    """One sentence, then the differences."""
    pending = f"; {reply['pending']:,} rows are not sent yet" if reply["pending"] else ""
    if reply["equal"]:
        console.print(Text(f"This memory and the cloud are equal{pending}.", "green"))
        return
    console.print(Text(f"This memory and the cloud differ{pending}:", _FAILED))
    for each in reply["differences"]:
        console.print(Text(f"  device {each['device']}, segment {each['idx']}: {each['what']}"), soft_wrap=True)


def show_restore(reply: dict[str, Any], console: Console) -> None:
    """One sentence, and what did not come back as it was."""
    console.print(
        Text(f"Restored {reply['notes']:,} notes and {reply['facts']:,} facts in {duration(reply['seconds'])}.", "bold")
    )
    forgotten = reply.get("forgotten_lines", 0)
    if secrets := reply.get("masked_lines", 0) - forgotten:
        console.print(Text(f"{secrets:,} lines hold masks where the notes held secrets.", "yellow"))
    if forgotten:
        console.print(Text(f"{forgotten:,} lines say [forgotten], since that was forgotten.", "yellow"))
    for path in reply.get("left_as_they_are", []):
        console.print(Text(f"Left as it is: {path}"), soft_wrap=True)
    for path, reason in reply.get("incomplete", {}).items():
        console.print(Text(f"Incomplete: {path}: {reason}", _FAILED), soft_wrap=True)
    if reply["verified"]:
        console.print(Text("Verified.", "green"))
    else:
        console.print(Text("NOT verified: run memoryd verify.", _FAILED))


def show_rescan(reply: dict[str, Any], console: Console) -> None:
    """One sentence."""
    console.print(
        f"{reply['scanned']:,} notes compared, {reply['changed']:,} changed, in {duration(reply['seconds'])}."
    )


def show_ledger(reply: dict[str, Any], console: Console) -> None:
    """One line of the file a row, then the totals."""
    for line in reply["lines"]:
        console.print(f"{line['line']:>5}  {line['state']:<16} {line['fact_id'] or ''}".rstrip())
    console.print(
        Text(", ".join(f"{count:,} {state}" for state, count in reply["totals"].items()), "bold"), soft_wrap=True
    )


def show_findings(reply: dict[str, Any], console: Console) -> None:
    """What to look at, as `file:line: message`, each with its suggestion."""
    files = reply.get("files", [reply] if "details" in reply else [])
    for file in files:
        for each in file["details"]:
            console.print(Text(f"{file['file']}:{each['line']}: {each['message']}", "yellow"), soft_wrap=True)
            console.print(Text(f"    {each['suggestion']}", "dim"), soft_wrap=True)
    if not files:
        console.print(Text("Nothing is missing.", "green"))


def show_values(reply: Any, console: Console, indent: int = 0) -> None:
    """Names and values, nested by indentation."""
    space = " " * indent
    if isinstance(reply, dict):
        for name, value in reply.items():
            if isinstance(value, dict | list) and value:
                console.print(Text(f"{space}{name}", "bold"))
                show_values(value, console, indent + 2)
            else:
                console.print(Text(f"{space}{name}: ", "bold"), Text(_plain(value)), sep="", soft_wrap=True)
    elif isinstance(reply, list):
        for each in reply:
            if isinstance(each, dict | list):
                show_values(each, console, indent)
                console.print()
            else:
                console.print(Text(f"{space}{_plain(each)}"), soft_wrap=True)
    else:
        console.print(Text(f"{space}{_plain(reply)}"), soft_wrap=True)


def _plain(value: Any) -> str:
    words = {None: "-", True: "yes", False: "no"}
    if value is None or isinstance(value, bool):
        return words[value]
    return "none" if value in ([], {}) else str(value)


def _line(*parts: Text | str) -> Text:
    return Text(" · ").join([part if isinstance(part, Text) else Text(part) for part in parts])


def _state(state: str) -> Text:
    return Text(state, _STATE_STYLES.get(state, _FAILED))


def duration(seconds: float) -> str:
    """`42 s`, `3 min`, `5 h 10 min` or `3 d 4 h`."""
    if seconds < 90:
        return f"{seconds:.3g} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} d {hours % 24} h"


def _ago(seconds: float | None) -> str:
    return "never" if seconds is None else f"{duration(seconds)} ago"


def moment(value: float | None) -> str:
    """A wall time in seconds since 1970, in the reader's time zone."""
    if value is None:
        return "never"
    return dt.datetime.fromtimestamp(value, dt.UTC).astimezone().strftime("%Y-%m-%d %H:%M")


_LAYOUTS: dict[str, Callable[[Any, Console], None]] = {
    "status": show_status,
    "retrieve": show_hits,
    "devices": show_devices,
    "doctor": show_doctor,
    "verify": show_verify,
    "restore": show_restore,
    "rescan": show_rescan,
    "ledger": show_ledger,
    "validate": show_findings,
    "search-url": show_hits,
    **LAYOUTS,
}

"""Replies as people read them. Loaded only when somebody looks: rich costs more than a whole `memoryd status`."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from .people_doctor import show_doctor
from .people_memory import LAYOUTS
from .people_status import show_status
from .people_times import duration, moment


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
    console.print(Text(f"This memory and the cloud differ{pending}:", "red"))
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
        console.print(Text(f"Incomplete: {path}: {reason}", "red"), soft_wrap=True)
    if reply["verified"]:
        console.print(Text("Verified.", "green"))
    else:
        console.print(Text("NOT verified: run memoryd verify.", "red"))


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

"""Replies of the memory model's commands as people read them; `people` has the rest."""

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..clock import datable, day_of_ms


def show_context(reply: dict[str, Any], console: Console) -> None:
    """The text itself, as an agent loads it, then how full it is."""
    console.print(Text(reply["context"]), soft_wrap=True)
    left = f", {reply['left_out']:,} lines did not fit" if reply["left_out"] else ""
    console.print(Text(f"{reply['size_bytes']:,} of {reply['max_bytes']:,} bytes{left}", "dim"))


def show_tree(reply: dict[str, Any], console: Console) -> None:
    """One node a line, indented by depth; a change as one sentence."""
    if "nodes" not in reply:
        show_change(reply, console)
        return
    for node in reply["nodes"]:
        depth = node["path"].count("/") + 1 if node["path"] else 0
        counts = f"  {node['warm_count']:,} warm, {node['cold_count']:,} cold"
        name = node["path"].rpartition("/")[2] or "Root"
        console.print(
            Text.assemble("  " * depth, (name, "bold"), f"  {node['description']}", (counts, "dim")), soft_wrap=True
        )
    sizes = (
        f"{len(reply['nodes'])}/{reply['max_nodes']} nodes, {reply['size_bytes']:,}/{reply['max_size_bytes']:,} bytes"
    )
    console.print(Text(sizes, "dim"))


def show_change(reply: dict[str, Any], console: Console) -> None:
    """What was done, as `word: what`."""
    shown = [f"{name}: {value}" for name, value in reply.items() if value is not True and value not in ([], "")]
    console.print(Text(" · ".join(shown), "green"), soft_wrap=True)


def show_hot(reply: dict[str, Any], console: Console) -> None:
    """The state by section; a change as one sentence."""
    if "active_context" not in reply:
        show_change(reply, console)
        return
    context = reply["active_context"]
    for title, fields in (("Identity", reply["identity"]), ("Owner", reply["owner_profile"])):
        _section(console, title, [f"{name}: {value}" for name, value in fields.items()])
    _section(console, "Projects", [" · ".join(str(value) for value in each.values()) for each in context["projects"]])
    _section(console, "Tasks", [each["text"] for each in context["tasks"]])
    _section(console, "Events", [f"{_day(each['timestamp'])}  {each['text']}" for each in context["events"]])
    _section(console, "Lessons", [f"{each['text']} ({each['category']})" for each in reply["critical_lessons"]])


def show_audit(reply: dict[str, Any], console: Console) -> None:
    """A table of the balance, then what is off."""
    for agent, numbers in reply["agents"].items():
        counts = ", ".join(f"{count:,} {name}" for name, count in numbers["counts"].items() if count)
        mark = Text("balanced", "green") if numbers["balanced"] else Text("not balanced", "red")
        console.print(
            Text.assemble((agent, "bold"), f": {numbers['ingested']:,} ingested = {counts or 'nothing'}, ", mark)
        )
        sizes = ", ".join(f"{name} {each['is']:,}/{each['limit']:,}" for name, each in numbers["sizes"].items())
        console.print(Text(f"    {sizes}", "dim"), soft_wrap=True)
    for each in reply["problems"]:
        console.print(Text(f"{each['agent_id']} {each['where']}: {each['what']}".strip(), "red"), soft_wrap=True)
    if reply["found"] > len(reply["problems"]):
        console.print(Text(f"and {reply['found'] - len(reply['problems']):,} more", "red"))
    if reply["ok"]:
        console.print(Text("Every fact is in exactly one place, and all limits hold.", "green"))


def show_undo(reply: dict[str, Any], console: Console) -> None:
    """The changes that can be undone, or what went back."""
    if "changes" not in reply:
        console.print(Text(f"Undone: {reply['what']} ({reply['rows']} rows)", "green"))
        return
    table = Table("n", "when", "what", "", box=None, padding=(0, 2, 0, 0))
    for each in reply["changes"]:
        table.add_row(str(each["n"]), _minute(each["at"]), Text(each["what"]), "undone" if each["undone"] else "")
    console.print(table)


def show_cold(reply: Any, console: Console) -> None:
    """The rows, and who answered."""
    if isinstance(reply, dict):
        console.print(Text("The cloud's tables are there.", "green"))
        return
    for row in reply:
        console.print(Text(row["text"], "bold"), soft_wrap=True)
        console.print(Text(f"    {row['category']} · {row['tier']} · {_day(row['created_at'])}", "dim"), soft_wrap=True)
    if not reply:
        console.print("Nothing found.")
    elif reply[0]["answered_by"] == "local":
        console.print(Text(f"{reply[0]['reason']} This is what is known here.", "yellow"), soft_wrap=True)


def _section(console: Console, title: str, lines: list[str]) -> None:
    if lines:
        console.print(Text(title, "bold"))
        for line in lines:
            console.print(Text(f"  {line}"), soft_wrap=True)


def _day(seconds: float) -> str:
    return day_of_ms(datable(seconds * 1000)).isoformat()


def _minute(seconds: float) -> str:
    try:
        return dt.datetime.fromtimestamp(seconds, dt.UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):  # a task's file may have been written by anybody
        return "?"


def show_task(reply: dict[str, Any], console: Console) -> None:
    """The tasks as a table, or one task with its notes and its checkpoint."""
    if "tasks" in reply:
        table = Table("task", "status", "changed", "goal", box=None, padding=(0, 2, 0, 0))
        for each in reply["tasks"]:
            table.add_row(Text(each["name"]), each["status"], _minute(each["updated_at"]), Text(each["goal"]))
        console.print(table if reply["tasks"] else "No task is under way.")
        for each in reply["damaged"]:
            console.print(Text(each["reason"], "red"), soft_wrap=True)
        return
    task = reply["task"]
    console.print(Text.assemble((reply["name"], "bold"), f"  {task.get('status', '')}  {task.get('goal', '')}"))
    for note in task.get("notes", []):
        said = note if isinstance(note, dict) else {"text": note}
        when = _minute(said["at"]) if isinstance(said.get("at"), int | float) else ""
        console.print(Text.assemble(("  " + when, "dim"), f"  {said.get('text', '')}"), soft_wrap=True)
    if "checkpoint" in task:
        console.print(Text(f"  checkpoint: {json.dumps(task['checkpoint'], ensure_ascii=False)}"), soft_wrap=True)
    ended = f"gone; {len(reply['facts'])} facts came of it" if reply["removed"] else reply["file"]
    console.print(Text(f"{ended}, {reply['size_bytes']:,} of {reply['max_bytes']:,} bytes", "dim"), soft_wrap=True)
    if reply["masked"]:
        console.print(Text(f"{reply['masked']} secrets were masked.", "yellow"))


def show_session(reply: dict[str, Any], console: Console) -> None:
    """The sessions as a table, or one session turn by turn."""
    if "sessions" in reply:
        table = Table("session", "last", "turns", "bytes", "kept until", box=None, padding=(0, 2, 0, 0))
        for each in reply["sessions"]:
            numbers = (f"{each['turns']}", f"{each['size_bytes']:,}", _day(each["expires_at"]))
            table.add_row(Text(each["name"]), _minute(each["last_at"]), *numbers)
        console.print(table if reply["sessions"] else "No session is kept.")
        return
    session = reply["session"]
    console.print(Text(session["name"] + (" (ended)" if session["ended"] else ""), "bold"))
    for turn in reply["turns"]:
        console.print(Text.assemble((f"  {turn['role']}: ", "bold"), turn["text"]), soft_wrap=True)
    console.print(Text(f"{session['size_bytes']:,} of {reply['max_bytes']:,} bytes", "dim"))


def show_dream(reply: dict[str, Any], console: Console) -> None:
    """What gave way to what, then the counts; or the log as a table."""
    if "log" in reply:
        table = Table("when", "step", "fact", "before", "after", "undo", box=None, padding=(0, 2, 0, 0))
        for each in reply["log"]:
            sides = (", ".join(str(value or "-") for value in each[side].values()) for side in ("before", "after"))
            number = "undone" if each["undone"] else str(each["change"] or "")
            table.add_row(_minute(each["at"]), each["step"], each["fact_id"], *sides, number)
        console.print(table if reply["log"] else "Nothing was dreamt yet.")
        return
    for step in reply["steps"]:
        number = f"  (undo {step['change']})" if step["change"] else ""
        console.print(Text.assemble((step["step"], "bold"), f": {step['text']}", (number, "dim")), soft_wrap=True)
        for part in step["parts"]:
            console.print(Text(f"    {part['text']}", "dim"), soft_wrap=True)
    names = ("merged", "consolidated", "superseded", "archived", "faded")
    counts = ", ".join(f"{reply[name]:,} {name}" for name in names if reply[name]) or "nothing to do"
    layers = ", ".join(f"{count:,} {name.replace('_', '-')}" for name, count in reply["layers"].items())
    console.print(Text(f"{'Would be: ' if reply['dry_run'] else ''}{counts}. {layers}", "green"), soft_wrap=True)


LAYOUTS: dict[str, Callable[[Any, Console], None]] = {
    "audit": show_audit,
    "cold": show_cold,
    "context": show_context,
    "dream": show_dream,
    "hot": show_hot,
    "session": show_session,
    "task": show_task,
    "tree": show_tree,
    "undo": show_undo,
}

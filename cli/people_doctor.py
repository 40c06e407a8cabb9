"""`doctor` as people read it: a line a check, a fix below what is not well, then the block to paste."""

from typing import Any

from rich.console import Console
from rich.text import Text

_STYLES = {"ok": "green", "warn": "yellow", "fail": "red"}


def show_doctor(reply: dict[str, Any], console: Console) -> None:
    """All checks, the settings that are not the default, and the block."""
    for check in reply["checks"]:
        state = Text(f"{check['state']:<5}", _STYLES[check["state"]])
        console.print(state, Text(f"{check['name']:<14}", "bold"), Text(check["message"]), sep="", soft_wrap=True)
        if check["fix"] and check["state"] != "ok":
            console.print(Text(f"{'':<19}→ {check['fix']}", "cyan"), soft_wrap=True)
    said = [each for each in reply["settings"] if each["source"] != "default"]
    if said:
        console.print(Text("\nSettings that are not the default", "bold"))
        for each in said:
            console.print(Text(f"  {each['name']} = {each['value']}   ({each['source']})"), soft_wrap=True)
    console.print(Text("\nTo paste into a report", "bold"))
    console.print(Text(reply["block"]), soft_wrap=True)

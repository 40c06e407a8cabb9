"""A report to paste: versions, counts and what is not well, without secrets, names of places or words of notes."""

import platform
from pathlib import Path

from .. import __version__
from ..operations.doctor_replies import DoctorReply
from ..places import Places

_PRIVATE = frozenset(
    {
        "workspace",
        "agent_id",
        "notes.extra",
        "sync.url",
        "sync.token_file",
        "llm.endpoint",
        "llm.model",
        "llm.api_key_env",
    }
)
"""Settings whose values are nobody else's business."""


def block(reply: DoctorReply, places: Places | None) -> str:
    """The report as text."""
    states = [check.state for check in reply.checks]
    machine = f"{platform.system()} {platform.release()} {platform.machine()}"
    counts = f"{states.count('ok')} ok, {states.count('warn')} warnings, {states.count('fail')} failed"
    lines = [
        f"memoryd {__version__} on Python {platform.python_version()}, {machine}",
        f"checked by the {reply.probed_by}: {counts}",
        *(f"{check.state:<4} {check.name}: {check.message}" for check in reply.checks if check.state != "ok"),
        *(
            f"set  {each.name} = {'(private)' if each.name in _PRIVATE else each.value}"
            for each in reply.settings
            if each.source != "default"
        ),
    ]
    return _without_places("\n".join(lines), places)


def _without_places(text: str, places: Places | None) -> str:
    named = {str(Path.home()): "~"}
    if places is not None:
        named |= {str(places.socket): "SOCKET", str(places.config): "CONFIG", str(places.state): "STATE"}
        if places.workspace is not None:
            named |= {str(places.workspace): "WORKSPACE", str(places.workspace.resolve()): "WORKSPACE"}
    for path in sorted(named, key=len, reverse=True):
        text = text.replace(path, named[path]) if len(path) > 1 else text
    return text

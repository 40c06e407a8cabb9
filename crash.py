"""Where a process may be told to die, so that tests can show what a power cut or a kill leaves behind.

`MEMORYD_CRASH_AT=<name>` ends the process at that place as `kill -9` does; `<name>:3` at its third passing.
Every name stands in `POINTS`, and a test crashes at each of them.
"""

import os

POINTS = (
    "reading written down", "note written", "note committed", "note deleted", "files forgotten",
    "settle written", "settle committed", "tiers moved",
    "page temporary", "page linked", "page exchanged", "page written", "page read back",
    "fact stored", "fact forgotten", "notes masked", "device file", "new id",
    "receipt stored", "segment sent", "segment confirmed", "segment folded",
    "drawing sent", "picture drawn", "dream step",
    "restore file", "restore written", "restore copied", "restore ingested", "restore succeeded",
    "old schema copied", "migration statement", "migrated",
    "snapshot checked", "damage marked", "moved aside", "snapshot placed", "rebuilt",
)  # fmt: skip
"""Every commit and rename after which, or just before which, a crash must do no harm."""

CRASHED = 137
"""128 + SIGKILL: the exit code of a process that was told to die here."""

_at, _, _times = os.environ.get("MEMORYD_CRASH_AT", "").partition(":")
_left = int(_times or "1")


def crash_point(name: str) -> None:
    """Die here if the environment says so."""
    if name == _at:
        _count_down()


def _count_down() -> None:
    global _left  # noqa: PLW0603 - one process, one countdown
    _left -= 1
    if _left == 0:
        os._exit(CRASHED)

"""Has everything that happened to files so far been heard? A note is opened, and its echo comes after all before it."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from .canary import opened
from .inbox import Inbox
from .names import NOTES

ECHO_S = 0.05
"""So long an answer waits for the echo [s], which takes a millisecond or two; then nobody knows what is on its way."""


class Echo:
    """Asks the watcher through the files themselves. Only where opening is reported, which is on Linux."""

    def __init__(self, workspace: Path, inbox: Inbox, platform: str = sys.platform) -> None:
        self._workspace, self._inbox = workspace, inbox
        self._works = platform.startswith("linux")
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}

    async def heard(self, note: str) -> bool:
        """Open `note`, or any file if it is '', and wait until that was heard; False if it was not in time."""
        note = note or _any_file(self._workspace)
        if not (self._works and note):
            return True
        loop = asyncio.get_running_loop()
        echo: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(note, []).append(echo)
        # What was heard before the echo is handed to the loop before it.
        self._inbox.tell_opened = partial(_hand_over, loop, self._answer)
        try:
            if not opened(self._workspace / note):
                return False
            return bool((await asyncio.wait([echo], timeout=ECHO_S))[0])
        finally:
            self._forget(note, echo)

    def _answer(self, note: str) -> None:
        for echo in self._waiting.get(note, ()):
            if not echo.done():
                echo.set_result(None)

    def _forget(self, note: str, echo: "asyncio.Future[None]") -> None:
        others = [each for each in self._waiting.pop(note, []) if each is not echo]
        if others:
            self._waiting[note] = others
        if not self._waiting:
            self._inbox.tell_opened = None


def _hand_over(loop: asyncio.AbstractEventLoop, answer: Callable[[str], None], note: str) -> None:
    with contextlib.suppress(RuntimeError):  # the loop has ended; nobody waits
        loop.call_soon_threadsafe(answer, note)


def _any_file(workspace: Path) -> str:
    """Some file below `memory/`, '' where there is none."""
    try:
        with os.scandir(workspace / NOTES) as found:
            return next((f"{NOTES}/{each.name}" for each in found if each.is_file(follow_symlinks=False)), "")
    except OSError:
        return ""

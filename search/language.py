"""Keeps the language process: started by the first Chinese question, ended after ten minutes without one.

No question waits for it. While it starts, or when it is too slow or broken, questions are answered by
characters and pairs alone, which never hide a note; its words only order the hits better.
"""

import asyncio
import logging
import re
import sys
from pathlib import Path
from typing import Any

import msgspec

from .language_worker import READY
from .tokens import HAN

log = logging.getLogger(__name__)

UNUSED_S = 600.0
"""The process ends after so long without a question [s]."""
ANSWER_S = 0.05
"""A question goes on without words after this time [s]."""
RETRY_S = 600.0
"""After a failed start the next one is tried this much later at the earliest [s]."""
QUESTION_LIMIT = 2_000
"""Characters of a question that are cut into words."""

_WORKER = Path(__file__).with_name("language_worker.py")
_IS_HAN = re.compile(f"[{HAN}]")
_JSON = msgspec.json.Encoder()


class Language:
    """The language process of one memory. `cache` is a folder of its own, `custom_dict` a file that may be missing."""

    def __init__(self, cache: Path, custom_dict: Path, *, unused_s: float = UNUSED_S) -> None:
        self._arguments = ["-I", str(_WORKER), str(cache), str(custom_dict)]
        self._cache = cache
        self._unused_s = unused_s
        self._process: asyncio.subprocess.Process | None = None
        self._starting: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[int]] = set()
        self._reply: asyncio.Future[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._failed_at: float | None = None

    @property
    def pid(self) -> int | None:
        """The process, None while none runs."""
        return self._process.pid if self._process is not None else None

    @property
    def failed(self) -> bool:
        """Whether the last start failed."""
        return self._failed_at is not None and self._process is None

    async def words(self, text: str) -> list[str] | None:
        """The words of a text with Chinese in it; None where there is none, or no process yet."""
        if not _IS_HAN.search(text):
            return None
        loop = asyncio.get_running_loop()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_later(self._unused_s, self._end)
        if self._process is None:
            self._start(loop)
            return None
        return await self._asked(self._process, text[:QUESTION_LIMIT])

    async def ready(self) -> bool:
        """Wait until a start that was begun has come to its end; whether the process is there."""
        if self._starting is not None:
            await self._starting
        return self._process is not None

    async def close(self) -> None:
        """End the process."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        if self._timer is not None:
            self._timer.cancel()
        self._end()
        await asyncio.gather(*self._ending)

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        is_recent = self._failed_at is not None and loop.time() < self._failed_at + RETRY_S
        if not is_recent and (self._starting is None or self._starting.done()):
            self._starting = loop.create_task(self._load())

    async def _load(self) -> None:
        process = None
        try:
            self._cache.mkdir(parents=True, exist_ok=True, mode=0o700)
            pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
            process = await asyncio.create_subprocess_exec(
                sys.executable, *self._arguments, stdin=pipe, stdout=pipe, stderr=nothing
            )
            if await _reply(process) != READY:
                raise EOFError
        except (OSError, EOFError, msgspec.DecodeError):
            self._failed_at = asyncio.get_running_loop().time()
            log.warning("The language process does not start; Chinese is found by characters and pairs alone.")
            self._kill(process)
        except asyncio.CancelledError:
            self._kill(process)
            raise
        else:
            self._process, self._failed_at = process, None

    async def _asked(self, process: asyncio.subprocess.Process, text: str) -> list[str] | None:
        if process.stdin is None or (self._reply is not None and not self._reply.done()):
            return None  # a late answer is still on its way
        process.stdin.write(_JSON.encode(text) + b"\n")
        reply = self._reply = asyncio.ensure_future(_reply(process))
        if not (await asyncio.wait([reply], timeout=ANSWER_S))[0]:
            reply.add_done_callback(self._words)
            return None
        return self._words(reply)

    def _words(self, reply: "asyncio.Future[Any]") -> list[str] | None:
        if reply.cancelled():
            return None
        if (error := reply.exception()) is not None:
            log.warning("The language process ended (%s); it starts anew with the next question.", type(error).__name__)
            self._end()
            return None
        return [str(word) for word in reply.result()]

    def _end(self) -> None:
        process, self._process = self._process, None
        self._kill(process)

    def _kill(self, process: asyncio.subprocess.Process | None) -> None:
        if process is not None:
            if process.returncode is None:
                process.kill()
            task = asyncio.get_running_loop().create_task(process.wait())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)


async def _reply(process: asyncio.subprocess.Process) -> Any:
    if process.stdout is None or not (line := await process.stdout.readline()):
        raise EOFError
    return msgspec.json.decode(line)

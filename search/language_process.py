"""One running language process: lines of JSON go in, answers come out in the same order."""

import asyncio
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from .language_worker import READY

QUEUE = 8
"""How many questions may wait for it; one more goes on without an answer at once."""
HANGS_S = 30.0
"""A process that owes an answer for so long gives none any more [s]; reading the dictionary anew takes some seconds."""
START_S = 120.0
"""So long a start may take [s]: a second or two, more on a slow disk."""

_JSON = msgspec.json.Encoder()


class _Waiting(NamedTuple):
    since: float
    answer: "asyncio.Future[Any]"


class LanguageProcess:
    """A process that said that it is ready."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[_Waiting] = deque()
        self._reading: asyncio.Task[None] | None = None
        self.ended = False
        """Whether it is gone, or speaks nonsense."""

    @classmethod
    async def start(cls, arguments: Sequence[str]) -> "LanguageProcess":
        """Run Python with these arguments; raises OSError or EOFError when none is ready in time."""
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        one = cls(
            await asyncio.create_subprocess_exec(sys.executable, *arguments, stdin=pipe, stdout=pipe, stderr=nothing)
        )
        try:
            async with asyncio.timeout(START_S):
                if await one._line() != READY:
                    raise EOFError
        except BaseException:
            await one.kill()
            raise
        one._reading = one._loop.create_task(one._read())
        return one

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def hangs(self) -> bool:
        """Whether an answer is overdue for so long that none will come."""
        return bool(self._waiting) and self._loop.time() - self._waiting[0].since > HANGS_S

    async def asked(self, request: Any, limit_s: float) -> Any:
        """The answer to one request; None when it does not come within `limit_s`. It may still come, for nobody."""
        if self.ended or len(self._waiting) >= QUEUE or self._process.stdin is None:
            return None
        line = _JSON.encode(request) + b"\n"
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append(_Waiting(self._loop.time(), answer))
        self._process.stdin.write(line)
        done, _ = await asyncio.wait([answer], timeout=limit_s)
        return answer.result() if done else None

    def kill(self) -> "asyncio.Task[int]":
        """End it; the task is done when it is gone."""
        self.ended = True
        if self._process.returncode is None:
            self._process.kill()
        return self._loop.create_task(self._gone())

    async def _gone(self) -> int:
        if self._reading is not None:
            await self._reading
        return await self._process.wait()

    async def _read(self) -> None:
        try:
            while self._waiting or not self.ended:
                answer = await self._line()
                self._waiting.popleft().answer.set_result(answer)
        except (OSError, EOFError, ValueError, IndexError, msgspec.DecodeError):
            self.ended = True
            for _, answer in self._waiting:
                answer.set_result(None)
            self._waiting.clear()

    async def _line(self) -> Any:
        if self._process.stdout is None or not (line := await self._process.stdout.readline()):
            raise EOFError
        return msgspec.json.decode(line)

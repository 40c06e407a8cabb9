"""Prepares batches of notes beside the store: a long queue in a process of its own, a short one in a thread.

The process reads and parses with the same pure function; it gets jobs and gives prepared notes back over
its pipes, and ends with the queue (DESIGN section 5). If it dies, the rest is prepared in a thread.
"""

import asyncio
import contextlib
import logging
import os
import struct
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import BinaryIO, Self

import msgspec

from ..config import NotesSettings
from ..ingest.names import Name
from ..store.files import FileRecord
from .prepare import Prepared, prepare

log = logging.getLogger(__name__)

LONG_QUEUE = 50
"""A queue of more notes than this is worth a process, which takes half a second to start."""
_LENGTH = struct.Struct(">Q")
_NICE = 5
"""The process yields to whoever answers a request meanwhile."""


class Job(msgspec.Struct):
    """One file to prepare, and what was known of it when it was asked for."""

    path: str
    name: Name
    known: FileRecord | None


class Batch(msgspec.Struct):
    """Files to prepare at one moment."""

    root: str
    settings: NotesSettings
    now_ms: int
    jobs: list[Job]


_encode = msgspec.msgpack.Encoder().encode
_batch = msgspec.msgpack.Decoder(Batch)
_prepared = msgspec.msgpack.Decoder(list[Prepared])


class Preparer:
    """Prepares the batches of one queue of `queued` notes; use it as an asynchronous context manager."""

    def __init__(self, root: Path, settings: NotesSettings, queued: int) -> None:
        self._root = str(root)
        self._settings = settings
        self._wants_process = queued > LONG_QUEUE
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        """The process that works for this queue, 0 if there is none."""
        return self._process.pid if self._process is not None else 0

    async def __aenter__(self) -> Self:
        if self._wants_process:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable, "-P", "-m", __name__,
                    stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                )  # fmt: skip
            except OSError as error:  # no process to be had: TasksMax, memory
                log.warning("The queue is read in a thread, because no process can be started: %s.", error.strerror)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._end()

    async def in_turn(
        self, batches: Sequence[Sequence[str]], job: Callable[[str], Job], now_ms: Callable[[], int]
    ) -> AsyncGenerator[tuple[list[Job], list[Prepared]], None]:
        """Each batch of paths with what became of it; the process is one batch ahead of whoever takes them."""
        ahead: asyncio.Task[tuple[list[Job], list[Prepared]]] | None = None

        async def start(batch: Sequence[str]) -> tuple[list[Job], list[Prepared]]:
            jobs = [job(path) for path in batch]
            return jobs, await self.prepare(jobs, now_ms())

        try:
            for number, batch in enumerate(batches):
                done = await (ahead if ahead is not None else start(batch))
                more = self._process is not None and number + 1 < len(batches)
                ahead = asyncio.create_task(start(batches[number + 1])) if more else None
                yield done
        finally:
            if ahead is not None:
                ahead.cancel()
                await asyncio.gather(ahead, return_exceptions=True)

    async def prepare(self, jobs: Sequence[Job], now_ms: int) -> list[Prepared]:
        """Read and parse these files; never raises for a fault of one of them, nor for the end of the process."""
        batch = Batch(self._root, self._settings, now_ms, list(jobs))
        if self._process is not None:
            try:
                return await self._ask(self._process, batch)
            except (OSError, EOFError, ValueError) as error:  # ValueError: a name or an answer that no frame can hold
                log.warning("The process that reads notes ended (%s); the queue goes on in a thread.", error)
                await self._end()
        return await asyncio.to_thread(prepare_batch, batch)

    async def _ask(self, process: asyncio.subprocess.Process, batch: Batch) -> list[Prepared]:
        if process.stdin is None or process.stdout is None:
            raise EOFError
        frame = _encode(batch)
        process.stdin.write(_LENGTH.pack(len(frame)) + frame)
        await process.stdin.drain()
        (size,) = _LENGTH.unpack(await process.stdout.readexactly(_LENGTH.size))
        return _prepared.decode(await process.stdout.readexactly(size))

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):  # it ended between the two lines
                process.kill()
        await process.communicate()


def prepare_batch(batch: Batch) -> list[Prepared]:
    """What the process does with a batch, and a thread where there is no process."""
    root = Path(batch.root)
    return [prepare(root, job.path, job.name, job.known, batch.settings, batch.now_ms) for job in batch.jobs]


def work(source: BinaryIO, target: BinaryIO) -> None:
    """Answer batches until the pipe is closed, which also says that whoever asked is gone."""
    while head := source.read(_LENGTH.size):
        frame = source.read(_LENGTH.unpack(head)[0])
        answer = _encode(prepare_batch(_batch.decode(frame)))
        target.write(_LENGTH.pack(len(answer)) + answer)
        target.flush()


if __name__ == "__main__":
    with contextlib.suppress(OSError):  # a sandbox may forbid it: then it works as urgently as the daemon
        os.nice(_NICE)
    work(sys.stdin.buffer, sys.stdout.buffer)

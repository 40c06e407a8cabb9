"""Who reads and parses notes beside the store: a process, which can be ended in the middle of a note, or a thread.

Both give what became of each note of a batch as soon as it is there, so that whoever waits knows which
note keeps everybody waiting. The process gets batches and gives prepared notes back over its pipes.
"""

import asyncio
import contextlib
import logging
import os
import struct
import sys
import threading
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import BinaryIO, Protocol, Self

import msgspec

from ..config import NotesSettings
from ..errors import place_of
from ..ingest.names import Name
from ..store.files import FileRecord
from .prepare import Prepared, prepare

log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-P", "-m", __name__)
"""Starts the process."""
START_S = 60.0
"""So long the process may take until it says that it is there; half a second is the rule."""
_READY = b"\1"
_LENGTH = struct.Struct(">Q")
_NICE = 5
"""The process yields to whoever answers a request meanwhile."""


class Job(msgspec.Struct):
    """One file to prepare, and what was known of it when it was asked for."""

    path: str
    name: Name
    known: FileRecord | None
    size: int = 0
    """Its bytes, as far as anybody looked."""
    data: bytes | None = None
    """The bytes, where somebody has them already."""
    body_only: bool = False
    """Whether it is masked, and not parsed."""
    tree_paths: list[str] = []
    """Paths of its agent's tree that somebody added or described."""


class Batch(msgspec.Struct):
    """Files to prepare at one moment."""

    root: str
    settings: NotesSettings
    now_ms: int
    jobs: list[Job]

    def prepared(self, job: Job) -> Prepared:
        """Read and parse one of the files; takes as long as it takes."""
        return prepare(
            Path(self.root), job.path, job.name, job.known, self.settings, self.now_ms,
            data=job.data, body_only=job.body_only, tree_paths=frozenset(job.tree_paths),
        )  # fmt: skip


_encode = msgspec.msgpack.Encoder().encode
_batch = msgspec.msgpack.Decoder(Batch)
_prepared = msgspec.msgpack.Decoder(Prepared)


class Reader(Protocol):
    """Prepares one batch at a time."""

    def answers(self, batch: Batch) -> AsyncGenerator[Prepared, None]:
        """What became of each job, in order; raises EOFError when the reader fails on the next one."""
        ...

    async def end(self) -> None:
        """Stop, whatever is being read."""
        ...


class ThreadReader:
    """Reads in a thread of this process. One that is ended leaves its note half read, whenever that ends."""

    def __init__(self) -> None:
        self._ended = False

    async def answers(self, batch: Batch) -> AsyncGenerator[Prepared, None]:
        """What became of each job, in order; raises EOFError when a note cannot be parsed at all."""
        loop = asyncio.get_running_loop()
        answers: asyncio.Queue[Prepared | None] = asyncio.Queue()

        def run() -> None:
            for job in batch.jobs:
                try:
                    answer = batch.prepared(job)
                except Exception as error:  # noqa: BLE001 - whatever a parser may raise
                    # Not the message: it may hold words of the note.
                    log.warning("%s cannot be parsed: %s", job.path, place_of(error))
                    answer = None
                if self._ended:
                    return
                with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits any more
                    loop.call_soon_threadsafe(answers.put_nowait, answer)

        # Not of the loop's own threads, which are waited for at the end: this one may never come back.
        threading.Thread(target=run, name="memoryd-reading", daemon=True).start()
        try:
            for _ in batch.jobs:
                answer = await answers.get()
                if answer is None:
                    raise EOFError("the note cannot be parsed")
                yield answer
        finally:
            self._ended = True

    async def end(self) -> None:
        """Take no further answer."""
        self._ended = True


class ProcessReader:
    """Reads in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls) -> Self:
        """Start the process; raises OSError if none is to be had (TasksMax, memory), or it does not come up."""
        process = await asyncio.create_subprocess_exec(
            *COMMAND, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        reader = cls(process)
        try:
            await asyncio.wait_for(reader._read(len(_READY)), START_S)
        except (EOFError, TimeoutError) as error:
            await reader.end()
            raise OSError(0, "it does not come up") from error
        return reader

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    async def answers(self, batch: Batch) -> AsyncGenerator[Prepared, None]:
        """What became of each job, in order.

        Raises EOFError or OSError when the process is gone, ValueError for a name that no frame can hold.
        """
        frame = _encode(batch)
        assert self._process.stdin is not None
        self._process.stdin.write(_LENGTH.pack(len(frame)) + frame)
        await self._process.stdin.drain()
        for _ in batch.jobs:
            (size,) = _LENGTH.unpack(await self._read(_LENGTH.size))
            yield _prepared.decode(await self._read(size))

    async def _read(self, size: int) -> bytes:
        assert self._process.stdout is not None
        return await self._process.stdout.readexactly(size)

    async def end(self) -> None:
        """Kill the process and wait for its end."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):  # it ended between the two lines
                self._process.kill()
        await self._process.communicate()


def work(source: BinaryIO, target: BinaryIO) -> None:
    """Answer batches until the pipe is closed, which also says that whoever asked is gone.

    Raises `SystemExit` for a note that cannot be parsed at all.
    """
    target.write(_READY)
    target.flush()
    while head := source.read(_LENGTH.size):
        batch = _batch.decode(source.read(_LENGTH.unpack(head)[0]))
        for job in batch.jobs:
            try:
                answer = _encode(batch.prepared(job))
            except Exception as error:  # noqa: BLE001 - whatever a parser may raise
                # The next reader goes on behind this note. Not the message: it may hold words of the note.
                raise SystemExit(f"{job.path} cannot be parsed: {place_of(error)}") from None
            target.write(_LENGTH.pack(len(answer)) + answer)
            target.flush()


def main() -> None:
    """The life of the process."""
    with contextlib.suppress(OSError):  # a sandbox may forbid it: then it works as urgently as the daemon
        os.nice(_NICE)
    with contextlib.suppress(BrokenPipeError):  # whoever asked is gone
        work(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()

"""Prepares a queue of notes under a time limit, so that no note keeps the others waiting (IN-5).

A long queue, and a large note, are read by a process of their own (docs/architecture.md), a few saved notes in a
thread, which is there at once. A note that takes too long is set aside: its reader is ended, the others
go on, and it comes last, alone, with all the time that `notes.max_ingest_seconds` gives. A note that
an earlier process did not survive is never read in a thread again.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, nullcontext
from itertools import takewhile
from pathlib import Path
from typing import Self

import msgspec

from ..config import NotesSettings
from .prepare import Prepared, given_up
from .reading import Batch, Job, ProcessReader, Reader, ThreadReader
from .unfinished import Unfinished

log = logging.getLogger(__name__)

LONG_QUEUE = 50
"""A queue of more notes than this is worth a process, which takes half a second to start."""
LARGE_NOTE = 128_000
"""So is a note of more bytes than this."""
PATIENCE_S = 5.0
"""So long a note may keep the others of its queue waiting."""


class Preparer:
    """Prepares one queue of `queued` notes; use it as an asynchronous context manager.

    `unfinished` is told what is read in a thread, and knows whom an earlier process did not survive.
    """

    def __init__(
        self, root: Path, settings: NotesSettings, queued: int, unfinished: Unfinished,
        *, patience_s: float = PATIENCE_S,
    ) -> None:  # fmt: skip
        self._root = str(root)
        self._unfinished = unfinished
        self._suspects = unfinished.suspects
        """As they were at first: a scan beside this queue may acquit one that waits here still."""
        self._settings = settings
        self._patience_s = min(patience_s, settings.max_ingest_seconds)
        self._wants_process = queued > LONG_QUEUE
        self._process: ProcessReader | None = None
        self._slow: list[Job] = []

    @property
    def pid(self) -> int:
        """The process that works for this queue, 0 if there is none."""
        return self._process.pid if self._process is not None else 0

    async def __aenter__(self) -> Self:
        if self._wants_process:
            await self._start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._end()

    async def in_turn(
        self, batches: Sequence[Sequence[str]], job: Callable[[str], Job], now_ms: Callable[[], int]
    ) -> AsyncGenerator[tuple[list[Job], list[Prepared]], None]:
        """Each batch of paths with what became of it; the process is one batch ahead of whoever takes them.

        Notes that were set aside come after all others, one by one.
        """
        ahead: asyncio.Task[tuple[list[Job], list[Prepared]]] | None = None

        async def start(batch: Sequence[str]) -> tuple[list[Job], list[Prepared]]:
            jobs = [job(path) for path in batch]
            done = await self.prepare(jobs, now_ms())
            answered = {each.path for each in done}
            return [each for each in jobs if each.path in answered], done

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
        while self._slow:
            late = self._slow.pop(0)
            yield [late], [await self._last_try(late, now_ms())]

    async def one(self, job: Job, now_ms: int) -> Prepared:
        """One note, however long it takes within the limit."""
        done = await self.prepare([job], now_ms)
        return done[0] if done else await self._last_try(self._slow.pop(), now_ms)

    async def prepare(self, jobs: Sequence[Job], now_ms: int) -> list[Prepared]:
        """Read and parse these files; those that take too long, or end their reader, are set aside."""
        # A name that no frame holds keeps only its own note out of the process.
        framed = [job for job in jobs if _fits_a_frame(job)]
        odd = [job for job in jobs if not _fits_a_frame(job)]
        return [*await self._prepare(framed, now_ms), *await self._prepare(odd, now_ms)]

    async def _prepare(self, rest: list[Job], now_ms: int) -> list[Prepared]:
        done: list[Prepared] = []
        while rest:
            some, is_slow = await self._try(rest, now_ms, self._patience_s)
            done += some
            if is_slow:
                self._slow.append(rest[len(some)])
                log.warning("%s takes long to parse and is set aside: the others go on.", rest[len(some)].path)
            rest = rest[len(some) + is_slow :]
        return done

    async def _last_try(self, job: Job, now_ms: int) -> Prepared:
        """The note alone with all the time there is; then its bytes masked and not parsed; then nothing of it."""
        for tried in (job, msgspec.structs.replace(job, body_only=True)):
            done, _ = await self._try([tried], now_ms, self._settings.max_ingest_seconds)
            if done:
                return done[0]
        return await asyncio.to_thread(
            given_up, Path(self._root), job.path, job.name, job.known, self._settings, now_ms, data=job.data
        )

    async def _try(self, jobs: Sequence[Job], now_ms: int, limit_s: float) -> tuple[list[Prepared], bool]:
        """What became of the first jobs, and whether the one behind them failed; its reader is ended then."""
        reader = await self._reader(jobs)
        if is_thread := isinstance(reader, ThreadReader):
            jobs = list(takewhile(lambda job: not self._is_suspect(job), jobs))
            if not jobs:
                return [], True
        done: list[Prepared] = []
        try:
            with self._unfinished.reading([job.path for job in jobs]) if is_thread else nullcontext():
                await self._collect(done, reader, jobs, now_ms, limit_s)
        except (OSError, EOFError) as error:  # a time-out is an OSError
            if not isinstance(error, TimeoutError):
                log.warning("The reader of %s failed: %s.", jobs[len(done)].path, error)
            await reader.end()
            if reader is self._process:
                self._process = None
            self._wants_process = True
            return done, True
        return done, False

    async def _collect(
        self, done: list[Prepared], reader: Reader, jobs: Sequence[Job], now_ms: int, limit_s: float
    ) -> None:
        """Add what became of each job to `done`, as it comes."""
        batch = Batch(self._root, self._settings, now_ms, list(jobs))
        async with aclosing(reader.answers(batch)) as answers:
            for job in jobs:
                # A note that is too large to be parsed is masked, which takes its time.
                patience_s = limit_s * max(1.0, job.size / self._settings.max_ingest_bytes)
                done.append(await asyncio.wait_for(anext(answers), patience_s))

    async def _reader(self, jobs: Sequence[Job]) -> Reader:
        if any(map(self._is_large, jobs)):
            self._wants_process = True
        if not self._wants_process or not all(map(_fits_a_frame, jobs)):
            return ThreadReader()
        if self._process is None:
            await self._start()
        return self._process or ThreadReader()

    def _is_large(self, job: Job) -> bool:
        """Whether a note is too large, or was too slow before, for a thread, which nobody can end."""
        parsed_up_to, known = self._settings.max_ingest_bytes, job.known
        was_slow = known is not None and known.state == "too_large" and known.size <= parsed_up_to
        return was_slow or self._is_suspect(job) or LARGE_NOTE < job.size <= parsed_up_to

    def _is_suspect(self, job: Job) -> bool:
        return job.path in self._suspects

    async def _start(self) -> None:
        try:
            self._process = await ProcessReader.start()
        except OSError as error:
            log.warning("The queue is read in a thread, because no process can be started: %s.", error.strerror)
            self._wants_process = False

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.end()


def _fits_a_frame(job: Job) -> bool:
    """Whether the name is one that text can hold: a file's name may be any bytes."""
    try:
        job.path.encode()
    except UnicodeEncodeError:
        return False
    return True

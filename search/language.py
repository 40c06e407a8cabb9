"""Keeps the language process: started by the first question, ended after ten minutes without one.

No question waits for it to start, and none for an answer longer than `WORDS_S` and `COSINES_S`. Without it questions
are answered by the index alone, which hides nothing: its words and cosines only order the hits better. English-only
memory never loads the Chinese dictionary.
"""

import asyncio
import logging
import re
from pathlib import Path
from typing import Any

import msgspec

from .cosine import Documents
from .language_process import LanguageProcess
from .language_worker import JIEBA, SCIKIT
from .tokens import HAN

log = logging.getLogger(__name__)

UNUSED_S = 600.0
"""The process ends after so long without a question [s]."""
WORDS_S, COSINES_S = 0.02, 0.03
"""A question goes on without its words, without cosines, after this time [s]."""
RETRY_S = 600.0
"""After a failed start the next one is tried this much later at the earliest, as after two losses within it [s]."""
QUESTION_LIMIT = 2_000
"""Characters of a question that are cut into words."""

_WORKER = Path(__file__).with_name("language_worker.py")
_IS_HAN = re.compile(f"[{HAN}]")
LOSS = {JIEBA: "Chinese is found by characters and pairs alone", SCIKIT: "hits are ordered without cosines"}
"""What goes without a library."""
AGAIN = "Give the state folder room and write access if the reason is that; else install memoryd again with pip."
"""What to do then."""


class Language:
    """The language process of one memory. `cache` is a folder of its own, `custom_dict` a file that may be missing."""

    def __init__(self, cache: Path, custom_dict: Path, *, unused_s: float = UNUSED_S) -> None:
        self._arguments = ["-I", str(_WORKER), str(cache), str(custom_dict)]
        self._cache = cache
        self._unused_s = unused_s
        self._process: LanguageProcess | None = None
        self._starting: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[int]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._failed_at: float | None = None
        self._lost_at: float | None = None
        self._closed = False
        self.missing: dict[str, str] = {}
        """Libraries that the process could not load, with the reason."""

    @property
    def pid(self) -> int | None:
        """The process, None while none runs."""
        return self._process.pid if self._process is not None else None

    @property
    def failed(self) -> bool:
        """Whether the last start failed, or the process was lost again soon after it."""
        return self._failed_at is not None and self._process is None

    @staticmethod
    def cuts(text: str) -> bool:
        """Whether there is Chinese in a text, so that it has words to be cut into."""
        return _IS_HAN.search(text) is not None

    async def words(self, text: str) -> list[str] | None:
        """The words of a text with Chinese in it; None where there is none, or no process yet."""
        if not self.cuts(text):
            return None
        asked = {"ask": "words", "text": text[:QUESTION_LIMIT]}
        found: list[str] | None = await self._asked(asked, WORDS_S, SCIKIT, JIEBA)
        return found

    async def cosines(self, documents: Documents) -> list[float] | None:
        """How close each document is to the question, 0 to 1; None where there is no process yet."""
        if not documents.documents and self._process is not None and SCIKIT not in self.missing:
            self._used()
            return []
        asked = {"ask": "cosines"} | msgspec.structs.asdict(documents)
        found: list[float] | None = await self._asked(asked, COSINES_S, SCIKIT)
        return found

    async def loaded(self, limit_s: float) -> list[str] | None:
        """Which libraries the process holds; None where there is no process, or no answer."""
        found: list[str] | None = await self._asked({"ask": "loaded"}, limit_s, SCIKIT)
        return found

    async def ready(self) -> bool:
        """Wait until a start that was begun has come to its end; whether the process is there."""
        if self._starting is not None:
            await self._starting
        return self._process is not None

    async def close(self) -> None:
        """End the process; none is started any more."""
        self._closed = True
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        if self._timer is not None:
            self._timer.cancel()
        self._end()
        await asyncio.gather(*self._ending)

    def _used(self) -> None:
        """Put the end off."""
        if self._closed:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._unused_s, self._end)

    async def _asked(self, request: Any, limit_s: float, *wanted: str) -> Any:
        """The reply to a request, None without one; `wanted` is loaded at once where the process has to be started."""
        self._used()
        process = self._process
        if process is not None:
            answer = await process.asked(request, limit_s)
            if process.ended or process.hangs:
                self._lost(process)
            if answer is not None:
                return self._reply(answer)
        if self._process is None:
            self._start(wanted)
        return None

    def _reply(self, answer: dict[str, Any]) -> Any:
        if "reply" in answer:
            return answer["reply"]
        name = answer["missing"]
        if name not in self.missing:
            self.missing[name] = answer["why"]
            log.warning("%s cannot be loaded, so %s: %s", name, LOSS[name], answer["why"])
        return None

    def _lost(self, process: LanguageProcess) -> None:
        if self._process is not process:
            return
        now, before = asyncio.get_running_loop().time(), self._lost_at
        self._lost_at = now
        how = "ended" if process.ended else "answers no more"
        if before is None or now > before + RETRY_S:
            log.warning("The language process %s; it is started anew.", how)
        else:
            self._failed_at = now  # else a text that it dies of would cost every question a start
            log.warning("The language process %s again; it is started anew in %d min.", how, RETRY_S // 60)
        self._end()

    def _start(self, wanted: tuple[str, ...]) -> None:
        loop = asyncio.get_running_loop()
        is_recent = self._failed_at is not None and loop.time() < self._failed_at + RETRY_S
        if not is_recent and not self._closed and (self._starting is None or self._starting.done()):
            self._starting = loop.create_task(self._load(wanted))

    async def _load(self, wanted: tuple[str, ...]) -> None:
        try:
            self._cache.mkdir(parents=True, exist_ok=True, mode=0o700)
            process = await LanguageProcess.start([*self._arguments, *wanted])
        except (OSError, EOFError, ValueError, msgspec.DecodeError):
            self._failed_at = asyncio.get_running_loop().time()
            log.warning("The language process does not start: %s, and %s.", LOSS[JIEBA], LOSS[SCIKIT])
        else:
            self._process, self._failed_at, self.missing = process, None, {}

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            task = process.kill()
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

"""MEMORY pages: a hand-edited block is read back into hot state, then the block follows hot state."""

import asyncio
import logging
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import msgspec

from ..clock import Clock, day_number
from ..config import Settings
from ..crash import crash_point
from ..ingest.mask import mask_text
from ..ingest.parse import parse_statement
from ..store import Store
from ..store.thread import StoreThread
from ..tiers.changes import Words
from ..tiers.evidence import page_path
from ..tiers.hand_edits import apply_changes, read_hand_edits, remember_body
from ..tiers.hot import hot_state
from ..tiers.page import Block, body_hash, managed_block, put_block, read_block, render
from ..tiers.readback import is_text
from .change_log import recorded
from .forgotten_words import Guard
from .page_file import read_page, rewrite_page
from .rebuild import pages_adopted

log = logging.getLogger(__name__)

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of pages that are no UTF-8; they are left alone."""

WORDS = Words(
    statement=parse_statement,
    mask=lambda text: mask_text(text)[0],
    says_forgotten=lambda tx, agent_id, value: Guard(tx, agent_id).stops(value),
)
"""How text that comes in by hand or by command becomes fact text."""


class _Wanted(msgspec.Struct):
    """What an agent's block should say, and whether this device has said so before."""

    body: str
    empty: bool
    said: bool
    first: bool


class PageKeeper:
    """Keeps the managed blocks of all agents' pages in step with hot state, and hot state with edits by hand."""

    def __init__(self, thread: StoreThread, root: Path, settings: Settings, clock: Clock) -> None:
        self._thread = thread
        self._root = root
        self._settings = settings
        self._clock = clock
        self._strays: dict[str, tuple[str, list[str]]] = {}
        self.problems: dict[str, str] = {}
        """Pages that could not be read or written: path and reason."""
        self.owed: set[str] = set()
        """Agents whose page could not be written; it is tried again whenever memory settles."""
        self.trusts_nothing = False
        """After a rebuild from the notes alone: the blocks are all that is left of hot state, and are read back."""

    async def read_back(self, agents: Iterable[str]) -> bool:
        """Take edits by hand into hot state; returns whether there were any (the caller settles)."""
        changed = False
        for agent in sorted(agents):
            block = read_block(await self._page(agent) or "")
            if block is not None:
                changed |= await self._thread.call(partial(self._take_edits, agent=agent, block=block))
        return changed

    async def adopt(self, agents: Iterable[str]) -> None:
        """After a rebuild from the notes alone: take into hot state whatever the blocks say."""
        await self.read_back(agents)
        self.trusts_nothing = False
        await self._thread.call(pages_adopted)

    async def write(self, agents: Iterable[str]) -> list[str]:
        """Rewrite the blocks whose hot state changed here; returns the paths that were written."""
        written: list[str] = []
        if self.trusts_nothing:
            return written  # what stands there is to be read first
        for agent in sorted(self.owed | set(agents)):
            wanted = await self._thread.call(partial(self._wanted, agent=agent))
            if await self._follow(agent, wanted):
                written.append(page_path(agent))
        return written

    async def rewrite(self, agent: str) -> str:
        """Write the block anew whatever was said before (`hot --rebuild`); returns the page's path."""
        wanted = await self._thread.call(lambda store: self._wanted(store, agent))
        await self._follow(agent, msgspec.structs.replace(wanted, said=False, empty=False))
        return page_path(agent)

    async def _page(self, agent: str) -> str | None:
        path = page_path(agent)
        try:
            data = await asyncio.to_thread(read_page, self._root / path)
        except OSError as error:
            self._failed(path, error)
            return None
        self.problems.pop(path, None)
        return None if data is None or data.startswith(_UTF_16) else data.decode("utf-8", "surrogateescape")

    def _take_edits(self, store: Store, agent: str, block: Block) -> bool:
        if body_hash(block.body) == block.sha256 and not self.trusts_nothing:
            with store.transaction() as tx:
                remember_body(tx, agent, block.body)
            return False
        today = self._clock.today()
        ours = render(hot_state(store, agent, day_number(today), self._settings).state)
        found = read_hand_edits(store, agent, block, ours)
        self._strays[agent] = (block.body, found.strays)
        _tell_odd_characters(page_path(agent), block.body)
        with store.transaction() as tx, recorded(tx, agent, "edit by hand in the page's block"):
            apply_changes(tx, agent, found.changes, WORDS, today)
        crash_point("page read back")
        return bool(found.changes)

    def _wanted(self, store: Store, agent: str) -> _Wanted:
        hot = hot_state(store, agent, day_number(self._clock.today()), self._settings)
        body = render(hot.state)
        said = store.meta(f"page:{agent}")
        return _Wanted(body, hot.empty, said == body_hash(body), not said)

    async def _follow(self, agent: str, wanted: _Wanted) -> bool:
        path = page_path(agent)
        # What the page says is settled when it was written, or when what stands there may stand.
        stands = False

        def change(old: bytes | None) -> bytes | None:
            nonlocal stands
            new, stands = self._changed(agent, old, wanted)
            return new

        try:
            written = await asyncio.to_thread(rewrite_page, self._root / path, change, _is_no_loss)
        except OSError as error:
            self._failed(path, error)
            self.owed.add(agent)
            return False
        self.problems.pop(path, None)
        self.owed.discard(agent)
        if written or (stands and not wanted.said):
            crash_point("page written")
            await self._thread.call(lambda store: _remember(store, agent, wanted.body))
        return written

    def _changed(self, agent: str, old: bytes | None, wanted: _Wanted) -> tuple[bytes | None, bool]:
        """The page with its block as it should be, or None and whether it may stay as it is."""
        if old is not None and old.startswith(_UTF_16):
            return None, True  # our bytes would be noise in it
        page = None if old is None else old.decode("utf-8", "surrogateescape")
        block = read_block(page or "")
        strays: list[str] = []
        if block is None:
            if wanted.said or wanted.empty:
                return None, True  # nothing to say, or a person took the block out and nothing has changed since
        elif body_hash(block.body) == block.sha256:
            if wanted.said or wanted.first or block.body == wanted.body:
                return None, True  # some memoryd wrote it: it stands until our own hot state changes
        else:
            seen, strays = self._strays.get(agent, ("", []))
            if seen != block.body:
                return None, False  # edited since it was read back: the next look reads it first
        return put_block(page, managed_block(wanted.body), strays).encode("utf-8", "surrogateescape"), False

    def _failed(self, path: str, error: OSError) -> None:
        reason = error.strerror or str(error)
        if self.problems.get(path) != reason:
            log.warning("%s cannot be kept up to date: %s", path, reason)
        self.problems[path] = reason


def _tell_odd_characters(path: str, body: str) -> None:
    """Say what of a hand edit was no text: nothing of it is dropped without a word."""
    if nuls := body.count("\0"):
        log.warning("%s: %d NUL characters in its block are read as U+FFFD", path, nuls)
    if odd := sum(not is_text(line) for line in body.replace("\0", "").split("\n")):
        log.warning("%s: %d lines of its block are no UTF-8; they move below it as they are", path, odd)


def _is_no_loss(left: bytes, page: bytes) -> bool:
    """Whether two states of a page, b"" for none, differ in nothing but a block that some memoryd wrote."""
    one, two = (data.decode("utf-8", "surrogateescape") for data in (left, page))
    old, new = read_block(one), read_block(two)
    if not two and old is not None and one == f"{managed_block(old.body)}\n":
        return True  # nothing but our own first block, which is written again
    if new is None or (old is not None and body_hash(old.body) != old.sha256):
        return left == page
    return put_block(one, two[new.start : new.end].replace("\r\n", "\n")) == two


def _remember(store: Store, agent: str, body: str) -> None:
    with store.transaction() as tx:
        remember_body(tx, agent, body)
        tx.set_meta(f"page:{agent}", body_hash(body))

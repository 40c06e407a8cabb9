"""Devices of a test: a real store on its thread and the real service, without daemon, disk or derivation rules."""

import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from memoryd.clock import Clock, ManualClock
from memoryd.config import Settings
from memoryd.model import Metadata, ParsedMention, ParsedNote
from memoryd.store import Store, Tx
from memoryd.store.notes import StatedNote, apply_note
from memoryd.store.thread import StoreThread
from memoryd.sync.hrana import CloudClient, CloudError, Result
from memoryd.sync.service import SyncService

AGENT = "default"


def parsed(text: str) -> ParsedNote:
    """A note whose every line is one fact."""
    lines = [line for line in text.split("\n") if line]
    mentions = [
        ParsedMention(line, n, n, "2026-02-13", [], "birds", 0.5, "fact", "", Metadata(urls=[f"https://a.example/{n}"]))
        for n, line in enumerate(lines, 1)
    ]
    return ParsedNote(text.encode(), [("fact", n) for n in range(len(lines))], mentions, [], "ok")


def settle(store: Store) -> None:
    """Derive just enough for the picture: live where any mention stands."""
    with store.transaction() as tx:
        for agent, fact in tx.execute("SELECT agent_id, fact_id FROM dirty"):
            _derive(tx, agent, fact)
        tx.run("DELETE FROM dirty")


def _derive(tx: Tx, agent: Any, fact: Any) -> None:
    rows = tx.execute("SELECT n FROM facts WHERE agent_id = ? AND id = ?", (agent, fact))
    if not rows:
        return
    mentions = tx.execute(
        "SELECT category FROM mentions INDEXED BY mentions_fact WHERE agent_id = ? AND fact_id = ?", (agent, fact)
    )
    state, category = ("live", mentions[0][0]) if mentions else ("retracted", "")
    tx.run(
        "INSERT INTO derived"
        " VALUES (?, ?, ?, ?, 'warm', 0.5, ?, 0.5, 'fact', '', 1770940800000, 20497, 0, 0, '', '', 0)"
        " ON CONFLICT (n) DO UPDATE SET state = excluded.state, category = excluded.category",
        (rows[0][0], agent, fact, state, category),
    )


class Peer:
    """One device."""

    def __init__(self, path: Path, clock: Clock, client: CloudClient, **options: Any) -> None:
        self.path, self.clock = path, clock
        self.thread = StoreThread(self._open)
        self.new_ids: list[str] = []
        self.sync = SyncService(
            self.thread, client, Settings(), clock, settle=self.settle, critical=critical, on_new_device=self._renamed,
            **options,
        )  # fmt: skip

    def _open(self) -> Store:
        store = Store.open(self.path, self.clock)
        if not store.execute("SELECT 1 FROM devices WHERE device = ?", (store.device,)):
            with store.transaction() as tx:
                tx.run(
                    "INSERT INTO devices VALUES (?, ?, 'test', ?, '[]', '[]', ?)",
                    (store.device, self.path.parent.name, self.clock.now_ms(), tx.next_rev()),
                )
        return store

    async def settle(self) -> None:
        await self.thread.call(settle)

    async def _renamed(self, device: str) -> None:
        self.new_ids.append(device)

    async def call(self, work: Callable[[Store], Any]) -> Any:
        return await self.thread.call(work)

    async def write(self, work: Callable[[Tx], Any]) -> Any:
        """Run `work` in one transaction, then derive."""

        def run(store: Store) -> Any:
            with store.transaction() as tx:
                result = work(tx)
            settle(store)
            return result

        return await self.thread.call(run)

    async def note(self, path: str, text: str) -> None:
        """Take in a note as ingest would."""
        data = text.encode()
        await self.write(lambda tx: apply_note(tx, StatedNote(AGENT, path, len(data), parsed(text))))

    async def device(self) -> str:
        return str(await self.call(lambda store: store.device))

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return list(await self.call(lambda store: store.execute(sql)))

    async def texts(self) -> set[str]:
        """What is stated by anybody."""
        sql = "SELECT DISTINCT f.text FROM facts f JOIN mentions m ON m.agent_id = f.agent_id AND m.fact_id = f.id"
        return {row[0] for row in await self.rows(sql)}

    async def close(self) -> None:
        await self.sync.close()
        await self.thread.close()


def critical(store: Store, agent: str) -> dict[str, Any]:
    """A stand-in for hot state and tree."""
    ((count,),) = store.execute("SELECT count(*) FROM facts WHERE agent_id = ?", (agent,))
    return {"hot_state": {"facts": count}, "tree_nodes": {}, "timestamp": time.time()}


class SimulatedCloud:
    """The cloud's SQL on an in-memory database; `fault` decides what becomes of the next write.

    `refused`: nothing; `lost`: it is done and the reply is lost; `late`: it arrives after the next one, and once
    more after the one that follows.
    """

    def __init__(self) -> None:
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.fault = ""
        self.under_way: list[Any] = []

    async def query(self, *statements: Any) -> list[Result]:
        return [Result(self._run(each)[0], 0) for each in statements]

    async def transact(self, statements: Any) -> list[int]:
        fault, self.fault = self.fault, ""
        if fault == "refused":
            raise CloudError("The cloud does not answer.")
        if fault == "late":
            self.under_way += [statements, statements]
            raise CloudError("The cloud does not answer.")
        counts = self._commit(statements)
        if self.under_way:
            self._commit(self.under_way.pop())
        if fault == "lost":
            raise CloudError("The cloud does not answer.")
        return counts

    def _commit(self, statements: Any) -> list[int]:
        self.db.execute("BEGIN IMMEDIATE")
        try:
            counts = [self._run(each)[1] for each in statements]
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")
        return counts

    async def close(self) -> None:
        """The test closes it."""

    def _run(self, statement: Any) -> tuple[list[Any], int]:
        try:
            cursor = self.db.execute(statement.sql, statement.args)
        except sqlite3.OperationalError as error:
            raise CloudError(f"The cloud refused: {error}") from None
        return cursor.fetchall(), cursor.rowcount


NewPeer = Callable[..., Awaitable[Peer]]


@pytest.fixture
async def peer(sqld: Any, tmp_path: Path, clock: ManualClock) -> AsyncIterator[NewPeer]:
    """A factory of devices that share the test's cloud."""
    made: list[Peer] = []

    async def make(name: str = "a", token: str = "", url: str = "", **options: Any) -> Peer:
        client = CloudClient(url or sqld.url, token or sqld.token(), read_timeout_s=options.pop("read_timeout_s", 5.0))
        one = Peer(tmp_path / name / "memory.db", clock, client, **options)
        made.append(one)
        await one.thread.start()
        return one

    yield make
    for one in made:
        await one.close()

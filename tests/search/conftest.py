"""A small memory to ask: a real store whose facts are written straight into the index."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from memoryd.clock import MS_PER_DAY, ManualClock
from memoryd.model import fact_id
from memoryd.search import Entry, find, remove_entry, write_entries, write_entry
from memoryd.store import Store

TODAY = 20_500  # 2026-02-16, a Monday


class Memory:
    """Facts of a store, and questions to them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.texts: dict[int, str] = {}

    def add(
        self,
        text: str,
        *,
        agent: str = "default",
        day: int = TODAY,
        importance: float = 0.5,
        headings: Sequence[str] = (),
        extra: str = "",
        note: str = "",
    ) -> int:
        """State one live fact, the next block of `note` if one is named, and return its number."""
        n = len(self.texts) + 1
        self.texts[n] = text
        with self.store.transaction() as tx:
            key = fact_id(agent, text)
            tx.run("INSERT INTO facts VALUES (?, ?, ?, ?, 0, 0)", (n, agent, key, text))
            tx.run(
                "INSERT INTO derived VALUES (?, ?, ?, 'live', 'cold', 0, '', ?, 'fact', '', ?, ?, 0, 0, '', '', 0)",
                (n, agent, key, importance, day * MS_PER_DAY, day),
            )
            write_entry(tx, n, Entry(text, headings, "", extra, agent))
            if note:
                tx.run(
                    "INSERT INTO mentions SELECT ?, 'd', ?, count(*), ?, 1, 1, '', '[]', '', 1, 'fact', '', '{}', '', 0"
                    " FROM mentions WHERE path = ?",
                    (agent, note, key, note),
                )
        return n

    def add_all(self, lines: Sequence[tuple[str, int]], *, notes: bool = False) -> None:
        """State many live facts, given by text and day; with `notes` forty stand in each note."""
        first = len(self.texts) + 1
        with self.store.transaction() as tx:
            for n, (text, day) in enumerate(lines, first):
                self.texts[n] = text
                key = fact_id("default", text)
                tx.run("INSERT INTO facts VALUES (?, 'default', ?, ?, 0, 0)", (n, key, text))
                tx.run(
                    "INSERT INTO derived"
                    " VALUES (?, 'default', ?, 'live', 'cold', 0, '', 0.5, 'fact', '', ?, ?, 0, 0, '', '', 0)",
                    (n, key, day * MS_PER_DAY, day),
                )
                if notes:
                    tx.run(
                        "INSERT INTO mentions"
                        " VALUES ('default', 'd', ?, ?, ?, 1, 1, '', '[]', '', 1, 'fact', '', '{}', '', 0)",
                        (f"note {n // 40}", n % 40, key),
                    )
            write_entries(tx, {n: Entry(text, agent="default") for n, (text, _) in enumerate(lines, first)})

    def remove(self, n: int) -> None:
        """Take one fact out of memory."""
        with self.store.transaction() as tx:
            remove_entry(tx, n)
            tx.run("DELETE FROM derived WHERE n = ?", (n,))
            tx.run("DELETE FROM facts WHERE n = ?", (n,))

    def ask(self, query: str, *, agents: Sequence[str] | None = ("default",), limit: int = 5) -> list[str]:
        """The texts of the hits, best first."""
        return [self.texts[hit.n] for hit in find(self.store, query, agents=agents, limit=limit, today=TODAY)]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """An empty memory."""
    store = Store.open(tmp_path / "memory.db", ManualClock())
    yield Memory(store)
    store.close()


@pytest.fixture
def filled(memory: Memory) -> Callable[..., Memory]:
    """A memory filled with the given texts."""

    def fill(*texts: str) -> Memory:
        for text in texts:
            memory.add(text)
        return memory

    return fill

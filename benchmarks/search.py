"""The search room alone at 200,000 facts: how long `find` takes, and the slowest single call into the library.

    python benchmarks/search.py [--facts 200000] [--keep FILE]

The library stands still with every thread while a call runs, hence the second figure. FILE keeps the
store for a later run with as many facts.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memoryd.clock import Clock
from memoryd.model import fact_id
from memoryd.search import Entry, find, query_tokens, write_entry
from memoryd.store import Store, Value
from notes import Writer
from table import Measure, median, p95, show

_TODAY = 20_500
_FACTS_A_DAY = 40
_SMALL_AGENT_EVERY = 40
_FREE_CALL_MS = 50


def main(facts: int = 200_000, keep: Path | None = None) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="memoryd-bench-") as folder:
        store = Store.open(keep or Path(folder) / "memory.db", Clock())
        built = _fill(store, facts)
        questions = _questions(store, facts)
        for title, agents in (("one large agent", ["default"]), ("one small agent", ["small"]), ("all agents", None)):
            _measure(
                f"find, {facts} facts, 15 % Chinese, {title}, {len(questions)} questions", store, questions, agents
            )
        size = sum(file.stat().st_size for file in store.db.path.parent.glob(store.db.path.name + "*"))
        if built:
            show(
                "Index",
                [Measure("written, facts/s", f"{facts / built:,.0f}"), Measure("file, MB", f"{size / 1e6:.0f}")],
            )
        store.close()


def _measure(title: str, store: Store, questions: Sequence[str], agents: Sequence[str] | None) -> None:
    watched = _Watched(store)
    times, raw = [], []
    for question in questions:
        started = time.perf_counter()
        find(watched, question, agents=agents, limit=5, today=_TODAY)
        times.append((time.perf_counter() - started) * 1000)
        raw.append(_raw_ms(store, question))
    show(
        title,
        [
            Measure(
                "p50, ms", f"{median(times):.1f}", "8", median(times) <= 8, f"{median(raw):.1f} raw FTS5, all words OR"
            ),
            Measure("p95, ms", f"{p95(times):.1f}", "30", p95(times) <= 30, f"{p95(raw):.1f} raw FTS5, all words OR"),
            Measure(
                "slowest call, ms",
                f"{watched.slowest_ms:.1f}",
                "50",
                watched.slowest_ms <= _FREE_CALL_MS,
                f"{max(raw):.1f}",
            ),
        ],
    )


def _raw_ms(store: Store, question: str) -> float:
    words = " OR ".join('"{}"'.format(term.text.replace('"', '""')) for term in query_tokens(question).terms)
    started = time.perf_counter()
    store.execute("SELECT rowid FROM search_index WHERE search_index MATCH ? ORDER BY rank LIMIT 5", (words or '""',))
    return (time.perf_counter() - started) * 1000


class _Watched(Store):
    """The same store, its slowest statement noted."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.db, store.clock)
        self.slowest_ms = 0.0

    def execute(self, sql: str, parameters: tuple[Value, ...] = ()) -> list[Any]:
        started = time.perf_counter()
        rows = super().execute(sql, parameters)
        self.slowest_ms = max(self.slowest_ms, (time.perf_counter() - started) * 1000)
        return rows


def _fill(store: Store, facts: int) -> float:
    """Write the facts unless they are there; the seconds it took."""
    if store.execute("SELECT count(*) FROM facts")[0][0] == facts:
        return 0.0
    writer, n = Writer(seed=3, chinese=0.15), 0
    started = time.perf_counter()
    while n < facts:
        with store.transaction() as tx:
            for n in range(n + 1, min(n + 1000, facts) + 1):  # noqa: B020  # goes on where the last batch ended
                text = f"{writer.sentence()} {n}"
                agent, day = "small" if n % _SMALL_AGENT_EVERY == 0 else "default", _TODAY - (facts - n) // _FACTS_A_DAY
                key, category = fact_id(agent, text), "work/" + text.partition(" ")[0][:12]
                tx.run("INSERT INTO facts VALUES (?, ?, ?, ?, 0, 0)", (n, agent, key, text))
                tx.run(
                    "INSERT INTO derived"
                    " VALUES (?, ?, ?, 'live', 'cold', 0.1, ?, 0.5, 'fact', '', ?, ?, 0, 0, '', '', 0)",
                    (n, agent, key, category, day * 86_400_000, day),
                )
                note, place = f"memory/{day}-{agent}.md", n % _FACTS_A_DAY
                tx.run(
                    "INSERT INTO mentions VALUES (?, 'd', ?, ?, ?, 1, 1, '', '[]', '', 0.5, 'fact', '', '{}', '', 0)",
                    (agent, note, place, key),
                )
                write_entry(tx, n, Entry(text, ("Notes",), category, "", agent))
    return time.perf_counter() - started


def _questions(store: Store, facts: int) -> list[str]:
    """Some words of a fact, its beginning as a question, the whole fact; and single common words."""
    chance, questions = (
        random.Random(5),
        ["server", "the server", "的", "合同", "同", "yesterday", "who moved the server"],
    )
    for (text,) in store.execute("SELECT text FROM facts WHERE n % ? = 5", (max(facts // 70, 1),)):
        words = str(text).split()
        questions += [" ".join(chance.sample(words, min(len(words), chance.randint(1, 5))))]
        questions += [f"when was {' '.join(words[:5])}?", str(text)]
    return questions


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=200_000)
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    main(asked.facts, asked.keep)

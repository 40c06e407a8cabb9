"""Asks the questions of retrieval sets of the search room and prints how many it answers.

    MEMORYD_BENCH=FOLDER python benchmarks/retrieval.py [SET …]

FOLDER holds one folder a set with `map.jsonl` (one line a bullet: workspace, file, line, text) and
`queries.jsonl` (workspace, question, gold places). It is read in place and never copied or downloaded.
A bullet is one fact; its context is the bullet before it.
"""

import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from memoryd.clock import Clock, day_number
from memoryd.model import fact_id
from memoryd.search import Entry, find, write_entry
from memoryd.store import Store

KEPT = 50
AT = (5, 10)
TODAY = day_number(date(2026, 3, 1))
Place = tuple[str, int]


class Score(NamedTuple):
    """Means over the questions of one set."""

    questions: int
    recall_5: float
    recall_10: float
    mrr: float
    ms: float


def main(*names: str) -> int:
    """Print one line a set; 66 when there is no folder."""
    folder = Path(os.environ.get("MEMORYD_BENCH", ""))
    sets = names or sorted(path.parent.name for path in folder.glob("*/queries.jsonl"))
    if "MEMORYD_BENCH" not in os.environ or not sets:
        print("No retrieval sets: set MEMORYD_BENCH to the folder that holds them.", file=sys.stderr)
        return 66
    print(f"{'set':<16}{'questions':>10}{'R@5':>8}{'R@10':>8}{'MRR':>8}{'ms each':>9}")
    for name in sets:
        score = measure(folder / name)
        print(
            f"{name:<16}{score.questions:>10}{score.recall_5:>8.3f}{score.recall_10:>8.3f}{score.mrr:>8.3f}{score.ms:>9.2f}"
        )
    return 0


def measure(folder: Path) -> Score:
    """Index every workspace of one set as an agent of its own and ask its questions."""
    bullets, questions = _lines(folder / "map.jsonl"), _lines(folder / "queries.jsonl")
    with tempfile.TemporaryDirectory() as scratch:
        store = Store.open(Path(scratch) / "memory.db", Clock())
        agents = {name: f"w{n}" for n, name in enumerate(sorted({each["workspace"] for each in bullets}))}
        places = _fill(store, bullets, agents)
        scores, spent = [], 0.0
        for each in questions:
            gold = {(place["file"], place["line"]) for place in each["gold"]}
            if not gold:
                continue
            started = time.perf_counter()
            hits = find(store, each["question"], agents=[agents[each["workspace"]]], limit=KEPT, today=TODAY)
            spent += time.perf_counter() - started
            scores.append(_scored([places[hit.n] for hit in hits], gold))
        store.close()
    means = [sum(column) / len(scores) for column in zip(*scores, strict=True)]
    return Score(len(scores), *means, spent / len(scores) * 1000)


def _scored(results: list[list[Place]], gold: set[Place]) -> tuple[float, float, float]:
    """Recall at 5 and at 10, and the reciprocal rank of the first answer; a fact with several places covers all."""
    recalls = [len(gold & {place for places in results[:at] for place in places}) / len(gold) for at in AT]
    first = next((rank for rank, places in enumerate(results, 1) if gold & set(places)), 0)
    return recalls[0], recalls[1], 1 / first if first else 0.0


def _fill(store: Store, bullets: list[dict[str, Any]], agents: dict[str, str]) -> dict[int, list[Place]]:
    known: dict[str, int] = {}
    places: dict[int, list[Place]] = defaultdict(list)
    before: tuple[str, str] = ("", "")
    with store.transaction() as tx:
        for each in bullets:
            agent, text = agents[each["workspace"]], each["text"]
            key = fact_id(agent, text)
            context = before[1] if before[0] == agent + each["file"] else ""
            before = (agent + each["file"], text)
            if key in known:
                places[known[key]].append((each["file"], each["line"]))
                continue
            n = known[key] = len(known) + 1
            places[n].append((each["file"], each["line"]))
            day = day_number(date.fromisoformat(each["date"]))
            tx.run("INSERT INTO facts VALUES (?, ?, ?, ?, 0, 0)", (n, agent, key, text))
            tx.run(
                "INSERT INTO derived VALUES (?, ?, ?, 'live', 'frozen', 0, '', 0.5, 'fact', '', ?, ?, 0, 0, '', '')",
                (n, agent, key, day * 86_400_000, day),
            )
            headings = [each["date"], *filter(None, [each.get("heading") or each.get("session") or ""])]
            write_entry(tx, n, Entry(text, [str(one) for one in headings], "", "", context))
    return places


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

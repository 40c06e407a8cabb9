"""Asks the questions of retrieval sets through the product's own socket, beside every baseline of the same run.

    MEMORYD_BENCH=FOLDER python benchmarks/retrieval.py [--no-baselines] [SET …]

FOLDER holds one folder a set: a folder of notes a workspace, `map.jsonl` (one line a bullet: workspace, file,
line) and `queries.jsonl` (workspace, question, gold places). It is read in place and never copied into the project
or downloaded. Each workspace gets a daemon of its own. The folder's own `baselines.py` runs beside if it is there.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from machine import machine
from table import median, p95

KEPT = 50
AT = (5, 10)
Place = tuple[str, int]


class Score(NamedTuple):
    """Means over the questions of one set; times in milliseconds."""

    questions: int
    recall_5: float
    recall_10: float
    mrr: float
    p50: float
    p95: float


def main(*names: str, baselines: bool = True) -> int:
    """Print one table a set; 66 when there is no folder."""
    folder = Path(os.environ.get("MEMORYD_BENCH", ""))
    sets = names or sorted(path.parent.name for path in folder.glob("*/queries.jsonl"))
    if "MEMORYD_BENCH" not in os.environ or not sets:
        print("No retrieval sets: set MEMORYD_BENCH to the folder that holds them.", file=sys.stderr)
        return 66
    for name in sets:
        score = measure(folder / name)
        print(f"\n{name}, {score.questions} questions{'':<20}{'R@5':>8}{'R@10':>8}{'MRR':>8}{'p50 ms':>8}{'p95 ms':>8}")
        print(
            f"  {'memoryd, through the socket':<48}{score.recall_5:>8.3f}{score.recall_10:>8.3f}{score.mrr:>8.3f}"
            f"{score.p50:>8.1f}{score.p95:>8.1f}",
            flush=True,
        )
        for system, figures in _baselines(folder, name) if baselines else ():
            print(f"  {system[:70]:<48}" + "".join(f"{figures[measure]:>8.3f}" for measure in ("R@5", "R@10", "MRR")))
    return 0


def measure(folder: Path) -> Score:
    """Ask every question of one set that has an answer."""
    asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
    workspaces = {each["workspace"] for each in _lines(folder / "map.jsonl")}
    for each in _lines(folder / "queries.jsonl"):
        if each["gold"]:
            asked[each["workspace"]].append(each)
    scores: list[tuple[float, float, float]] = []
    times: list[float] = []
    for name in sorted(workspaces):
        _ask(folder / name, asked[name], scores, times)
    means = [sum(column) / len(scores) for column in zip(*scores, strict=True)]
    return Score(len(scores), *means, median(times), p95(times))


def _ask(
    workspace: Path, questions: list[dict[str, Any]], scores: list[tuple[float, float, float]], times: list[float]
) -> None:
    with machine() as one:
        shutil.copytree(workspace / "memory", one.notes, dirs_exist_ok=True)
        one.start()
        one.settle(len(list(one.notes.glob("*.md"))))
        for each in questions:
            started = time.perf_counter()
            hits = one.ask("POST", "/v1/retrieve", {"query": each["question"], "limit": KEPT})
            times.append((time.perf_counter() - started) * 1000)
            scores.append(_scored([_places(hit) for hit in hits], {(g["file"], g["line"]) for g in each["gold"]}))


def _places(hit: dict[str, Any]) -> set[Place]:
    return {
        (source["file"], line)
        for source in hit["sources"]
        for line in range(source["lines"][0], source["lines"][1] + 1)
    }


def _scored(results: list[set[Place]], gold: set[Place]) -> tuple[float, float, float]:
    """Recall at 5 and at 10, and the reciprocal rank of the first answer; a fact with several places covers all."""
    recalls = [len(gold & set().union(*results[:at])) / len(gold) for at in AT]
    first = next((rank for rank, places in enumerate(results, 1) if gold & places), 0)
    return recalls[0], recalls[1], 1 / first if first else 0.0


def _baselines(folder: Path, name: str) -> list[tuple[str, dict[str, float]]]:
    """The figures of the folder's baselines over one set, best first; none where they cannot run."""
    script = folder / "baselines.py"
    with tempfile.TemporaryDirectory() as scratch:
        figures = Path(scratch) / "figures.json"
        sets = [name, f"{name}+title"] if name == "cmrc" else [name]
        done = subprocess.run(
            [sys.executable, str(script), *sets, "--data", str(folder), "--json", str(figures)],
            capture_output=True, text=True, check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        if done.returncode:
            print(f"  no baselines: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
            return []
        results = json.loads(figures.read_text("utf-8"))
    rows = [
        (f"{system}{' (title)' if set_ != name else ''}", found["all"])
        for set_ in sets
        for system, found in results[set_].items()
    ]
    return sorted(rows, key=lambda row: -row[1]["R@5"])


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--no-baselines", action="store_true")
    given = parser.parse_args()
    sys.exit(main(*given.sets, baselines=not given.no_baselines))

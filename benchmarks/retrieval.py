"""Asks the questions of retrieval sets through the product's own socket, beside every baseline of the same run.

    MEMORYD_BENCH=FOLDER python benchmarks/retrieval.py [--no-baselines] [SET …]

FOLDER holds one folder a set: a folder of notes a workspace, `map.jsonl` (one line a bullet: workspace, file,
line) and `queries.jsonl` (workspace, question, gold places). It is read in place and never copied into the project
or downloaded. Each workspace gets a daemon of its own. The folder's own `baselines.py` runs beside if it is there.
"""

import argparse
import json
import math
import operator
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from machine import machine
from table import median, p95

KEPT = 50
MEASURES = ("R@5", "R@10", "MRR", "nDCG@10")
_ALL, _AUDITED = "all", "all, audited gold"
_WIDTH = 78
_DISCOUNTS = tuple(1 / math.log2(2 + above) for above in range(10))
"""What an answer counts in nDCG@10 by how many results stand above it."""
Place = tuple[str, int]
Figures = dict[str, float]


class Asked(NamedTuple):
    """One question: the places of each result, best first, who ordered them, and how long it took [ms]."""

    question: dict[str, Any]
    results: list[set[Place]]
    ranker: str
    ms: float


def main(*names: str, baselines: bool = True) -> int:
    """Print one table a set; 66 when there is no folder, 1 when the baselines cannot run."""
    folder = Path(os.environ.get("MEMORYD_BENCH", ""))
    sets = names or sorted(path.parent.name for path in folder.glob("*/queries.jsonl"))
    if "MEMORYD_BENCH" not in os.environ or not sets:
        print("No retrieval sets: set MEMORYD_BENCH to the folder that holds them.", file=sys.stderr)
        return 66
    ran = [_table(folder, name, baselines) for name in sets]
    return 0 if all(ran) else 1


def _table(folder: Path, name: str, baselines: bool) -> bool:
    asked = ask_all(folder / name)
    times = [each.ms for each in asked]
    widths = [len(result) for each in asked for result in each.results]
    print(f"\n{f'{name}, {len(asked)} questions':<{_WIDTH}}" + "".join(f"{measure:>9}" for measure in MEASURES))
    ours = {_ALL: figures_of(asked, "gold")}
    if any(each.question.get("gold_audited") for each in asked):
        ours[_AUDITED] = figures_of(asked, "gold_audited")
    for gold, figures in ours.items():
        _row("memoryd, through the socket" + _said(gold), figures)
    rows = _baselines(folder, name) if baselines else []
    for system, found in rows or ():
        for gold in ours:
            _row(system + _said(gold), found[gold])
    if rows:
        _compare(ours[_ALL], [(system, found[_ALL]) for system, found in rows])
    width = sum(widths) / max(len(widths), 1)
    full = sum(each.ranker == "full" for each in asked)
    print(
        f"  p50 {median(times):.1f} ms, p95 {p95(times):.1f} ms; a result is {width:.2f} lines wide;"
        f" {full} of {len(asked)} answers ordered by cosine too",
        flush=True,
    )
    return rows is not None


def _said(gold: str) -> str:
    return "" if gold == _ALL else "; audited gold"


def _row(what: str, figures: Figures) -> None:
    print(
        f"  {what[: _WIDTH - 3]:<{_WIDTH - 2}}" + "".join(f"{figures[measure]:>9.3f}" for measure in MEASURES),
        flush=True,
    )


def _compare(ours: Figures, rows: list[tuple[str, Figures]]) -> None:
    """Beside each of our figures the best that any baseline reaches."""
    for measure in MEASURES:
        system, best = max(rows, key=lambda row: row[1][measure])
        verdict = "above" if ours[measure] > best[measure] else "NOT ABOVE"
        print(f"  {measure}: {ours[measure]:.4f}, {verdict} {best[measure]:.4f} of {system}")


def ask_all(folder: Path) -> list[Asked]:
    """Ask every question of one set that has an answer."""
    questions: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in _lines(folder / "queries.jsonl"):
        if each["gold"]:
            questions[each["workspace"]].append(each)
    workspaces = {each["workspace"] for each in _lines(folder / "map.jsonl")}
    return [asked for name in sorted(workspaces) for asked in _ask(folder / name, questions[name])]


def _ask(workspace: Path, questions: list[dict[str, Any]]) -> Iterator[Asked]:
    with machine() as one:
        shutil.copytree(workspace / "memory", one.notes, dirs_exist_ok=True)
        one.start()
        one.settle(len(list(one.notes.glob("*.md"))))
        one.warm()
        for each in questions:
            started = time.perf_counter()
            found = one.answer(each["question"], KEPT)
            ms = (time.perf_counter() - started) * 1000
            yield Asked(each, [_places(hit) for hit in found["results"]], found["ranker"], ms)


def _places(hit: dict[str, Any]) -> set[Place]:
    return {
        (source["file"], line)
        for source in hit["sources"]
        for line in range(source["lines"][0], source["lines"][1] + 1)
    }


def figures_of(asked: list[Asked], gold: str) -> Figures:
    """The means over all questions against `gold`, or against the plain gold where a question has no such."""
    scores = [
        scored(each.results, {(g["file"], g["line"]) for g in each.question.get(gold) or each.question["gold"]})
        for each in asked
    ]
    return {measure: sum(score[measure] for score in scores) / len(scores) for measure in MEASURES}


def scored(results: list[set[Place]], gold: set[Place]) -> Figures:
    """Recall at 5 and 10, the reciprocal rank of the first answer, and nDCG@10 in which each answer counts once.

    A fact with several places covers all of them.
    """
    seen: set[Place] = set()
    new = []
    for places in results:
        new.append(len(places & gold - seen))
        seen |= places & gold
    first = next((rank for rank, count in enumerate(new, 1) if count), 0)
    gain = sum(map(operator.mul, new, _DISCOUNTS))
    best = sum(_DISCOUNTS[: len(gold)])
    return {
        "R@5": sum(new[:5]) / len(gold),
        "R@10": sum(new[:10]) / len(gold),
        "MRR": 1 / first if first else 0.0,
        "nDCG@10": min(1.0, gain / best),
    }


def _baselines(folder: Path, name: str) -> list[tuple[str, dict[str, Figures]]] | None:
    """The figures of the folder's baselines over one set, best first; None where they cannot run."""
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
            return None
        results = json.loads(figures.read_text("utf-8"))
    rows = [
        (f"{system}{' (title)' if set_ != name else ''}", found)
        for set_ in sets
        for system, found in results[set_].items()
    ]
    return sorted(rows, key=lambda row: -row[1][_ALL]["R@5"])


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--no-baselines", action="store_true")
    given = parser.parse_args()
    sys.exit(main(*given.sets, baselines=not given.no_baselines))

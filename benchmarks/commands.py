"""Whole processes of `store` and `retrieve` as memory grows, then consolidation and import of all of it.

python benchmarks/commands.py [--facts 100000]
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import islice

from machine import Machine, Peak, machine
from notes import BLOCKS_A_NOTE, make_notes
from table import Measure, median, show

_RUNS = 15
_GROWTH = 20
_STATUS_MS = 200


def main(facts: int = 100_000) -> None:
    """Measure at a thousandth, a tenth and all of `facts`, and print."""
    with machine() as one:
        notes = make_notes(facts // BLOCKS_A_NOTE)
        one.start()
        written, times = 0, {}
        for size in (facts // 1000, facts // 10, facts):
            for note in islice(notes, size // BLOCKS_A_NOTE - written):
                (one.notes / note.file).write_text(note.text, "utf-8")
            written = size // BLOCKS_A_NOTE
            one.settle(written)
            times[size] = _store(one, size), _retrieve(one)
        _growth(times)
        _long_work(one, facts)


def _store(one: Machine, size: int) -> float:
    """Milliseconds of the median run; each stores a sentence of its own."""
    words = [f"Measured {size} facts at {time.time_ns()} in run {number}" for number in range(_RUNS)]
    return median([one.run("store", "--text", text, "--category", "bench", "--json")[0] * 1000 for text in words])


def _retrieve(one: Machine) -> float:
    return median([one.run("retrieve", "--query", "server migration", "--json")[0] * 1000 for _ in range(_RUNS)])


def _growth(times: dict[int, tuple[float, float]]) -> None:
    bare = f"{median([_bare() for _ in range(_RUNS)]):.0f} bare python"
    first, *later = times
    measures = []
    for place, command in enumerate(("store", "retrieve")):
        least = times[first][place]
        measures.append(Measure(f"memoryd {command} at {first:,}, ms", f"{least:.0f}", floor=bare))
        for size in later:
            spent = times[size][place]
            percent = (spent / least - 1) * 100
            shown = f"{spent:.0f} ({percent:+.0f} %)"
            measures.append(
                Measure(f"memoryd {command} at {size:,}, ms", shown, f"+{_GROWTH} %", percent <= _GROWTH, bare)
            )
    show(f"Whole processes beside a daemon, median of {_RUNS}", measures)


def _bare() -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return (time.perf_counter() - started) * 1000


def _long_work(one: Machine, facts: int) -> None:
    """Work that walks through all of memory, while somebody asks for `status` twice a second."""
    folder = one.root / "export"
    measures = [
        *_watched(one, "consolidate --mode daily", lambda: one.run("consolidate", "--mode", "daily", "--json")),
        *_watched(one, "consolidate --mode full", lambda: one.run("consolidate", "--mode", "full", "--json")),
        *_watched(one, "export", lambda: one.run("export", "--output", str(folder), "--json")),
    ]
    file, replies = str(folder / "memory.json"), []
    measures += _watched(
        one, "import for another agent",
        lambda: replies.append(one.run("import", "--file", file, "--agent-id", "other", "--json")[1]),
    )  # fmt: skip
    show(f"Work on all of {facts:,} facts; {json.loads(replies[0])['facts']:,} of them imported", measures)


def _watched(one: Machine, what: str, work: Callable[[], object]) -> list[Measure]:
    """Seconds, CPU seconds of the daemon, and the slowest status meanwhile."""
    peak, before, started = Peak(one, ["server migration"]), one.cpu_s(), time.monotonic()
    peak.start()
    try:
        work()
    finally:
        peak.stop()
    spent, slowest = time.monotonic() - started, peak.slowest_status_ms
    return [
        Measure(f"{what}, s", f"{spent:.1f}", floor=f"{one.cpu_s() - before:.1f} CPU"),
        Measure("  slowest status meanwhile, ms", f"{slowest:.0f}", str(_STATUS_MS), slowest <= _STATUS_MS),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=100_000)
    main(parser.parse_args().facts)

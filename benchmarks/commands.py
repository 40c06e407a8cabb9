"""Whole processes of `store` and `retrieve` as memory grows, then consolidation and import of all of it.

python benchmarks/commands.py [--facts 100000]
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

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
        written, store, retrieve = 0, {}, {}
        for size in (max(BLOCKS_A_NOTE, facts // 1000), facts // 10, facts):
            for note in islice(notes, size // BLOCKS_A_NOTE - written):
                (one.notes / note.file).write_text(note.text, "utf-8")
            written = size // BLOCKS_A_NOTE
            one.settle(written)
            store[size] = _timed(one, lambda: ("store", "--text", f"Noted at {time.time_ns()}", "--category", "bench"))
            retrieve[size] = _timed(one, lambda: ("retrieve", "--query", "server migration"))
        bare = f"{median([_bare() for _ in range(_RUNS)]):.0f} bare python"
        show(
            f"Whole processes beside a daemon, median of {_RUNS}",
            [*_growth("store", store, bare), *_growth("retrieve", retrieve, bare)],
        )
        _long_work(one, facts)


class _Cost(NamedTuple):
    """Of one command: milliseconds of the whole process, and CPU milliseconds that it took the daemon."""

    whole: float
    daemon: float


def _timed(one: Machine, command: Callable[[], Sequence[str]]) -> _Cost:
    """The median of some runs; the first, which may find a cold cache, does not count."""
    one.run(*command(), "--json")
    before = one.cpu_s()
    whole = median([one.run(*command(), "--json")[0] * 1000 for _ in range(_RUNS)])
    return _Cost(whole, (one.cpu_s() - before) / _RUNS * 1000)


def _growth(command: str, costs: dict[int, _Cost], bare: str) -> Iterator[Measure]:
    first, *later = costs
    least = costs[first]
    yield Measure(f"{command} at {first:,} facts, ms", f"{least.whole:.0f}", "", None, bare)
    yield Measure("  CPU of the daemon, ms", f"{least.daemon:.0f}")
    for size in later:
        percent = (costs[size].whole / least.whole - 1) * 100
        shown = f"{costs[size].whole:.0f} ({percent:+.0f} %)"
        yield Measure(f"{command} at {size:,} facts, ms", shown, f"+{_GROWTH} %", percent <= _GROWTH, bare)
        yield Measure("  CPU of the daemon, ms", f"{costs[size].daemon:.0f}")


def _bare() -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return (time.perf_counter() - started) * 1000


def _long_work(one: Machine, facts: int) -> None:
    """Work that walks through all of memory, while somebody asks for `status` twice a second."""
    replies: dict[str, str] = {}

    def run(*arguments: str) -> list[Measure]:
        def work() -> None:
            replies[arguments[0]] = one.run(*arguments, "--json")[1]

        return _watched(one, " ".join(arguments[:3] if arguments[0] == "consolidate" else arguments[:1]), work)

    measures = [*run("consolidate", "--mode", "daily"), *run("consolidate", "--mode", "full")]
    measures += run("export", "--output", str(one.root / "export"))
    file = json.loads(replies["export"])["files"][0]
    measures += run("import", "--file", file, "--agent-id", "other")
    show(
        f"Work on all of {facts:,} facts; {json.loads(replies['import'])['facts']:,} imported for another agent",
        measures,
    )


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

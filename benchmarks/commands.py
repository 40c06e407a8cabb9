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
from table import Measure, lower_quartile, show

_RUNS = 40
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
        show(
            f"Whole processes beside a daemon, lower quartile of {_RUNS}",
            [*_growth("store", store), *_growth("retrieve", retrieve)],
        )
        _long_work(one, facts)


class _Cost(NamedTuple):
    """Of one command, in milliseconds: the whole process, a bare Python beside it, and CPU that it took the daemon."""

    whole: float
    bare: float
    daemon: float


def _timed(one: Machine, command: Callable[[], Sequence[str]]) -> _Cost:
    """Lower quartiles of some runs; the first, which may find a cold cache, does not count.

    Each run has a bare Python's beside it: what other work on the machine adds to a process of a tenth of a
    second is more than the growth that is looked for, and adds to both.
    """
    one.run(*command(), "--json")
    before = one.cpu_s()
    times = [(one.run(*command(), "--json")[0] * 1000, _bare()) for _ in range(_RUNS)]
    whole, bare = map(lower_quartile, zip(*times, strict=True))
    return _Cost(whole, bare, (one.cpu_s() - before) / _RUNS * 1000)


def _growth(command: str, costs: dict[int, _Cost]) -> Iterator[Measure]:
    """Growth is that of the ratio to the bare Python of the same moment."""
    least = next(iter(costs.values()))
    for size, cost in costs.items():
        percent = (cost.whole / cost.bare / (least.whole / least.bare) - 1) * 100
        shown, limit, within = f"{cost.whole:.0f}", "", None
        if cost is not least:
            shown, limit, within = f"{cost.whole:.0f} ({percent:+.0f} %)", f"+{_GROWTH} %", percent <= _GROWTH
        yield Measure(f"{command} at {size:,} facts, ms", shown, limit, within, f"{cost.bare:.0f} bare python")
        yield Measure("  CPU of the daemon, ms", f"{cost.daemon:.0f}")


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

"""First scan of many notes by the real daemon, then questions to it through the socket.

python benchmarks/scan.py [--notes 10000]
"""

import argparse
import time
from pathlib import Path

from machine import Machine, Peak, machine
from markdown_it import MarkdownIt
from notes import Needle, write_notes
from table import Measure, median, p95, show

_QUESTIONS = 200


def main(notes: int = 10_000) -> None:
    """Measure and print."""
    with machine() as one:
        needles = write_notes(one.notes, notes)
        floor = _parse_all(one.notes)
        peak = Peak(one, [needle.question for needle in needles])
        started = time.monotonic()
        one.start()
        peak.start()
        one.settle(notes)
        spent = time.monotonic() - started
        peak.stop()
        blocks = sum(one.status()["agents"]["default"]["facts"].values())
        cpu = one.cpu_s()
        show(
            f"First scan, {notes} notes, {_megabytes(one.notes):.0f} MB",
            [
                Measure(
                    "seconds", f"{spent:.1f}", "90 at 10,000", spent <= 90 * notes / 10_000, f"{floor:.1f} parse alone"
                ),
                Measure("facts a second", f"{blocks / spent:.0f}", "", None, f"{blocks / floor:.0f} parse alone"),
                Measure("CPU seconds of all processes", f"{cpu:.1f}"),
                Measure("peak PSS, MB", f"{peak.mb:.0f}", "300", peak.mb <= 300),
                Measure(
                    "slowest status meanwhile, ms",
                    f"{peak.slowest_status_ms:.0f}",
                    "200",
                    peak.slowest_status_ms <= 200,
                ),
                Measure(
                    "slowest search meanwhile, ms",
                    f"{peak.slowest_search_ms:.0f}",
                    "200",
                    peak.slowest_search_ms <= 200,
                    f"p95 {p95(peak.searches_ms):.0f}",
                ),
            ],
        )
        _ask(one, needles)
        _start_again(one, notes)


def _ask(one: Machine, needles: list[Needle]) -> None:
    facts = sum(one.status()["agents"]["default"]["facts"].values())
    questions = [needle.question for needle in needles] * (1 + _QUESTIONS // max(len(needles), 1))
    times, pings, found = [], [], 0
    for question in questions[:_QUESTIONS]:
        started = time.perf_counter()
        one.retrieve(question)
        times.append((time.perf_counter() - started) * 1000)
        started = time.perf_counter()
        one.ask("GET", "/v1/health")
        pings.append((time.perf_counter() - started) * 1000)
    for needle in needles:
        found += any(needle.mark in hit["text"] for hit in one.retrieve(needle.question))
    show(
        f"Search through the socket, {facts} facts",
        [
            Measure("p50, ms", f"{median(times):.1f}", "8", median(times) <= 8, f"{median(pings):.1f} /v1/health"),
            Measure("p95, ms", f"{p95(times):.1f}", "30", p95(times) <= 30, f"{p95(pings):.1f} /v1/health"),
            Measure("needles in the top 5", f"{found} of {len(needles)}", "all", found == len(needles)),
        ],
    )


def _start_again(one: Machine, notes: int) -> None:
    one.stop()
    ready = one.start()
    rescan = one.settle(notes)
    show(
        f"Start with {notes} known notes",
        [
            Measure("until it answers, s", f"{ready:.2f}", "1", ready <= 1),
            Measure("first rescan, s", f"{rescan:.1f}", "5", rescan <= 5),
        ],
    )


def _parse_all(folder: Path) -> float:
    parser = MarkdownIt("commonmark")
    started = time.monotonic()
    for file in folder.iterdir():
        parser.parse(file.read_text("utf-8"))
    return time.monotonic() - started


def _megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.iterdir()) / 1e6


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=10_000)
    main(parser.parse_args().notes)

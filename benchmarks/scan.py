"""First scan of many notes by the real daemon, then questions to it through the socket.

    python benchmarks/scan.py [--notes 10000] [--idle-s 660]

With `--idle-s` it then leaves the daemon alone for so long, and says what memory it holds afterwards: the language
process ends after ten minutes without a Chinese question.
"""

import argparse
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from machine import Machine, Peak, machine
from markdown_it import MarkdownIt
from memoryd.clock import Clock
from memoryd.search import query_tokens
from memoryd.store import Store
from notes import Needle, write_notes
from table import Measure, median, p95, show

_QUESTIONS = 200


def main(notes: int = 10_000, idle_s: float = 0) -> None:
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
        _ask(one, needles, idle_s)
        _start_again(one, notes)


def _ask(one: Machine, needles: list[Needle], idle_s: float) -> None:
    facts = sum(one.status()["agents"]["default"]["facts"].values())
    questions = ([needle.question for needle in needles] * (1 + _QUESTIONS // max(len(needles), 1)))[:_QUESTIONS]
    before = one.pss_mb()
    one.warm()
    cpu = one.cpu_s()
    times = [_timed(lambda asked=question: one.retrieve(asked)) for question in questions]
    cpu = (one.cpu_s() - cpu) * 1000 / len(questions)
    answers = [one.answer(needle.question) for needle in needles]
    found = sum(any(needle.mark in hit["text"] for hit in answer["results"])
                for needle, answer in zip(needles, answers, strict=True))  # fmt: skip
    full = sum(answer["ranker"] == "full" for answer in answers)
    during = one.pss_mb()
    urls = [_timed(lambda piece=n: one.ask("POST", "/v1/search-url", {"url": f"e.org/{piece:x}"})) for n in range(100)]
    pings = [_timed(lambda: one.ask("GET", "/v1/health")) for _ in questions]
    raw, size = _raw(one, questions)
    show(
        f"Search through the socket, {facts} facts",
        [
            Measure("p50, ms", f"{median(times):.1f}", "8", median(times) <= 8, _floors(median, pings, raw)),
            Measure("p95, ms", f"{p95(times):.1f}", "30", p95(times) <= 30, _floors(p95, pings, raw)),
            Measure("CPU of all processes a question, ms", f"{cpu:.1f}"),
            Measure("search-url, p95, ms", f"{p95(urls):.1f}", "10", p95(urls) <= 10, f"{p95(pings):.1f} /v1/health"),
            Measure("needles in the top 5", f"{found} of {len(needles)}", "all", found == len(needles)),
            Measure("  of them ordered by cosine too", f"{full} of {len(needles)}"),
            Measure("index, MB", f"{size:.0f}", floor=f"{_megabytes(one.notes):.0f} notes"),
            Measure("PSS before the first question, MB", f"{before:.0f}"),
            Measure("PSS meanwhile, MB", f"{during:.0f}"),
        ],
    )
    if idle_s:
        time.sleep(idle_s)
        show("At rest", [Measure(f"PSS {idle_s:.0f} s after the last question, MB", f"{one.pss_mb():.0f}")])


def _timed(ask: Callable[[], object]) -> float:
    started = time.perf_counter()
    ask()
    return (time.perf_counter() - started) * 1000


def _floors(of: Callable[[list[float]], float], pings: list[float], raw: list[float]) -> str:
    return f"{of(pings):.1f} /v1/health, {of(raw):.1f} raw FTS5, all words OR"


def _raw(one: Machine, questions: list[str]) -> tuple[list[float], float]:
    """What FTS5 alone takes for the same questions over the same rows [ms], and the size of its tables [MB]."""
    (file,) = one.root.glob("state/**/memory.db")
    for each in file.parent.glob("memory.db*"):
        shutil.copy(each, one.root)  # the daemon goes on meanwhile
    store = Store.open(one.root / file.name, Clock())
    sql = "SELECT rowid FROM search_index WHERE search_index MATCH ? ORDER BY rank LIMIT 5"
    times = []
    for question in questions:
        words = " OR ".join('"{}"'.format(term.text.replace('"', '""')) for term in query_tokens(question).terms)
        times.append(_timed(lambda asked=words: store.execute(sql, (asked,))))
    tables = "'search_index_data', 'search_index_content', 'search_index_docsize', 'search_index_idx'"
    ((size,),) = store.execute(f"SELECT sum(pgsize) FROM dbstat WHERE name IN ({tables})")
    store.close()
    return times, float(size or 0) / 1e6


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
    parser.add_argument("--idle-s", type=float, default=0)
    asked = parser.parse_args()
    main(asked.notes, asked.idle_s)

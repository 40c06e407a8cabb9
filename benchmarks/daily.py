"""What a day with memoryd costs: saving, idling, and the commands a person waits for.

python benchmarks/daily.py [--notes 5000] [--saves 50] [--idle-s 60]
"""

import argparse
import random
import subprocess
import sys
import time
from datetime import UTC, datetime

from machine import Machine, machine, wait_for
from notes import write_notes
from table import Measure, median, p95, show

_RUNS = 15
_DEBOUNCE_MS = 300


def main(notes: int = 5_000, saves: int = 50, idle_s: float = 60) -> None:
    """Measure and print."""
    with machine() as one:
        write_notes(one.notes, notes, chinese=0)
        one.start()
        one.settle(notes)
        _commands(one)
        _saves(one, saves)
        # Work that follows the last save is done before idling begins.
        time.sleep(min(idle_s, 10))
        _idle(one, notes, idle_s)


def _saves(one: Machine, saves: int) -> None:
    today = datetime.now(UTC).date().isoformat()
    file, chance, times = one.notes / f"{today}.md", random.Random(3), []
    file.write_text("# Today\n\n", "utf-8")
    for number in range(saves):
        word = f"saved{number}x{chance.randrange(10**6)}"
        time.sleep(chance.uniform(0.4, 0.8))
        with file.open("a", encoding="utf-8") as note:
            note.write(f"- remember {word} for tomorrow\n")
        saved = time.perf_counter()
        wait_for(lambda word=word: _finds(one, word), 20, "the saved line is found", pause_s=0.01)
        times.append((time.perf_counter() - saved) * 1000)
    show(
        f"Saved to searchable, {saves} saves",
        [
            Measure("p50, ms", f"{median(times):.0f}", "450", median(times) <= 450, f"{_DEBOUNCE_MS} debounce"),
            Measure("p95, ms", f"{p95(times):.0f}", "1000", p95(times) <= 1000, f"{_DEBOUNCE_MS} debounce"),
        ],
    )


def _finds(one: Machine, word: str) -> bool:
    return any(word in hit["text"] for hit in one.retrieve(word, 1))


def _idle(one: Machine, notes: int, idle_s: float) -> None:
    before = one.cpu_s()
    time.sleep(idle_s)
    percent = (one.cpu_s() - before) / idle_s * 100
    rss, bare = one.rss_mb(), _bare_rss_mb()
    show(
        f"Idle for {idle_s:.0f} s, {notes} notes",
        [
            Measure("CPU, % of one core", f"{percent:.2f}", "0.2", percent <= 0.2),
            Measure("RSS, MB", f"{rss:.0f}", "80", rss <= 80, f"{bare:.0f} bare watchdog process"),
        ],
    )


def _commands(one: Machine) -> None:
    bare = _times([sys.executable, "-c", "pass"])
    status = [one.run("status", "--json")[0] * 1000 for _ in range(_RUNS)]
    retrieve = [one.run("retrieve", "--query", "server migration", "--json")[0] * 1000 for _ in range(_RUNS)]
    floor = f"{median(bare):.0f} bare python"
    show(
        f"Whole processes, median of {_RUNS}",
        [
            Measure("memoryd status, ms", f"{median(status):.0f}", "120", median(status) <= 120, floor),
            Measure("memoryd retrieve, ms", f"{median(retrieve):.0f}", "150", median(retrieve) <= 150, floor),
        ],
    )


def _times(command: list[str]) -> list[float]:
    spent = []
    for _ in range(_RUNS):
        started = time.perf_counter()
        subprocess.run(command, check=True)
        spent.append((time.perf_counter() - started) * 1000)
    return spent


def _bare_rss_mb() -> float:
    code = (
        "import asyncio, re, watchdog.observers as w\n"
        "o = w.Observer(); o.start()\n"
        "print(re.search(r'VmRSS:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
        "o.stop()"
    )
    return int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout) / 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=5_000)
    parser.add_argument("--saves", type=int, default=50)
    parser.add_argument("--idle-s", type=float, default=60)
    asked = parser.parse_args()
    main(asked.notes, asked.saves, asked.idle_s)

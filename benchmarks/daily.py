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
from styles import STYLES, Style
from table import Measure, median, p95, show

_RUNS = 15
_FLOOR = "300 debounce"
_SETTLED_S = 150
"""So long after a start everything is done that was missed while the daemon was off [s]."""


def main(notes: int = 5_000, saves: int = 50, idle_s: float = 60) -> None:
    """Measure and print."""
    with machine() as one:
        write_notes(one.notes, notes, chinese=0)
        one.start()
        one.settle(notes)
        _commands(one)
        _saves(one, saves)
        _made_up(one)
        _idle(one, notes, idle_s)


def _saves(one: Machine, saves: int) -> None:
    chance, times = random.Random(3), {}
    for style, save in STYLES.items():
        times[style] = _saves_in(one, save, max(1, saves // len(STYLES)), chance)
    show(
        f"Saved to searchable, {saves} saves",
        [
            measure
            for style, each in times.items()
            for measure in (
                Measure(f"{style}: p50, ms", f"{median(each):.0f}", "450", median(each) <= 450, _FLOOR),
                Measure(f"{style}: p95, ms", f"{p95(each):.0f}", "1000", p95(each) <= 1000, _FLOOR),
                Measure(f"{style}: max, ms", f"{max(each):.0f}"),
            )
        ],
    )


def _saves_in(one: Machine, save: Style, saves: int, chance: random.Random) -> list[float]:
    file = one.notes / f"{datetime.now(UTC).date().isoformat()}.md"
    text, times = "# Today\n\n", []
    for _ in range(saves):
        word = f"saved{len(times)}x{chance.randrange(10**9)}"
        text += f"- remember {word} for tomorrow\n"
        time.sleep(chance.uniform(0.4, 0.8))
        save(file, text)
        saved = time.perf_counter()
        wait_for(lambda word=word: _finds(one, word), 20, "the saved line is found", pause_s=0.01)
        times.append((time.perf_counter() - saved) * 1000)
    return times


def _finds(one: Machine, word: str) -> bool:
    return any(word in hit["text"] for hit in one.retrieve(word, 1))


def _made_up(one: Machine) -> None:
    """What the first consolidation of a new memory costs, two minutes after the start; it is done once."""
    time.sleep(10)  # work that follows the last save
    before, left = one.cpu_s(), _SETTLED_S - one.status()["uptime_s"]
    if left > 0:
        time.sleep(left)
        show("Made up once after the first start", [Measure("CPU, s", f"{one.cpu_s() - before:.2f}")])


def _idle(one: Machine, notes: int, idle_s: float) -> None:
    cpu, wakeups = one.cpu_s(), one.wakeups()
    time.sleep(idle_s)
    percent, a_second = (one.cpu_s() - cpu) / idle_s * 100, (one.wakeups() - wakeups) / idle_s
    rss, bare = one.rss_mb(), _bare_rss_mb()
    show(
        f"Idle for {idle_s:.0f} s, {notes} notes",
        [
            Measure("CPU, % of one core", f"{percent:.3f}", "0.2", percent <= 0.2),
            Measure("wake-ups a second, all threads", f"{a_second:.2f}", "2", a_second < 2),
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

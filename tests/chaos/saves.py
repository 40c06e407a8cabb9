"""Many saves in all editor styles while the notes' folder and the workspace are removed, moved and made again.

    python tests/chaos/saves.py --saves 10000 --minutes 20 --seed 1

Each save holds a word of its own, and the time until that word is found is measured. Fails when one takes longer
than 5 s (15 s around a replacement of the folder), when memory or descriptors grow, when the log says more than
one line a re-arm, or when anything is still pending or held at the end (WA-2). Prints figures as JSON.
"""

import argparse
import json
import random
import re
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from editors import sentence
from machine import Machine, wait_for
from styles import STYLES
from table import median, p95

LIMIT_S = 5.0
REPLACED_LIMIT_S = 15.0
GIVEN_UP_S = 120.0
DESCRIPTORS = 100
GROWTH = 1.1
"""How much more memory the last quarter may take than the second one, in a run of some minutes."""
SAMPLES = 60
KEPT = 25
"""Lines a note keeps; what was saved before is found meanwhile."""
MISSING = 4
"""Words of one round that may be missing before the next one begins: asking must not be what takes the time."""
SHOWN = 20


class Save(NamedTuple):
    """One save: its word, the style, and when it was done (monotonic)."""

    word: str
    style: str
    at: float


class Replacement(NamedTuple):
    """One replacement of a folder."""

    kind: str
    begun: float
    done: float


class Soak:
    """One run."""

    def __init__(self, machine: Machine, options: argparse.Namespace) -> None:
        self.machine, self.options = machine, options
        self.chance = random.Random(options.seed)
        self.workspace = machine.notes.parent
        self.lines: dict[str, list[str]] = {f"2026-03-{n + 1:02}.md": ["# A day"] for n in range(options.notes)}
        self.replacements: list[Replacement] = []
        self.waiting: list[Save] = []
        self.latencies: dict[str, list[float]] = {style: [] for style in STYLES}
        self.replaced: list[float] = []
        self.asked: list[float] = []
        self.late: list[str] = []
        self.rss: list[float] = []
        self.descriptors = 0
        self._saved = threading.Event()

    def run(self) -> dict[str, Any]:
        """Everything; returns the figures."""
        for name in self.lines:
            (self.machine.notes / name).write_text(self.text(name), "utf-8")
        self.machine.start()
        self.machine.settle(len(self.lines))
        finder, observer = threading.Thread(target=self.find), threading.Thread(target=self.observe)
        for thread in (finder, observer):
            thread.start()
        began = time.monotonic()
        try:
            self.save_all(began)
        finally:
            self._saved.set()
            for thread in (finder, observer):
                thread.join()
        wait_for(lambda: self.machine.status()["pending"] == 0, 60, "nothing is pending")
        status = self.machine.status()
        self.machine.stop()
        return self.figures(status, time.monotonic() - began)

    def save_all(self, began: float) -> None:
        """Save at an even pace; after each `every`-th save, replace a folder."""
        pace = self.options.minutes * 60 / self.options.saves
        every = max(1, self.options.saves // self.options.replacements)
        kinds = [self.remake, self.swap, self.move_away_and_back, self.swap_workspace]
        for number in range(self.options.saves):
            time.sleep(max(0.0, began + number * pace - time.monotonic()))
            self.save(number)
            if number % every == every // 2:
                self.replace(kinds[len(self.replacements) % len(kinds)])

    def save(self, number: int) -> None:
        name, style = self.chance.choice(list(self.lines)), self.chance.choice(list(STYLES))
        word = f"saved{number}x{self.chance.randrange(10**6)}"
        lines = self.lines[name]
        lines.append(f"- {word} {sentence(self.chance)}")
        if style != "append":
            del lines[1:-KEPT]
        STYLES[style](self.machine.notes / name, self.text(name))
        self.waiting.append(Save(word, style, time.monotonic()))

    def text(self, name: str) -> str:
        return "\n".join(self.lines[name]) + "\n"

    # ---- replacing folders ------------------------------------------------------------------------------

    def replace(self, how: Callable[[], None]) -> None:
        begun = time.monotonic()
        how()
        self.replacements.append(Replacement(how.__name__, begun, time.monotonic()))

    def remake(self) -> None:
        """The folder is deleted and made again after a while, with its notes."""
        shutil.rmtree(self.machine.notes)
        time.sleep(self.chance.uniform(0.0, 4.0))
        self.machine.notes.mkdir()
        for name in self.lines:
            (self.machine.notes / name).write_text(self.text(name), "utf-8")

    def swap(self) -> None:
        """A copy takes the folder's place at once."""
        self.exchange(self.machine.notes)

    def move_away_and_back(self) -> None:
        """The folder itself goes and comes back: the same inode."""
        aside = self.machine.root / "aside"
        self.machine.notes.rename(aside)
        time.sleep(self.chance.uniform(0.0, 7.0))
        aside.rename(self.machine.notes)

    def swap_workspace(self) -> None:
        """A copy takes the place of the whole workspace."""
        self.exchange(self.workspace)

    def exchange(self, folder: Path) -> None:
        copy, old = self.machine.root / "copy", self.machine.root / "old"
        shutil.copytree(folder, copy)
        folder.rename(old)
        copy.rename(folder)
        shutil.rmtree(old)

    # ---- looking ----------------------------------------------------------------------------------------

    def find(self) -> None:
        """Ask for each word until it is found, the oldest first; a few that are missing tell enough of a round."""
        while self.waiting or not self._saved.is_set():
            missing = 0
            for save in list(self.waiting):
                began = time.monotonic()
                hits = self.machine.retrieve(save.word, 1)
                self.asked.append(time.monotonic() - began)
                taken = time.monotonic() - save.at
                if any(save.word in hit["text"] for hit in hits) or taken > GIVEN_UP_S:
                    self.waiting.remove(save)
                    self.judge(save, taken)
                elif (missing := missing + 1) == MISSING:
                    break
            time.sleep(0.05)

    def judge(self, save: Save, taken: float) -> None:
        near = [each for each in self.replacements if each.begun - LIMIT_S < save.at < each.done + REPLACED_LIMIT_S]
        if near:
            self.replaced.append(taken)
            if save.at + taken > max(near[-1].done, save.at) + REPLACED_LIMIT_S:
                self.late.append(f"{save.word} ({save.style}) after {taken:.1f} s, {near[-1].kind}")
            return
        self.latencies[save.style].append(taken)
        if taken > LIMIT_S:
            self.late.append(f"{save.word} ({save.style}) after {taken:.1f} s")

    def observe(self) -> None:
        while not self._saved.wait(2.0):
            self.rss.append(self.machine.rss_mb())
            self.descriptors = max(self.descriptors, self.machine.descriptors())

    def figures(self, status: dict[str, Any], seconds: float) -> dict[str, Any]:
        log = Counter(re.sub(r"^[\d:, -]+|\d+", "", line) for line in self.machine.log().splitlines())
        armed = sum(count for line, count in log.items() if "watcher was set up again" in line)
        quarter = max(1, len(self.rss) // 4)
        early, late = median(self.rss[quarter : 2 * quarter] or [0.0]), median(self.rss[-quarter:] or [0.0])
        faults = {
            "late": len(self.late),
            "memory grows": len(self.rss) >= SAMPLES and late > early * GROWTH,
            "descriptors": self.descriptors >= DESCRIPTORS,
            "more lines than re-arms": armed > 2 * len(self.replacements),
            "not settled": bool(status["pending"] or status["notes"]["quarantined"] or status["state"] != "ok"),
        }
        ordinary = sorted(each for times in self.latencies.values() for each in times)
        return {
            "saves": self.options.saves, "seconds": round(seconds), "replacements": len(self.replacements),
            "ms": {"p50": _ms(median(ordinary)), "p95": _ms(p95(ordinary)), "max": _ms(ordinary[-1])},
            "ms by style": {style: [_ms(median(each)), _ms(p95(each)), _ms(max(each))]
                            for style, each in self.latencies.items() if each},
            "around replacements": {"saves": len(self.replaced), "max": _ms(max(self.replaced, default=0.0))},
            "a question, ms": [_ms(median(self.asked)), _ms(p95(self.asked)), _ms(max(self.asked))],
            "first late": self.late[:SHOWN], "rss": [round(early, 1), round(late, 1)],
            "descriptors": self.descriptors, "re-arms": armed, "log": dict(log.most_common(SHOWN)),
            "faults": [name for name, found in faults.items() if found],
        }  # fmt: skip


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def main() -> int:
    """Run and print the figures; 1 when anything is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saves", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--replacements", type=int, default=40, help="how often a folder is replaced")
    parser.add_argument("--notes", type=int, default=28, help="how many notes there are")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        machine = Machine(Path(folder) / "a")
        try:
            figures = Soak(machine, options).run()
        finally:
            machine.stop()
    sys.stdout.write(json.dumps(figures, ensure_ascii=False, indent=1) + "\n")
    return 1 if figures["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())

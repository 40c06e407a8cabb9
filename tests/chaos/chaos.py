"""Kill -9 at random moments under edits in all editor styles, with a cloud that is frozen, killed and restarted.

    python tests/chaos/chaos.py --kills 500 --seed 1

Afterwards facts, ledger totals, index and cloud must equal those of a clean ingest of the same files, every
stored fact that was acknowledged must be there and every forgotten one gone, and the database must be sound
after each tenth kill. Prints the figures as JSON; exit code 1 when anything differs.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from compare import differences, dump, picture, soundness  # noqa: E402 - found through the path above
from conftest import Sqld, unpacked_sqld  # noqa: E402
from editors import PLANTED, Editor, sentence  # noqa: E402
from machines import Machine, Weather  # noqa: E402

COLUMNS = "agent_id, text, category, importance, access_count, tier, metadata"
SHOWN = 40
"""Differences that are printed."""


class Chaos:
    """One run."""

    def __init__(self, root: Path, sqld: Path, options: argparse.Namespace) -> None:
        self.chance = random.Random(options.seed)
        self.root, self.sqld, self.options = root, sqld, options
        self.workspace = root / "w"
        self.editor = Editor(self.workspace, options.notes, self.chance)
        self.cloud = Sqld(sqld, root / "cloud")
        self.machine = Machine(root / "one", self.workspace, self.cloud)
        self.weather = Weather(self.cloud, self.chance)
        self.edits = 0
        self.acknowledged: list[str] = []
        self.unanswered: list[str] = []
        self.forgotten: set[tuple[str, str]] = set()
        self.unsound: list[str] = []

    def run(self) -> dict[str, Any]:
        """All kills, then the comparison; returns the figures."""
        self.machine.start()  # once in peace, so that there is something to lose
        self.machine.patiently(60, lambda: self.machine.ask("status"), "the first daemon answers")
        self.machine.end(signal.SIGTERM)
        began = time.monotonic()
        for kill in range(self.options.kills):
            self.one_life()
            if kill % 10 == 9:
                self.unsound += soundness(self.machine.database)
        self.weather.clear()
        killed_s = time.monotonic() - began
        self.machine.settle()
        found = dump(self.machine.database) | self.drawn(self.cloud)
        wrong = self.unsound + self.told() + [f"not forgotten: {fact}" for fact in self.forgotten - found["forgotten"]]
        # A forget that was not answered may have happened: what stands forgotten is forgotten in the clean memory too.
        # So may a store have happened: every text has a number of its own.
        said = {text.partition(":")[0] for _, _, text, *_ in found["live facts"] if text.startswith("Stored ")}
        stored = self.acknowledged + [text for text in self.unanswered if text.partition(":")[0] in said]
        wanted = self.clean(stored, found["forgotten"]) | {"forgotten": found["forgotten"]}
        wrong += differences(found, wanted)
        return {
            "kills": self.options.kills, "seed": self.options.seed, "edits": self.edits,
            "stored": len(self.acknowledged), "forgotten": len(self.forgotten), "cloud_changes": self.weather.changes,
            "seconds": round(killed_s, 1),
            "live_facts": len(found["live facts"]), "differences": len(wrong), "first": wrong[:SHOWN],
        }  # fmt: skip

    def told(self) -> list[str]:
        """Lines of the log that hold words of a note or the token."""
        planted = (*PLANTED, *self.machine.environment["TURSO_AUTH_TOKEN"].split("."))
        lines = (self.machine.root / "log").read_text("utf-8", "replace").splitlines()
        return [f"the log tells: {line}" for line in lines if any(word in line for word in planted)]

    def one_life(self) -> None:
        """From a start of the daemon to its kill, at a moment that chance chooses: most of them while it answers."""
        self.machine.start()
        if self.chance.random() < 0.7:
            self.machine.patiently(60, lambda: self.machine.ask("status"), "the daemon answers")
        end = time.monotonic() + self.chance.uniform(0.1, self.options.life)
        while time.monotonic() < end:
            self.editor.edit()
            self.edits += 1
            if self.chance.random() < 0.06:
                self.weather.change()
            if self.chance.random() < 0.1:
                self.store()
            if self.chance.random() < 0.05:
                self.forget()
            time.sleep(self.chance.uniform(0, 0.12))
        self.machine.end(signal.SIGKILL)

    def forget(self) -> None:
        """Forget what some line of a note says."""
        path = self.chance.choice(self.editor.paths)
        agent = "robin" if path.parent.name == "robin" else "default"
        try:
            lines = self.machine.ask("ledger", file=str(path), agent_id=agent)["lines"]
            fact = self.chance.choice([line["fact_id"] for line in lines if line["fact_id"]] or [""])
            if fact:
                self.machine.ask("forget", id=fact, agent_id=agent)
                self.forgotten.add((agent, fact))
        except (OSError, ValueError):
            return  # not known yet, or the daemon is not there: nothing was promised

    def store(self) -> None:
        text = f"Stored {len(self.acknowledged) + len(self.unanswered)}: {sentence(self.chance)}"
        try:
            self.machine.ask("store", text=text, category="chaos", importance=0.6)
        except (OSError, ValueError):
            self.unanswered.append(text)  # nothing was promised
            return
        self.acknowledged.append(text)

    def clean(self, stored: list[str], forgotten: set[tuple[Any, ...]]) -> dict[str, Any]:
        """The same files, taken in once by a memory that was never disturbed."""
        cloud = Sqld(self.sqld, self.root / "clean-cloud")
        try:
            shutil.copytree(self.workspace, self.root / "clean-w")
            machine = Machine(self.root / "two", self.root / "clean-w", cloud)
            machine.start()
            machine.patiently(60, lambda: machine.ask("status"), "the clean daemon answers")
            for text in stored:
                machine.ask("store", text=text, category="chaos", importance=0.6)
            machine.patiently(60, lambda: machine.ask("rescan", limit_s=60), "the clean scan")
            for agent, fact in sorted(forgotten):
                with contextlib.suppress(ValueError):  # no note says it any more
                    machine.ask("forget", limit_s=30, id=fact, agent_id=agent)
            machine.end(signal.SIGTERM)
            machine.settle()
            return dump(machine.database) | self.drawn(cloud)
        finally:
            cloud.stop()

    def drawn(self, cloud: Sqld) -> dict[str, Any]:
        rows = cloud.query(f"SELECT {COLUMNS} FROM cold_memories WHERE tier IN ('hot', 'warm', 'cold', 'frozen')")
        return picture(rows, cloud.query("SELECT agent_id, data FROM critical_state"))

    def close(self) -> None:
        self.weather.clear()
        self.cloud.stop()
        if self.machine.daemon is not None and self.machine.daemon.poll() is None:
            self.machine.daemon.kill()
            self.machine.daemon.wait()


def main() -> int:
    """Run, print the figures, and keep the folder when something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="how often the daemon is killed")
    parser.add_argument("--seed", type=int, default=1, help="of everything that is random here")
    parser.add_argument("--notes", type=int, default=30, help="how many notes there are")
    parser.add_argument("--life", type=float, default=2.5, help="longest life of a daemon in seconds")
    parser.add_argument("--keep", action="store_true", help="leave the folder for a look")
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="chaos-"))
    given = os.environ.get("SQLD_BIN")
    chaos = Chaos(root, Path(given) if given else unpacked_sqld(root / "cache"), options)
    try:
        figures = chaos.run()
    finally:
        chaos.close()
    if figures["differences"] or options.keep:
        figures["folder"] = str(root)
    else:
        shutil.rmtree(root)
    sys.stdout.write(json.dumps(figures, ensure_ascii=False, indent=1) + "\n")
    return 1 if figures["differences"] else 0


if __name__ == "__main__":
    sys.exit(main())

"""Two daemons share one cloud for a long time: 3 edits a second, and a server that is killed or frozen every 30 s.

    python tests/chaos/two_devices.py --minutes 60 --seed 1

At the end both must have one memory hash and the same rows and derived values, nothing acknowledged may be missing
and nothing forgotten be back; memory (RSS) must have stayed within 10 % since the warm-up, threads and descriptors
must not have grown, and no log in the cloud may be longer than `cloud.keep_ratio` times its live rows. Prints the
figures as JSON; exit code 1 when anything is wrong. Linux only: the costs are read from /proc.
"""

import argparse
import json
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from compare import differences, shared, soundness  # noqa: E402 - found through the path above
from conftest import Sqld, unpacked_sqld  # noqa: E402
from editors import Editor, sentence  # noqa: E402
from machines import Machine, Weather  # noqa: E402
from memoryd.clock import Clock  # noqa: E402
from memoryd.config import CloudSettings  # noqa: E402
from memoryd.store import Store  # noqa: E402
from memoryd.store.log import count_live  # noqa: E402

EDITS_PER_S = 3.0
STRIKE_EVERY_S = 30.0
SAMPLE_EVERY_S = 5.0
WARM_UP = 0.25
"""The part of a run that is not looked at: dictionaries and caches fill."""
REQUEST_LIMIT_S = 30.0
"""A request that takes longer has failed; what is usual stands in the figures."""
SPARE_HANDLES = 2
"""Threads or descriptors that may come and go, e.g. one more connection at the moment of a look."""
SHOWN = 40


class Sample(NamedTuple):
    """What a daemon costs at one moment; `rss` in MB."""

    rss: float
    threads: int
    descriptors: int


class Device:
    """One machine, the person who edits its notes, and what it cost."""

    def __init__(self, root: Path, cloud: Sqld, notes: int, chance: random.Random) -> None:
        self.machine = Machine(root, root / "w", cloud)
        self.editor = Editor(root / "w", notes, chance)
        self.samples: list[Sample] = []

    def look(self) -> None:
        """Add a sample."""
        assert self.machine.daemon is not None
        proc = Path("/proc") / str(self.machine.daemon.pid)
        fields = dict(line.partition(":")[::2] for line in (proc / "status").read_text().splitlines())
        self.samples.append(
            Sample(
                int(fields["VmRSS"].split()[0]) / 1024, int(fields["Threads"]), sum(1 for _ in (proc / "fd").iterdir())
            )
        )

    def sync_state(self) -> dict[str, Any]:
        """The field `sync` of its status."""
        found: dict[str, Any] = self.machine.ask("status", limit_s=10)["sync"]
        return found


class Soak:
    """One run."""

    def __init__(self, root: Path, sqld: Path, options: argparse.Namespace) -> None:
        self.chance = random.Random(options.seed)
        self.seconds = options.minutes * 60
        self.cloud = Sqld(sqld, root / "cloud")
        self.weather = Weather(self.cloud, self.chance)
        self.devices = [Device(root / name, self.cloud, options.notes, self.chance) for name in ("one", "two")]
        self.edits = 0
        self.stored: set[str] = set()
        self.forgotten: set[str] = set()
        self.slowest_s = 0.0
        self.wrong: list[str] = []
        self.forget_until = 0.0
        """Later nothing is forgotten: that would write a log anew before it grows long."""

    def run(self) -> dict[str, Any]:
        """Edit under bad weather, let both come to rest, compare; returns the figures."""
        for device in self.devices:
            device.machine.start()
            device.machine.patiently(60, lambda d=device: d.machine.ask("status"), "the daemon answers")
        self.live()
        self.weather.clear()
        began = time.monotonic()
        memory_hash = self.come_to_rest()
        rest_s = time.monotonic() - began
        for device in self.devices:
            if device.machine.end(signal.SIGTERM) != 0:
                self.wrong.append("a daemon did not stop cleanly")
        held = [self.held(device) for device in self.devices]
        costs = {device.machine.root.name: self.cost(device) for device in self.devices}
        self.wrong += differences(held[0], held[1])
        logs = self.logs()
        self.what_was_promised(held[0])
        return {
            "minutes": self.seconds / 60, "edits": self.edits, "stored": len(self.stored),
            "forgotten": len(self.forgotten), "cloud_changes": self.weather.changes,
            "seconds_to_rest": round(rest_s, 1), "slowest_request_s": round(self.slowest_s, 2),
            "memory_hash": memory_hash, "facts": len(held[0]["facts"]), "mentions": len(held[0]["mentions"]),
            "costs": costs, "logs": logs, "wrong": len(self.wrong), "first": self.wrong[:SHOWN],
        }  # fmt: skip

    # ---- the time of the edits ---------------------------------------------------------------------------

    def live(self) -> None:
        """Edit, store, forget and ask, while the server goes and comes."""
        began = now = time.monotonic()
        self.forget_until = began + self.seconds / 2
        edit_at, sample_at, strike_at, clear_at = began, began, began + STRIKE_EVERY_S, float("inf")
        while now < began + self.seconds:
            time.sleep(max(0.0, min(edit_at, sample_at, strike_at, clear_at) - now))
            now = time.monotonic()
            if now >= clear_at:
                self.weather.clear()
                clear_at = float("inf")
            if now >= strike_at:
                self.weather.change()
                strike_at, clear_at = now + STRIKE_EVERY_S, now + self.chance.uniform(2, 0.9 * STRIKE_EVERY_S)
            if now >= sample_at:
                for device in self.devices:
                    device.look()
                sample_at = now + SAMPLE_EVERY_S
            if now >= edit_at:
                self.act(self.chance.choice(self.devices))
                edit_at += 1 / EDITS_PER_S

    def act(self, device: Device) -> None:
        """One edit, and now and then something that goes through the socket."""
        device.editor.edit()
        self.edits += 1
        dice = self.chance.random()
        began = time.monotonic()
        try:
            if dice < 0.03:
                text = f"Stored {len(self.stored)}: {sentence(self.chance)}"
                self.stored.add(self.ask(device, "store", text=text, category="soak", importance=0.6)["id"])
            elif dice < 0.035 and began < self.forget_until:
                self.forget(device)
            elif 0.04 < dice < 0.1:
                self.ask(device, "retrieve", query=sentence(self.chance))
        except (OSError, ValueError) as error:
            self.wrong.append(f"a request failed: {error}")
        self.slowest_s = max(self.slowest_s, time.monotonic() - began)

    def ask(self, device: Device, command: str, **fields: Any) -> Any:
        """A reply through the socket."""
        return device.machine.ask(command, limit_s=REQUEST_LIMIT_S, **fields)

    def forget(self, device: Device) -> None:
        """Forget what some line of a note says."""
        path = self.chance.choice([each for each in device.editor.paths if each.parent.name == "memory"])
        if not path.exists():
            return
        lines = self.ask(device, "ledger", file=str(path))["lines"]
        if facts := [line["fact_id"] for line in lines if line["fact_id"] and line["state"] == "fact"]:
            fact = self.chance.choice(facts)
            try:
                self.ask(device, "forget", id=fact)
            except ValueError:
                return  # the note was edited since it was taken in: no such fact
            self.forgotten.add(fact)

    # ---- the end -------------------------------------------------------------------------------------------

    def come_to_rest(self) -> str:
        """Everything taken in, sent and folded by both; returns their common hash."""
        for device in self.devices:
            ask = device.machine.ask
            device.machine.patiently(300, lambda ask=ask: ask("rescan", limit_s=120, confirm_deletes=True), "the scan")

        def agree() -> str:
            for device in self.devices:
                device.machine.ask("sync", limit_s=100, wait=True, timeout=90)
            states = [device.sync_state() for device in self.devices]
            hashes = {state["memory_hash"] for state in states}
            at_rest = all(state["state"] == "ok" and not state["picture_pending"] for state in states)
            return str(hashes.pop()) if at_rest and len(hashes) == 1 and None not in hashes else ""

        found: str = self.devices[0].machine.patiently(300, agree, "both have one memory hash")
        for device in self.devices:
            verified = device.machine.ask("verify", limit_s=120, deep=True)
            self.wrong += [f"verify --deep: {each}" for each in verified["differences"]]
        return found

    def held(self, device: Device) -> dict[str, Any]:
        """Everything that devices have to agree on."""
        self.wrong += soundness(device.machine.database)
        return shared(device.machine.database)

    def what_was_promised(self, held: dict[str, Any]) -> None:
        """What was stored is there, and what was forgotten stays so."""
        facts = {row[1] for row in held["derived"] if row[2] == "live"}
        gone = {row[1] for row in held["forgotten"] if row[2] > row[3]}
        self.wrong += [f"not forgotten: {fact}" for fact in self.forgotten - gone]
        self.wrong += [f"lost: {fact}" for fact in self.stored - facts]

    def cost(self, device: Device) -> dict[str, Any]:
        """What changed between the first and the last part after the warm-up."""
        samples = device.samples[int(len(device.samples) * WARM_UP) :]
        part = max(1, len(samples) // 4)
        first, last = samples[:part], samples[-part:]
        drift = statistics.median(s.rss for s in last) / statistics.median(s.rss for s in first) - 1
        name = device.machine.root.name
        if abs(drift) > 0.1:
            self.wrong.append(f"{name}: RSS changed by {drift:+.0%}")
        for what in ("threads", "descriptors"):
            before, after = (max(getattr(s, what) for s in some) for some in (first, last))
            if after > before + SPARE_HANDLES:
                self.wrong.append(f"{name}: {what} grew from {before} to {after}")
        return {
            "rss_mb": [round(s.rss, 1) for s in device.samples[:: max(1, len(device.samples) // 24)]],
            "rss_drift": round(drift, 4),
            "threads": [max(s.threads for s in first), max(s.threads for s in last)],
            "descriptors": [max(s.descriptors for s in first), max(s.descriptors for s in last)],
        }

    def logs(self) -> dict[str, Any]:
        """Rows of each log in the cloud against its live ones."""
        found: dict[str, Any] = {}
        sizes = self.cloud.query("SELECT device, sum(rows), sum(length(payload)) FROM segments GROUP BY device")
        for device in self.devices:
            with closing(Store.open(device.machine.database, Clock())) as store:
                own, live = store.device, count_live(store)
            rows, size = next((int(row[1] or 0), int(row[2] or 0)) for row in sizes if row[0] == own)
            if rows > CloudSettings().keep_ratio * live:
                self.wrong.append(f"{device.machine.root.name}: the log holds {rows} rows for {live} live ones")
            found[device.machine.root.name] = {
                "rows": rows,
                "live": live,
                "ratio": round(rows / live, 1),
                "bytes": size,
            }
        return found

    def close(self) -> None:
        """End what still runs."""
        self.weather.clear()
        for device in self.devices:
            if device.machine.daemon is not None and device.machine.daemon.poll() is None:
                device.machine.daemon.kill()
                device.machine.daemon.wait()
        self.cloud.stop()


def main() -> int:
    """Run, print the figures, and keep the folder when something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60, help="how long both are edited")
    parser.add_argument("--seed", type=int, default=1, help="of everything that is random here")
    parser.add_argument("--notes", type=int, default=12, help="how many notes each device has")
    parser.add_argument("--keep", action="store_true", help="leave the folder for a look")
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="soak-"))
    given = os.environ.get("SQLD_BIN")
    soak = Soak(root, Path(given) if given else unpacked_sqld(root / "cache"), options)
    try:
        figures = soak.run()
    finally:
        soak.close()
    if figures["wrong"] or options.keep:
        figures["folder"] = str(root)
    else:
        shutil.rmtree(root)
    sys.stdout.write(json.dumps(figures, ensure_ascii=False, indent=1) + "\n")
    return 1 if figures["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())

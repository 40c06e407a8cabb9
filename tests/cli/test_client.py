"""One request over the Unix socket, whatever the daemon does."""

import socket

import pytest
from memoryd.cli.client import Daemon
from memoryd.errors import NoInputError, UnavailableError


def ask(path, command="retrieve", payload=None, **options):
    """Connect and ask."""
    return Daemon.connect(path).ask(command, payload if payload is not None else {"query": "heron"}, **options)


def test_a_reply_comes_back_with_exit_code_and_version(daemon, socket_path):
    """Body, `Memoryd-Exit` and `Memoryd-Version` of a reply are kept."""
    daemon.says({"equal": False}, Memoryd_Exit="1", Memoryd_Version="9.9.9")

    answer = ask(socket_path)

    assert (answer.body, answer.exit_code, answer.version) == (b'{"equal":false}', 1, "9.9.9")
    assert daemon.requests[-1].startswith(b"POST /v1/retrieve HTTP/1.0\r\n")
    assert daemon.body == {"query": "heron"}


def test_status_is_a_get(daemon, socket_path):
    """A status that asks for nothing special has no body."""
    daemon.says({})

    ask(socket_path, "status", {})

    assert daemon.requests[-1].startswith(b"GET /v1/status HTTP/1.0\r\n")


def test_a_workspace_of_any_script_fits_into_its_header(daemon, socket_path):
    """The header is percent-encoded UTF-8."""
    daemon.says({})

    ask(socket_path, workspace="/home/r/笔记 one")

    assert b"Memoryd-Workspace: /home/r/%E7%AC%94%E8%AE%B0%20one\r\n" in daemon.requests[-1]


def test_an_error_reply_becomes_that_error(daemon, socket_path):
    """The daemon's sentence and hint reach the user under their own exit code."""
    daemon.says(NoInputError("No such fact.", "Look again.").as_dict(), status="404 Not Found")

    with pytest.raises(NoInputError, match="No such fact") as raised:
        ask(socket_path)

    assert raised.value.hint == "Look again."


def test_nobody_listens(socket_path, start_daemon):
    """No file, a dead socket and a file in place of the folder all mean: no daemon."""
    assert Daemon.connect(socket_path) is None
    socket_path.parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(socket_path))
    assert Daemon.connect(socket_path) is None
    assert Daemon.connect(socket_path / "below") is None


@pytest.mark.parametrize(
    "reply",
    [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", b"nonsense\r\n\r\n", b"HTTP/1.1 500 Oops\r\n\r\n<html>"],
)
def test_a_broken_reply_is_one_clear_error(daemon, socket_path, reply):
    """A daemon that hangs up early or talks nonsense is unavailable, not a traceback."""
    daemon.reply = reply

    with pytest.raises(UnavailableError):
        ask(socket_path)


def test_a_silent_daemon_is_given_up_on(daemon, socket_path):
    """The wait for an answer ends, and the error says how long it was."""
    daemon.answers = False

    with pytest.raises(UnavailableError, match=r"0\.1 s"):
        ask(socket_path, limit_s=0.1)


def test_progress_is_told_line_by_line(daemon, socket_path):
    """Each progress line is reported, the last line is the reply, the exit code travels in between."""
    reports = []
    daemon.streams({"progress": {"done": 1, "total": 2}}, {"progress": {"exit_code": 1}}, {"equal": False})

    answer = ask(socket_path, "verify", {}, progress=reports.append)

    assert reports == [{"done": 1, "total": 2}]
    assert answer.exit_code == 1
    assert answer.body.strip() == b'{"equal":false}'
    assert b"Accept: application/x-ndjson\r\n" in daemon.requests[-1]


def test_a_stream_may_end_in_an_error(daemon, socket_path):
    """An error as the last line is raised like any other."""
    daemon.streams({"progress": {"done": 1}}, NoInputError("Gone.").as_dict())

    with pytest.raises(NoInputError, match="Gone"):
        ask(socket_path, progress=lambda _: None)


def test_a_stream_that_breaks_off_is_no_success(daemon, socket_path):
    """Progress without a reply means that the daemon ended."""
    daemon.streams({"progress": {"done": 1}})

    with pytest.raises(UnavailableError, match="hung up"):
        ask(socket_path, progress=lambda _: None)

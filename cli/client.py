"""One request to the daemon over its Unix socket.

HTTP/1.0 by hand, because `http.client` alone costs a quarter of what `memoryd status` may take
(README, what it costs): a 1.0 reply is its headers, then everything up to the end of the connection.
"""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from ..errors import AccessError, MemorydError, UnavailableError, error_from_dict

CONNECT_S = 2.0
"""How long the daemon may take to accept [s]."""
STATUS_S = 10.0
ANSWER_S = 120.0
"""How long it may take to answer [s]; a long command sets its own end."""


class Answer(msgspec.Struct):
    """A reply as JSON bytes, the command's exit code, and the version of the daemon that gave it ('' if untold)."""

    body: bytes
    exit_code: int = 0
    version: str = ""


class Daemon:
    """A running daemon, connected."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    @classmethod
    def connect(cls, path: Path, limit_s: float = CONNECT_S) -> "Daemon | None":
        """The daemon that listens at `path`, or None if none does."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(limit_s)
        try:
            connection.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
            connection.close()
            return None
        except PermissionError:
            connection.close()
            raise AccessError(f"The socket {path} belongs to somebody else.", "Use your own --instance.") from None
        except OSError:
            connection.close()
            raise _silent(limit_s) from None
        return cls(connection)

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def ask(
        self,
        command: str,
        payload: dict[str, Any],
        *,
        workspace: str = "",
        limit_s: float | None = ANSWER_S,
        progress: Callable[[dict[str, Any]], None] | None = None,
    ) -> Answer:
        """Perform one operation; raises the daemon's error. Hangs up afterwards."""
        try:
            self._socket.settimeout(limit_s)
            self._socket.sendall(_request(command, payload, workspace, stream=progress is not None))
            with self._socket.makefile("rb") as reply:
                return _answer(reply, progress)
        except TimeoutError:
            raise _silent(limit_s) from None
        except OSError:
            raise _hung_up() from None
        finally:
            self.close()


def _request(command: str, payload: dict[str, Any], workspace: str, *, stream: bool) -> bytes:
    body = b"" if command == "status" and not payload else msgspec.json.encode(payload)
    lines = [
        f"{'POST' if body else 'GET'} /v1/{command} HTTP/1.0",
        "Host: memoryd",
        f"Accept: application/{'x-ndjson' if stream else 'json'}",
    ]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    if workspace:
        from urllib.parse import quote

        lines.append(f"Memoryd-Workspace: {quote(workspace)}")  # headers are ASCII, folders need not be
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body


def _answer(reply: BinaryIO, progress: Callable[[dict[str, Any]], None] | None) -> Answer:
    status = _status(reply.readline())
    headers = _headers(reply)
    answer = Answer(b"", int(headers.get("memoryd-exit", "0")), headers.get("memoryd-version", ""))
    if progress is not None and headers.get("content-type", "").startswith("application/x-ndjson"):
        _follow(reply, progress, answer)
    else:
        answer.body = _whole(reply, headers)
    if status != 200:
        raise _error(answer.body)
    return answer


def _status(line: bytes) -> int:
    words = line.split(None, 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
        raise _hung_up()
    return int(words[1])


def _headers(reply: BinaryIO) -> dict[str, str]:
    found: dict[str, str] = {}
    while (line := reply.readline().strip()) != b"":
        name, _, value = line.decode("latin-1").partition(":")
        found[name.strip().lower()] = value.strip()
    return found


def _whole(reply: BinaryIO, headers: dict[str, str]) -> bytes:
    body = reply.read()
    if len(body) < int(headers.get("content-length", "0")):
        raise _hung_up()
    return body


def _follow(reply: BinaryIO, progress: Callable[[dict[str, Any]], None], answer: Answer) -> None:
    """Show each `{"progress": …}` line; the line that is none is the reply or the error.

    The exit code of a streamed reply comes as `{"progress": {"exit_code": n}}`: its headers are long gone.
    """
    for line in reply:
        found = msgspec.json.decode(line)
        keys = found.keys() if isinstance(found, dict) else set()
        if keys == {"error"}:
            raise error_from_dict(found)
        if keys != {"progress"}:
            answer.body = line
            return
        if found["progress"].keys() == {"exit_code"}:
            answer.exit_code = found["progress"]["exit_code"]
        else:
            progress(found["progress"])
    raise _hung_up()


def _error(body: bytes) -> MemorydError:
    try:
        return error_from_dict(msgspec.json.decode(body))
    except msgspec.DecodeError:
        return error_from_dict(None)


def _silent(limit_s: float | None) -> UnavailableError:
    return UnavailableError(
        f"The daemon does not answer within {limit_s or 0:g} s.",
        "Look at its log, or restart it: memoryd service stop, then start.",
    )


def _hung_up() -> UnavailableError:
    return UnavailableError(
        "The daemon hung up before it had answered.",
        "Ask again; if it ended, start it: memoryd service start, or memoryd run.",
    )

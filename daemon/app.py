"""The socket's web application, generated from the table of operations (docs/cli.md)."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from .. import __version__
from ..errors import (
    ConfigError,
    MemorydError,
    NoInputError,
    TryLaterError,
    UnavailableError,
    UsageError,
    place_of,
)
from ..operations.requests import Request
from ..operations.table import OPERATIONS, Operation, Outcome
from .metrics import prometheus

log = logging.getLogger(__name__)

BODY_LIMIT = 8 * 1024 * 1024
NDJSON = "application/x-ndjson"
_PROGRESS_WAITING = 100
"""Progress lines kept for a client that reads slowly; further ones are dropped."""

Progress = Callable[[dict[str, Any]], None]


class Performer(Protocol):
    """The part of `Memory` that the socket needs."""

    @property
    def workspace(self) -> Path:
        """The workspace this memory belongs to."""

    async def perform(self, operation: Operation, request: Request, progress: Progress | None = None) -> Outcome:
        """Perform one operation."""


def create_app(memory: Performer, operations: Mapping[str, Operation] = OPERATIONS) -> Starlette:
    """`GET /v1/status`, `GET /v1/health`, `GET /metrics` and `POST /v1/<command>` for every operation."""
    routes = [
        Route("/v1/status", _guarded(memory, _Get(memory, operations["status"], _as_json)), methods=["GET"]),
        Route("/v1/health", _guarded(memory, _Get(memory, operations["status"], _health)), methods=["GET"]),
        Route("/metrics", _guarded(memory, _Get(memory, operations["status"], _metrics)), methods=["GET"]),
        *(
            Route(f"/v1/{name}", _guarded(memory, _Post(memory, operation)), methods=["POST"])
            for name, operation in operations.items()
        ),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _http_error})


Handler = Callable[[HttpRequest], Awaitable[Response]]


class _Get:
    """A question that takes no body: the status, in one of its shapes."""

    def __init__(self, memory: Performer, operation: Operation, shape: Callable[[Outcome], Response]) -> None:
        self._memory, self._operation, self._shape = memory, operation, shape

    async def __call__(self, _: HttpRequest) -> Response:
        return self._shape(await self._memory.perform(self._operation, self._operation.request()))


class _Post:
    """One operation: body in, reply out, or a stream of progress with the reply as its last line."""

    def __init__(self, memory: Performer, operation: Operation) -> None:
        self._memory, self._operation = memory, operation

    async def __call__(self, http: HttpRequest) -> Response:
        if self._operation.where == "alone":
            raise TryLaterError(
                f"{self._operation.name} cannot work beside a running daemon.", "Stop it first: memoryd service stop"
            )
        request = decode_request(self._operation, await _body(http))
        if NDJSON in http.headers.get("accept", ""):
            return await self._stream(request)
        return _as_json(await self._memory.perform(self._operation, request))

    async def _stream(self, request: Request) -> Response:
        lines: asyncio.Queue[bytes | None] = asyncio.Queue()

        def progress(report: dict[str, Any]) -> None:
            if lines.qsize() < _PROGRESS_WAITING:
                lines.put_nowait(msgspec.json.encode({"progress": report}) + b"\n")

        work = asyncio.create_task(_perform(self._memory, self._operation, request, progress))
        work.add_done_callback(lambda _: lines.put_nowait(None))
        first = await lines.get()
        if first is None:  # ended before it had anything to tell: the usual reply, with its code
            return _as_json(await work)
        return StreamingResponse(_stream_lines(first, lines, work), headers=_with_version(), media_type=NDJSON)


async def _perform(memory: Performer, operation: Operation, request: Request, progress: Progress) -> Outcome:
    return await memory.perform(operation, request, progress)


async def _stream_lines(
    first: bytes, lines: "asyncio.Queue[bytes | None]", work: "asyncio.Task[Outcome]"
) -> AsyncIterator[bytes]:
    line: bytes | None = first
    while line is not None:
        yield line
        line = await lines.get()
    try:
        outcome = await work
    except Exception as error:  # noqa: BLE001 - the reply has begun, so the error is its last line
        yield msgspec.json.encode(_known(error).as_dict()) + b"\n"
        return
    if outcome.exit_code:  # the headers are long gone
        yield msgspec.json.encode({"progress": {"exit_code": outcome.exit_code}}) + b"\n"
    yield msgspec.json.encode(outcome.reply) + b"\n"


def decode_request(operation: Operation, body: bytes) -> Request:
    """The request in a JSON body; an empty body asks with all defaults. Raises `UsageError` for anything else."""
    try:
        return msgspec.json.decode(body or b"{}", type=operation.request)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(
            f"The request for {operation.name} is wrong: {error}.", f"See: memoryd {operation.name} --help"
        ) from None


async def _body(http: HttpRequest) -> bytes:
    taken = bytearray()
    async for piece in http.stream():
        taken += piece
        if len(taken) > BODY_LIMIT:
            raise HTTPException(413, "The request is larger than 8 MiB.")
    return bytes(taken)


def _guarded(memory: Performer, handler: Handler) -> Handler:
    """`handler`, with the workspace checked first and every error made an error object."""

    async def guarded(http: HttpRequest) -> Response:
        try:
            _check_workspace(memory, http.headers.get("memoryd-workspace", ""))
            return await handler(http)
        except HTTPException:
            raise
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        except asyncio.CancelledError:  # only by the end of the daemon, which waits for this reply
            return _error(
                UnavailableError("The daemon ended before it had answered.", "Ask again when it has been started.")
            )
        except Exception as error:  # noqa: BLE001 - no traceback reaches a client, and no request ends the daemon
            return _error(_known(error))

    return guarded


def _check_workspace(memory: Performer, wanted: str) -> None:
    if not wanted:
        return
    named = os.path.realpath(unquote(wanted))
    if named != os.path.realpath(memory.workspace):
        raise ConfigError(
            f"This memory belongs to {memory.workspace}, not to {named}.",
            "Give the other workspace an instance: --instance NAME",
        )


def _known(error: Exception) -> MemorydError:
    if isinstance(error, MemorydError):
        return error
    log.error("a request failed unexpectedly (%s)", place_of(error))
    return MemorydError("Something unexpected went wrong in the daemon.", "Its log says where; please report it.")


def _error(error: MemorydError) -> Response:
    return _json(error.as_dict(), error.http_status)


async def _http_error(_: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind: MemorydError
    if error.status_code == 404:
        kind = NoInputError(
            "There is nothing at this address.", "Addresses are /v1/status, /v1/health, /metrics, /v1/<command>."
        )
    else:
        kind = UsageError(str(error.detail).rstrip(".") + ".", "Commands are sent with POST, status with GET.")
    return _json(kind.as_dict(), error.status_code, error.headers)


def _as_json(outcome: Outcome) -> Response:
    return _json(outcome.reply, 200, {"Memoryd-Exit": str(outcome.exit_code)} if outcome.exit_code else None)


def _json(content: Any, status: int, headers: Mapping[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(content) + b"\n", status, _with_version(headers), media_type="application/json")


def _with_version(headers: Mapping[str, str] | None = None) -> dict[str, str]:
    return {"Memoryd-Version": __version__, **(headers or {})}


def _health(outcome: Outcome) -> Response:
    status = msgspec.to_builtins(outcome.reply)
    return _json({key: status[key] for key in ("v", "version", "pid", "state", "healthy")}, 200)


def _metrics(outcome: Outcome) -> Response:
    return Response(
        prometheus(msgspec.to_builtins(outcome.reply)), media_type="text/plain; version=0.0.4; charset=utf-8"
    )

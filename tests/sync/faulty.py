"""A TCP proxy between devices and a real server that breaks what passes, the way networks and servers do."""

import asyncio
import re
from typing import Any

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_END = b"\r\n\r\n"


class FaultProxy:
    """Forwards HTTP/1.1 to a server; `fault` says what becomes of requests, for `left` of them (None: all).

    `slow` waits before answering, `cut` ends the answer after some bytes, `lost` forwards and never answers,
    `busy` answers 429 with Retry-After, `broken` 500, `frozen` is silent for ever, `garbage` answers something
    that is no HTTP at all, as a TLS endpoint or a router does.
    """

    def __init__(self, target_port: int) -> None:
        self.target_port = target_port
        self.fault = ""
        self.left: int | None = None
        self.only_writes = False
        self.hits = 0
        self.cut_after = 40
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def url(self) -> str:
        """Where devices find it."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def start(self) -> "FaultProxy":
        """Listen on a free port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def stop(self) -> None:
        """End every connection."""
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def break_next(self, fault: str, times: int | None = None, *, only_writes: bool = False) -> None:
        """From now on `times` requests meet `fault`, all of them if None; '' heals."""
        self.fault, self.left, self.only_writes, self.hits = fault, times, only_writes, 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while request := await _message(reader):
                if not await self._answer(request, writer):
                    return
        except (ConnectionError, asyncio.IncompleteReadError, OSError):
            return  # one of both sides hung up, which is the point
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection goes on."""
        fault = self._next_fault(request)
        if fault == "frozen":
            await asyncio.Event().wait()
        if fault == "garbage":
            writer.write(b"\x15\x03\x01\x00\x02\x02\x46")
        elif fault in ("busy", "broken"):
            head = "429 Too Many Requests\r\nretry-after: 7" if fault == "busy" else "500 Internal Server Error"
            writer.write(f"HTTP/1.1 {head}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode())
        else:
            answer = await self._forward(request)
            if fault == "lost":
                return False
            if fault == "slow":
                await asyncio.sleep(0.05)
            writer.write(answer[: self.cut_after] if fault == "cut" else answer)
        await writer.drain()
        return fault in ("", "slow")

    def _next_fault(self, request: bytes) -> str:
        if not self.fault or (self.only_writes and b"COMMIT" not in request) or self.left == 0:
            return ""
        if self.left is not None:
            self.left -= 1
        self.hits += 1
        return self.fault

    async def _forward(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.target_port)
        try:
            writer.write(request)
            await writer.drain()
            return await _message(reader)
        finally:
            writer.close()


async def _message(reader: asyncio.StreamReader) -> bytes:
    """One HTTP message with its body; nothing when the connection ended."""
    try:
        head = await reader.readuntil(_END)
    except asyncio.IncompleteReadError:
        return b""
    length = _LENGTH.search(head)
    if length:
        return head + await reader.readexactly(int(length[1]))
    return head + (await _chunks(reader) if b"chunked" in head.lower() else b"")


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while True:
        line = await reader.readuntil(b"\r\n")
        size = int(line, 16)
        body += line + await reader.readexactly(size + 2)
        if not size:
            return body

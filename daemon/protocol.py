"""One connection of the socket: whose process it is, and how long it may take."""

import asyncio
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

REQUEST_S = 2.0
"""A client must have sent its whole request after this long."""
STALL_S = 30.0
"""A client that reads nothing for so long is cut off."""


class PeerProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 protocol for clients of one user. Others are cut off before a byte is read."""

    def __init__(self, config: Config, state: ServerState, uid: int, peer_uid: Callable[[socket.socket], int]) -> None:
        super().__init__(config, state, {})
        self._uid, self._peer_uid = uid, peer_uid
        self._refused = False
        self._read_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Check who it is before anything else."""
        if self._peer_uid(transport.get_extra_info("socket")) != self._uid:
            self._refused = True
            transport.abort()
            return
        super().connection_made(transport)
        self._await_request()

    def data_received(self, data: bytes) -> None:
        """Take bytes, and watch that the request comes to its end."""
        if self._refused:
            return
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._await_request()
        else:
            self._forget_read_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timers."""
        self._forget_read_timer()
        self._forget_write_timer()
        if not self._refused:
            super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read: it has `STALL_S` to start again."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(STALL_S, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads again."""
        self._forget_write_timer()
        super().resume_writing()

    def _await_request(self) -> None:
        if self._read_timer is None:
            self._read_timer = self.loop.call_later(REQUEST_S, self.transport.abort)

    def _forget_read_timer(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def _forget_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None


def peer_uid(connection: socket.socket) -> int:
    """The user id of the process at the other end of a Unix socket."""
    if sys.platform == "darwin":
        # struct xucred { u_int cr_version; uid_t cr_uid; … }; SOL_LOCAL = 0, LOCAL_PEERCRED = 1
        _, uid = struct.unpack("II", connection.getsockopt(0, 1, 8))
        return int(uid)
    credentials: Any = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", credentials)
    return int(uid)

"""The Unix socket: bound privately, bound again when its file is lost, removed only while it is ours."""

import asyncio
import logging
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.server import ServerState

from ..errors import AccessError, ConfigError
from ..places import UNIX_PATH_LIMIT
from .protocol import PeerProtocol, peer_uid

log = logging.getLogger(__name__)

BACKLOG = 128


class Listener:
    """Serves `app` on the socket file `path`. The caller holds the instance lock: a socket found there is stale."""

    def __init__(self, path: Path, app: ASGIApp, *, peer: Callable[[socket.socket], int] = peer_uid) -> None:
        self.path = path
        self._peer = peer
        self._config = Config(
            app, log_config=None, lifespan="off", access_log=False, ws="none", date_header=False, proxy_headers=False
        )
        self._config.load()
        self._state = ServerState()
        self._server: asyncio.Server | None = None
        self._open = False
        self._identity: tuple[int, int] | None = None

    async def start(self) -> None:
        """Bind and listen. Raises `AccessError` or `ConfigError` where the place is not fit for it."""
        if len(os.fsencode(self.path)) > UNIX_PATH_LIMIT:
            raise ConfigError(
                f"The socket path {self.path} is longer than {UNIX_PATH_LIMIT} bytes.",
                "Set XDG_RUNTIME_DIR to a shorter folder.",
            )
        private_folder(self.path.parent)
        _remove_stale(self.path)
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            before = os.umask(0o177)  # uvicorn and asyncio leave the file open to everybody (docs/engine.md)
            try:
                bound.bind(os.fspath(self.path))
            finally:
                os.umask(before)
            self._identity = _identity(self.path)
            self._open = True
            self._server = await asyncio.get_running_loop().create_unix_server(
                self._protocol, sock=bound, backlog=BACKLOG
            )
        except OSError as error:
            bound.close()
            raise AccessError(
                f"The socket {self.path} cannot be made: {error.strerror}.", "Check the owner and mode of its folder."
            ) from None

    async def check(self) -> None:
        """Bind again if the socket's file is gone or another one's. Called each tick."""
        if not self._open or (self._server is not None and self._identity == _identity(self.path)):
            return
        if self._server is not None:
            self._server.close()
            self._server = None
        await self.start()
        log.warning("the socket file was lost and is bound again")

    async def close(self, grace_s: float = 1.0) -> None:
        """Stop listening, let running requests end within `grace_s` seconds, and remove the file if it is ours."""
        self._open = False
        if self._server is None:
            return
        self._server.close()
        self._server = None
        if self._identity == _identity(self.path):
            self.path.unlink(missing_ok=True)
        for connection in list(self._state.connections):
            connection.shutdown()
        running = set(self._state.tasks)
        if running:
            _, late = await asyncio.wait(running, timeout=grace_s)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=grace_s)

    def _protocol(self) -> PeerProtocol:
        return PeerProtocol(self._config, self._state, os.geteuid(), self._peer)


def private_folder(folder: Path) -> None:
    """Make `folder` if it is missing, and make sure that it is a real folder of this user with mode 0700."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode):
            raise AccessError(f"{folder} is not a folder.", "Remove it, or set XDG_RUNTIME_DIR.")
        if found.st_uid != os.geteuid():
            raise AccessError(
                f"{folder} belongs to another user.", "Remove it, or set XDG_RUNTIME_DIR to a folder of your own."
            )
        if stat.S_IMODE(found.st_mode) != 0o700:
            folder.chmod(0o700)
            log.info("the socket's folder was open to others and is private now")
    except FileExistsError:
        raise AccessError(f"{folder} is not a folder.", "Remove it, or set XDG_RUNTIME_DIR.") from None
    except OSError as error:
        raise AccessError(
            f"The socket's folder {folder} cannot be made: {error.strerror}.",
            "Check its parent, or set XDG_RUNTIME_DIR.",
        ) from None


def _remove_stale(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise AccessError(f"{path} exists and is no socket.", "Move it away.")
    path.unlink()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino

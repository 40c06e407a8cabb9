"""What the daemon tells systemd: sd_notify datagrams (docs/engine.md), nothing without $NOTIFY_SOCKET."""

import logging
import os
import socket
from collections.abc import Mapping

log = logging.getLogger(__name__)


class Notifier:
    """Sends readiness, status lines and watchdog pings to the service manager; errors are never ours to raise."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        env = os.environ if environment is None else environment
        self._address = env.get("NOTIFY_SOCKET", "").replace("@", "\0", 1)
        self._status = ""
        self.watchdog_s = _watchdog_s(env)
        """How long systemd waits for a ping before it aborts us [s]; None when it does not."""

    def ready(self, status: str) -> None:
        """The daemon is usable."""
        self._status = status
        self._send(f"READY=1\nSTATUS={status}")

    def status(self, status: str) -> None:
        """One line for `systemctl status`: no paths, no secrets. Sent when it changed."""
        if status != self._status:
            self._status = status
            self._send(f"STATUS={status}")

    def reloading(self, monotonic_s: float) -> None:
        """The settings are read again; `ready` must follow."""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={round(monotonic_s * 1_000_000)}")

    def stopping(self) -> None:
        """The daemon ends on request."""
        self._send("STOPPING=1")

    def alive(self) -> None:
        """Everything made progress since the last ping."""
        self._send("WATCHDOG=1")

    def still_starting(self, more_s: float) -> None:
        """A long migration or rebuild: the service manager shall wait `more_s` seconds from now on."""
        self._send(f"EXTEND_TIMEOUT_USEC={round(more_s * 1_000_000)}\nWATCHDOG=1")

    def failed(self, reason: str) -> None:
        """The daemon gives up."""
        self._send(f"STATUS={reason}")

    def _send(self, message: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | getattr(socket, "SOCK_CLOEXEC", 0)) as sender:
                sender.setblocking(False)  # a manager that does not read must not stop us
                sender.connect(self._address)
                sender.sendall(message.encode())
        except OSError as error:
            log.debug("the service manager does not listen: %s", error)


def _watchdog_s(env: Mapping[str, str]) -> float | None:
    period_us = env.get("WATCHDOG_USEC", "")
    if not period_us.isdigit() or period_us == "0":
        return None
    if env.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        log.info("the service manager's watchdog is meant for another process")
        return None
    return int(period_us) / 1_000_000

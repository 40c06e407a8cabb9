"""What the long runs play with: a machine with its daemon, and the weather around its cloud."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from conftest import Sqld  # noqa: E402 - found through the path above

MEMORYD = [sys.executable, "-c", "from memoryd.cli.main import main; main()"]


class Machine:
    """One state folder and its daemon, for a workspace and a cloud."""

    def __init__(self, root: Path, workspace: Path, cloud: Sqld | None) -> None:
        self.root, self.workspace, self.cloud = root, workspace, cloud
        (root / "run").mkdir(parents=True)
        self.socket = root / "run" / "memoryd" / "default.sock"
        self.environment = {
            **{key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "PYTHONPATH")},
            "HOME": str(root),
            "XDG_RUNTIME_DIR": str(root / "run"),
            "MEMORYD_STATE_DIR": str(root / "state"),
            "MEMORYD_CONFIG": str(root / "config.toml"),
            "MEMORYD_WORKSPACE": str(workspace),
        }
        if cloud is not None:
            self.environment |= {"TURSO_DATABASE_URL": cloud.url, "TURSO_AUTH_TOKEN": cloud.token(lives_s=86_400)}
        self.daemon: subprocess.Popen[bytes] | None = None

    @property
    def database(self) -> Path:
        return self.root / "state" / "memory.db"

    def start(self) -> None:
        with (self.root / "log").open("ab") as log:
            self.daemon = subprocess.Popen([*MEMORYD, "run"], env=self.environment, stdout=log, stderr=log)

    def end(self, how: signal.Signals) -> int:
        assert self.daemon is not None
        self.daemon.send_signal(how)
        return self.daemon.wait(20)

    def ask(self, command: str, *, limit_s: float = 5.0, **payload: Any) -> Any:
        """The reply of the running daemon; raises `OSError` or `ValueError` where there is none."""
        body = json.dumps(payload).encode()
        head = f"POST /v1/{command} HTTP/1.0\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(limit_s)
            connection.connect(str(self.socket))
            connection.sendall(head + body)
            reply = b"".join(iter(lambda: connection.recv(65536), b""))
        status, _, rest = reply.partition(b"\r\n\r\n")
        if b" 200 " not in status.partition(b"\r\n")[0]:
            raise ValueError(rest.decode() or "hung up")
        return json.loads(rest)

    def patiently(self, limit_s: float, condition: Callable[[], Any], what: str) -> Any:
        end = time.monotonic() + limit_s
        while True:
            try:
                if found := condition():
                    return found
            except (OSError, ValueError) as error:
                what = f"{what.partition(' (')[0]} ({error})"
            if time.monotonic() > end or (self.daemon is not None and self.daemon.poll() is not None):
                log = (self.root / "log").read_text("utf-8", "replace")[-2000:]
                raise AssertionError(f"not within {limit_s} s, or the daemon ended: {what}\n{log}")
            time.sleep(0.05)

    def settle(self) -> None:
        """Everything on disk taken in, everything sent, the picture drawn; then the daemon ends."""
        self.start()
        self.patiently(60, lambda: self.ask("status"), "the daemon answers")
        self.patiently(120, lambda: self.ask("rescan", limit_s=120, confirm_deletes=True), "the scan")
        if self.cloud is not None:
            self.patiently(120, lambda: self.ask("sync", limit_s=100, wait=True, timeout=90), "the push")
            self.patiently(60, lambda: self.ask("status")["sync"]["picture_pending"] == 0, "the picture")
            self.patiently(60, lambda: self.ask("verify", limit_s=60, deep=True)["equal"], "verify --deep")
        assert self.end(signal.SIGTERM) == 0, "a clean stop"


class Weather:
    """What happens to the cloud meanwhile."""

    def __init__(self, cloud: Sqld, chance: random.Random) -> None:
        self._cloud, self._chance = cloud, chance
        self._state = "up"
        self.changes = 0

    def change(self) -> None:
        """Freeze, thaw, kill or start the server."""
        self.changes += 1
        if self._state != "up":
            self.clear()
            return
        self._state = self._chance.choice(("frozen", "down"))
        (self._cloud.freeze if self._state == "frozen" else self._cloud.kill)()

    def clear(self) -> None:
        """The cloud works again."""
        if self._state == "frozen":
            self._cloud.thaw()
        elif self._state == "down":
            self._cloud.start()
        self._state = "up"

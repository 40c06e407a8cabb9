"""memoryd as a launchd agent: the shipped plist with this installation's paths (docs/engine.md)."""

import os
import plistlib
import socket
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

from ..clock import Clock
from ..errors import UnavailableError
from ..places import DEFAULT_INSTANCE, Places
from .installation import (
    Ran,
    Runner,
    ServiceHealth,
    ServiceReply,
    console_script,
    definition,
    run_arguments,
    run_environment,
    run_tool,
)

LABEL = "dev.memoryd.daemon"
GONE_S = 10.0
"""`bootout` returns before the agent is gone."""
READY_S = 15.0
"""launchd knows no readiness: the socket is asked until it answers."""
_PAUSE_S = 0.2


class LaunchdAgent:
    """The agent of one instance, in the login session of this user."""

    def __init__(
        self,
        places: Places,
        run: Runner = run_tool,
        home: Path | None = None,
        *,
        clock: Clock | None = None,
        sleep: Callable[[float], None] = time.sleep,
        answers: Callable[[Path], bool] | None = None,
    ) -> None:
        self._places, self._run = places, run
        self._home = home or Path.home()
        self._clock, self._sleep = clock or Clock(), sleep
        self._answers = answers or _answers
        self.label = LABEL if places.instance == DEFAULT_INSTANCE else f"{LABEL}.{places.instance}"
        self._domain = f"gui/{os.getuid()}"

    @property
    def file(self) -> Path:
        """Where the agent is installed; its name is the label."""
        return self._home / "Library" / "LaunchAgents" / f"{self.label}.plist"

    def install(self) -> ServiceReply:
        """Write the plist, replace a loaded agent, and wait for the socket."""
        plist = render_plist(self._places, console_script(), self.label, self._home)
        Path(plist["StandardOutPath"]).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with definition(self.file, plistlib.dumps(plist)):
            self._unload()
            self._load()
        self._wait_ready()
        return self.status()

    def uninstall(self) -> ServiceReply:
        """Unload the agent and remove its plist."""
        self._unload()
        self.file.unlink(missing_ok=True)
        return self.status()

    def start(self) -> ServiceReply:
        """Start it, loading it first where it is not, and wait for the socket."""
        if not self._is_loaded():
            self._load()
        self._must("kickstart", self._target)
        self._wait_ready()
        return self.status()

    def stop(self) -> ServiceReply:
        """End it; exit code 0 keeps launchd from starting it again."""
        self._run(["launchctl", "kill", "SIGTERM", self._target])  # fails when it does not run, which is what we want
        self._wait(lambda: self._pid() is None, GONE_S, "does not end")
        return self.status()

    def status(self) -> ServiceReply:
        """What launchd knows of it."""
        installed, pid = self.file.exists(), self._pid()
        return ServiceReply(self.label, str(self.file), installed=installed, running=pid is not None, pid=pid)

    def health(self) -> ServiceHealth:
        """Whether launchd has it loaded, from the plist that we would write."""
        expected = plistlib.dumps(render_plist(self._places, console_script(), self.label, self._home))
        return ServiceHealth(self._is_loaded(), None, self.file.read_bytes() == expected)

    @property
    def _target(self) -> str:
        return f"{self._domain}/{self.label}"

    def _load(self) -> None:
        arguments = ["launchctl", "bootstrap", self._domain, str(self.file)]
        done = self._run(arguments)
        if done.code == 5:  # "Input/output error": the former one is not quite gone
            self._sleep(1.0)
            done = self._run(arguments)
        _check(done, "bootstrap")

    def _unload(self) -> None:
        self._run(["launchctl", "bootout", self._target])  # fails when nothing is loaded, which is what we want
        self._wait(lambda: not self._is_loaded(), GONE_S, "does not end")

    def _is_loaded(self) -> bool:
        return self._run(["launchctl", "print", self._target]).code == 0

    def _pid(self) -> int | None:
        shown = self._run(["launchctl", "print", self._target])
        for line in shown.out.splitlines() if shown.code == 0 else ():
            key, _, value = line.strip().partition(" = ")
            if key == "pid" and value.isdigit():
                return int(value)
        return None

    def _wait_ready(self) -> None:
        self._wait(lambda: self._answers(self._places.socket), READY_S, "does not answer on its socket")

    def _wait(self, condition: Callable[[], bool], limit_s: float, complaint: str) -> None:
        deadline = self._clock.monotonic() + limit_s
        while not condition():
            if self._clock.monotonic() >= deadline:
                raise UnavailableError(
                    f"The service {complaint} within {limit_s:g} s.", "See ~/Library/Logs/memoryd, or run: memoryd run"
                )
            self._sleep(_PAUSE_S)

    def _must(self, *arguments: str) -> None:
        _check(self._run(["launchctl", *arguments]), arguments[0])


def render_plist(places: Places, script: Path, label: str, home: Path) -> dict[str, Any]:
    """The shipped plist as a dictionary, with real paths put in."""
    folder = resources.files(__package__.rpartition(".")[0]).joinpath("launchd")
    plist: dict[str, Any] = plistlib.loads(folder.joinpath(f"{LABEL}.plist").read_bytes())
    log = str(home / "Library" / "Logs" / "memoryd" / "launchd.log")
    plist["Label"] = label
    plist["ProgramArguments"] = [str(script), *run_arguments(places)]
    plist["WorkingDirectory"] = str(home)
    plist["EnvironmentVariables"] |= run_environment(places)
    plist["StandardOutPath"] = plist["StandardErrorPath"] = log
    return plist


def _check(done: Ran, what: str) -> None:
    if done.code:
        lines = (done.err or done.out).strip().splitlines()
        reason = lines[0].rstrip(".") if lines else f"exit code {done.code}"
        raise UnavailableError(
            f"launchctl {what} failed: {reason}.", "launchd needs a login at the screen; without one, run: memoryd run"
        )


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.settimeout(2.0)
        try:
            asking.connect(os.fspath(path))
        except OSError:
            return False
    return True

"""memoryd as a systemd user unit: the shipped unit with this installation's paths (docs/engine.md)."""

import getpass
import os
from importlib import resources
from pathlib import Path

from ..errors import ConfigError, UnavailableError
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


class SystemdUnit:
    """The user unit of one instance: `memoryd.service`, or `memoryd-<instance>.service`."""

    def __init__(self, places: Places, run: Runner = run_tool, folder: Path | None = None) -> None:
        self._places, self._run = places, run
        self.folder = folder or _unit_folder()
        self.name = "memoryd" if places.instance == DEFAULT_INSTANCE else f"memoryd-{places.instance}"

    @property
    def file(self) -> Path:
        """Where the unit is installed."""
        return self.folder / f"{self.name}.service"

    def install(self) -> ServiceReply:
        """Write the unit, enable it, and wait until it is ready."""
        with definition(self.file, render_unit(self._places, console_script(), self.name).encode()):
            self._must("daemon-reload")
            self._must("enable", self.file.name)
        self._must("restart", self.file.name)  # starts it, or takes the new unit into use
        reply = self.status()
        reply.notes += self._linger_note()
        return reply

    def uninstall(self) -> ServiceReply:
        """Stop and disable the unit, and remove its file."""
        if self.file.exists():
            self._must("disable", "--now", self.file.name)
            self.file.unlink()
            self._must("daemon-reload")
        return self.status()

    def start(self) -> ServiceReply:
        """Start it and wait until it is ready."""
        self._must("start", self.file.name)
        return self.status()

    def stop(self) -> ServiceReply:
        """Stop it and wait until it has ended."""
        self._must("stop", self.file.name)
        return self.status()

    def status(self) -> ServiceReply:
        """What systemd knows of it."""
        if not self.file.exists():
            return ServiceReply(self.file.name, str(self.file), installed=False, running=False)
        names = "ActiveState,SubState,MainPID,StatusText,Result"
        shown = dict(
            line.partition("=")[::2] for line in self._must("show", self.file.name, f"--property={names}").splitlines()
        )
        pid = int(shown.get("MainPID", "0") or "0")
        states = [shown.get(key, "") for key in ("ActiveState", "SubState", "StatusText")]
        return ServiceReply(
            self.file.name,
            str(self.file),
            installed=True,
            running=shown.get("ActiveState") in ("active", "reloading"),
            pid=pid or None,
            detail=", ".join(each for each in states if each),
        )

    def health(self) -> ServiceHealth:
        """Whether systemd starts it at login, lets it go on after logout, and from the file that we would write."""
        expected = render_unit(self._places, console_script(), self.name).encode()
        enabled = self._run(["systemctl", "--user", "is-enabled", self.file.name])
        return ServiceHealth(enabled.out.strip() == "enabled", self._lingers(), self.file.read_bytes() == expected)

    def _must(self, *arguments: str) -> str:
        done = self._run(["systemctl", "--user", *arguments])
        if done.code:
            raise UnavailableError(
                f"systemctl --user {arguments[0]} failed: {_first_line(done)}.",
                f"See: journalctl --user -u {self.name}. Without a login session, run: memoryd run",
            )
        return done.out

    def _lingers(self) -> bool | None:
        """Whether this user's services go on after logout; None where there is no loginctl to ask."""
        try:
            shown = self._run(["loginctl", "show-user", getpass.getuser(), "--property=Linger", "--value"])
        except UnavailableError:
            return None
        return shown.code == 0 and shown.out.strip() == "yes"

    def _linger_note(self) -> list[str]:
        if self._lingers() in (True, None):
            return []
        return ["The service ends when you log out. To let it run on: loginctl enable-linger"]


def render_unit(places: Places, script: Path, name: str) -> str:
    """The shipped unit, with the command, the instance's places and its runtime folder put in."""
    template = resources.files(__package__.rpartition(".")[0]).joinpath("systemd", "memoryd.service").read_text("utf-8")
    command = " ".join([_program(script), *(_word(each.replace("$", "$$")) for each in run_arguments(places))])
    variables = " ".join(_word(f"{key}={value}") for key, value in run_environment(places).items())
    lines: list[str] = []
    for line in template.splitlines():
        if line.startswith("ExecStart="):
            lines.append(f"ExecStart={command}")
        elif line.startswith("Environment="):
            lines += [line, f"Environment={variables}"]
        elif line.startswith("RuntimeDirectory="):
            lines.append(f"RuntimeDirectory={name}")
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def _program(path: Path) -> str:
    """The program of a command line: `$` is not expanded there, and some signs are forbidden (systemd 252)."""
    if set("\"'\\") & set(str(path)):
        raise ConfigError(
            f"systemd cannot start {path}.", "Install memoryd in a folder without quotes and backslashes."
        )
    return _word(str(path))


def _word(text: str) -> str:
    """One quoted word of a unit file (systemd.syntax(7))."""
    if not text.isprintable():
        raise ConfigError(f"{text!r} cannot stand in a systemd unit.", "Rename that folder.")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'


def _first_line(done: Ran) -> str:
    lines = (done.err or done.out).strip().splitlines()
    return lines[0].rstrip(".") if lines else f"exit code {done.code}"


def _unit_folder() -> Path:
    config = os.environ.get("XDG_CONFIG_HOME")
    return (Path(config) if config else Path.home() / ".config") / "systemd" / "user"

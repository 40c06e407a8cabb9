"""What both service managers need: the program and its arguments, their tools, and how a definition is written."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from ..errors import ConfigError, UnavailableError
from ..places import Places

COMMAND_S = 120.0
"""The longest a call of the service manager may take: it waits until the daemon is ready (90 s) or has ended."""


class ServiceReply(msgspec.Struct):
    """Where the service stands: its name and file, whether it is installed and runs, and what a person should know."""

    service: str
    file: str
    installed: bool
    running: bool
    pid: int | None = None
    detail: str = ""
    notes: list[str] = []


class ServiceHealth(msgspec.Struct):
    """Whether the installed service does what it should; `lingers` is None where logging out is no question."""

    enabled: bool
    """It starts at the next login."""
    lingers: bool | None
    """It goes on after logout."""
    as_shipped: bool
    """Its file is what `service install` would write now."""


class Ran(msgspec.Struct):
    """A finished command of the service manager."""

    code: int
    out: str
    err: str


Runner = Callable[[Sequence[str]], Ran]


def console_script() -> Path:
    """The absolute path of the `memoryd` command that belongs to this installation."""
    beside = Path(sys.executable).absolute().with_name("memoryd")
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("memoryd")
    if not found:
        raise ConfigError("The memoryd command is not installed.", "Install it with pipx or pip, then try again.")
    return Path(found).absolute()


def run_arguments(places: Places) -> list[str]:
    """What follows the console script: `run` and whose memory it is. Never a token."""
    return ["run", "--workspace", str(places.workspace), "--instance", places.instance]


def run_environment(places: Places) -> dict[str, str]:
    """Where this instance keeps its things; a service does not see the shell's variables."""
    return {"MEMORYD_CONFIG": str(places.config), "MEMORYD_STATE_DIR": str(places.state)}


def run_tool(arguments: Sequence[str]) -> Ran:
    """Run a command of the service manager. Raises `UnavailableError` where it is not installed or hangs."""
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=COMMAND_S, check=False)
    except FileNotFoundError:
        raise UnavailableError(
            f"{arguments[0]} is not installed here.", "Let your own supervisor start: memoryd run"
        ) from None
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"{arguments[0]} does not answer within {COMMAND_S:g} s.", "Look at its log.") from None
    return Ran(done.returncode, done.stdout, done.stderr)


@contextlib.contextmanager
def definition(path: Path, data: bytes) -> Iterator[None]:
    """A unit or plist that stays only when the service manager took it: else what stood there before is put back."""
    before = path.read_bytes() if path.exists() else None
    _write(path, data)
    try:
        yield
    except BaseException:
        if before is None:
            path.unlink(missing_ok=True)
        else:
            _write(path, before)
        raise


def _write(path: Path, data: bytes) -> None:
    """All or nothing, readable for the service manager."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_bytes(data)
    temporary.chmod(0o644)
    temporary.replace(path)

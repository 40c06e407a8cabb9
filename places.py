"""Places: where an instance keeps its things (docs/configuration.md), resolved without touching them.

The thin client's quick path reads nothing else: it needs the socket alone.
"""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from .errors import AccessError, ConfigError, UsageError

DEFAULT_INSTANCE = "default"
UNIX_PATH_LIMIT = 103 if sys.platform == "darwin" else 107
"""Longest socket path [bytes] (docs/engine.md)."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")


class Places(msgspec.Struct, frozen=True):
    """Where one instance keeps its things. `workspace` is None when none was named or found."""

    instance: str
    state: Path
    runtime: Path
    socket: Path
    config: Path
    workspace: Path | None

    @property
    def database(self) -> Path:
        """The embedded libSQL file."""
        return self.state / "memory.db"

    @property
    def lock(self) -> Path:
        """Held by flock for the life of the daemon, or of a command that works without one."""
        return self.state / "memoryd.lock"

    @property
    def device_file(self) -> Path:
        """Names this device beside the database, so that a rebuilt database can succeed it."""
        return self.state / "device"


def checked_name(name: str, what: str = "agent id") -> str:
    """`name` if it may name an agent or instance; it is refused, never rewritten."""
    if not _NAME.match(name):
        raise UsageError(
            f"{name!r} is no valid {what}.",
            "Use 1 to 64 letters, digits, '_' or '-', beginning with a letter or digit.",
        )
    return name


def find_places(
    workspace: str | None = None, instance: str | None = None, environment: Mapping[str, str] | None = None
) -> Places:
    """Resolve all places from flags, environment and configuration; touches nothing."""
    env = os.environ if environment is None else environment
    name = checked_name(instance or env.get("MEMORYD_INSTANCE") or DEFAULT_INSTANCE, "instance name")
    config = Path(env["MEMORYD_CONFIG"]) if env.get("MEMORYD_CONFIG") else _user_folder("config") / "config.toml"
    given_state = env.get("MEMORYD_STATE_DIR")
    state = Path(given_state).absolute() if given_state else _user_folder("state") / name
    runtime = _runtime_folder(env, name, state)
    return Places(name, state, runtime, _socket_path(runtime, name), config, _find_workspace(workspace, env, config))


def find_socket(instance: str | None = None, environment: Mapping[str, str] | None = None) -> Path:
    """The socket of an instance, as `find_places` names it, without reading the configuration: the quick path."""
    env = os.environ if environment is None else environment
    if not env.get("XDG_RUNTIME_DIR"):
        return find_places(None, instance, env).socket
    name = checked_name(instance or env.get("MEMORYD_INSTANCE") or DEFAULT_INSTANCE, "instance name")
    return _socket_path(_runtime_folder(env, name, Path()), name)


def read_toml(path: Path) -> dict[str, Any]:
    """A configuration file; {} where there is none, a `ConfigError` or `AccessError` where it cannot be read."""
    import tomllib  # not on the thin client's quick path

    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} is not valid TOML: {error}.", "Correct it, or remove it to use the defaults."
        ) from None
    except OSError as error:
        raise AccessError(f"{path} cannot be read: {error.strerror}.", "Check its owner and mode.") from None


def _user_folder(kind: Literal["config", "state"]) -> Path:
    import platformdirs  # not on the thin client's quick path

    return platformdirs.user_config_path("memoryd") if kind == "config" else platformdirs.user_state_path("memoryd")


def _runtime_folder(env: Mapping[str, str], instance: str, state: Path) -> Path:
    folder = "memoryd" if instance == DEFAULT_INSTANCE else f"memoryd-{instance}"
    if given := env.get("XDG_RUNTIME_DIR"):
        return Path(given) / folder
    if sys.platform == "darwin":
        return (
            Path.home() / "Library/Application Support/memoryd/run" / ("" if instance == DEFAULT_INSTANCE else instance)
        )
    return state


def _socket_path(runtime: Path, instance: str) -> Path:
    socket = runtime / ("default.sock" if instance == DEFAULT_INSTANCE else "memoryd.sock")
    if len(os.fsencode(socket)) > UNIX_PATH_LIMIT:
        raise ConfigError(
            f"The socket path {socket} is longer than {UNIX_PATH_LIMIT} bytes.",
            "Set XDG_RUNTIME_DIR to a shorter folder.",
        )
    return socket


def _find_workspace(flag: str | None, env: Mapping[str, str], config: Path) -> Path | None:
    given = flag or env.get("MEMORYD_WORKSPACE") or read_toml(config).get("workspace")
    if given:
        return Path(str(given)).expanduser().absolute()
    here = Path.cwd()
    return here if (here / "memory").is_dir() or (here / "MEMORY.md").is_file() else None

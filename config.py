"""Settings and places: what the user chose, and where things lie (docs/sync.md, docs/configuration.md).

Order, strongest first: command-line flags, environment, `config.toml`, the original skill's
`config.json` in the workspace, defaults. The quick path of the thin client reads only `Places`.
"""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from . import seed_config
from .errors import AccessError, ConfigError, UsageError

DEFAULT_INSTANCE = "default"
UNIX_PATH_LIMIT = 103 if sys.platform == "darwin" else 107
"""Longest socket path [bytes] (docs/engine.md)."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")


class NotesSettings(msgspec.Struct, forbid_unknown_fields=True):
    """Which files are notes, and what their deletion means."""

    extra: list[str] = []
    """Globs, relative to the workspace, of further notes."""
    max_ingest_bytes: int = 2_000_000
    """A larger note is backed up but not parsed."""
    max_backup_bytes: int = 100_000_000
    """A larger note is neither."""
    max_ingest_seconds: Annotated[float, Meta(gt=0)] = 60.0
    """A note that takes longer to parse is backed up but not parsed."""
    on_delete: Literal["retract", "keep"] = "retract"


class SyncSettings(msgspec.Struct, forbid_unknown_fields=True):
    """The cloud and how it is reached; no token stands here."""

    url: str = ""
    token_file: str = ""
    key_store: Literal["file", "keyring"] = "file"
    """Where the recovery key of an encrypted cloud is kept."""
    notes: Literal["backup", "off"] = "backup"
    insecure: bool = False
    """Allow http:// to other hosts than this machine."""


class CloudSettings(msgspec.Struct, forbid_unknown_fields=True):
    """How long this device's older segments stay."""

    keep_days: int = 90
    keep_ratio: float = 20.0


class HotSettings(msgspec.Struct, forbid_unknown_fields=True):
    """Limits of hot state."""

    max_bytes: int = 5120
    max_lessons: int = 20
    max_events: int = 10
    max_tasks: int = 10


class WarmSettings(msgspec.Struct, forbid_unknown_fields=True):
    """Limits of the warm tier; `max_kb` in units of 1,000 bytes."""

    max_kb: int = 50
    retention_days: int = 30
    eviction_threshold: float = 0.3


class ScoringSettings(msgspec.Struct, forbid_unknown_fields=True):
    """`half_life_days` keeps the seed's name; it is the e-folding time [days]."""

    half_life_days: float = 30.0
    reinforcement_boost: float = 0.1


class TreeSettings(msgspec.Struct, forbid_unknown_fields=True):
    """Limits of the category tree."""

    max_nodes: int = 50
    max_depth: int = 4
    max_children: int = 10
    max_size_bytes: int = 2048


class LlmSettings(msgspec.Struct, forbid_unknown_fields=True):
    """A language model that may be asked; without an endpoint rules do everything."""

    endpoint: str = ""
    """`POST {prompt} → {text}`, or an OpenAI-style `…/chat/completions`."""
    model: str = ""
    api_key_env: str = ""
    """The environment variable that holds the key; the key itself stands nowhere here."""
    timeout_s: float = 30.0


class ColdSettings(msgspec.Struct, forbid_unknown_fields=True):
    """Where cold memory is kept beside this device, and for how long."""

    backend: Literal["turso", "off"] = "turso"
    """`off`: nothing leaves this device, whatever URL the environment or `[sync]` names."""
    retention_years: Annotated[int, Meta(ge=1, le=1000)] = 10
    """Retracted facts, and stored ones that are frozen, expire so long after they were first seen."""


class DistillationSettings(msgspec.Struct, forbid_unknown_fields=True):
    """How `distill` works where a command does not say."""

    mode: Literal["rule", "llm"] = "rule"
    max_distilled_bytes: Annotated[int, Meta(ge=30, le=100_000)] = 100
    aggression: Annotated[float, Meta(ge=0, le=1)] = 0.7
    """How much is left out: up to 0.7 the less, the more sentences fill the bytes; above, the room itself shrinks."""


Frequency: TypeAlias = Literal["hourly", "2-hourly", "daily", "weekly", "monthly", "never"]


class ConsolidationSettings(msgspec.Struct, forbid_unknown_fields=True):
    """How often the daemon consolidates by itself, by the seed's names for what each mode is known for."""

    warm_eviction: Frequency = "2-hourly"
    """`quick`."""
    tree_prune: Frequency = "daily"
    """`daily`."""
    tree_rebuild: Frequency = "monthly"
    """`monthly`."""


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    """Everything a person can set in `config.toml`."""

    workspace: str = ""
    agent_id: str = "default"
    notes: NotesSettings = msgspec.field(default_factory=NotesSettings)
    sync: SyncSettings = msgspec.field(default_factory=SyncSettings)
    cloud: CloudSettings = msgspec.field(default_factory=CloudSettings)
    hot: HotSettings = msgspec.field(default_factory=HotSettings)
    warm: WarmSettings = msgspec.field(default_factory=WarmSettings)
    scoring: ScoringSettings = msgspec.field(default_factory=ScoringSettings)
    tree: TreeSettings = msgspec.field(default_factory=TreeSettings)
    llm: LlmSettings = msgspec.field(default_factory=LlmSettings)
    cold: ColdSettings = msgspec.field(default_factory=ColdSettings)
    distillation: DistillationSettings = msgspec.field(default_factory=DistillationSettings)
    consolidation: ConsolidationSettings = msgspec.field(default_factory=ConsolidationSettings)


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


def load_settings(places: Places) -> Settings:
    """The user's settings; raises `ConfigError` naming the file for anything unknown or of a wrong type."""
    seed = places.workspace / seed_config.NAME if places.workspace is not None else None
    merged: dict[str, Any] = seed_config.seed_settings(seed, _GROUPS) if seed is not None else {}
    _converted(merged, seed)
    for key, value in _read_toml(places.config).items():
        if isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = merged[key] | value
        else:
            merged[key] = value
    return _converted(merged, places.config)


def settings_sources(places: Places) -> dict[str, str]:
    """Which file says each setting that does not have its default: `hot.max_bytes` → path of the file."""
    said: dict[str, str] = {}
    if places.workspace is not None:
        path = places.workspace / seed_config.NAME
        said |= dict.fromkeys(_names(seed_config.seed_settings(path, _GROUPS)), str(path))
    return said | dict.fromkeys(_names(_read_toml(places.config)), str(places.config))


def unknown_seed_keys(path: Path) -> list[str]:
    """The keys of a `config.json` that memoryd does not have, sorted."""
    known = {*_names(msgspec.to_builtins(Settings())), *_GROUPS, "agent_id"}
    return sorted(name for name in _names(seed_config.read_seed(path)) if name not in known)


def _names(values: Mapping[str, Any]) -> list[str]:
    return [
        f"{key}.{inner}" if inner else key
        for key, value in values.items()
        for inner in (value if isinstance(value, dict) else [""])
    ]


def _converted(values: dict[str, Any], path: Path | None) -> Settings:
    try:
        settings = msgspec.convert(values, Settings)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {error}.", "Correct that line; docs/configuration.md lists all settings.") from None
    checked_name(settings.agent_id, f"agent id ({path})")
    for glob in settings.notes.extra:
        if {"", ".", ".."} & set(glob.split("/")):
            raise ConfigError(
                f"{path}: the glob {glob!r} of notes.extra does not stay inside the workspace.",
                "Write it relative to the workspace, without a slash in front, '.' or '..'.",
            )
    return settings


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
    given = flag or env.get("MEMORYD_WORKSPACE") or _read_toml(config).get("workspace")
    if given:
        return Path(str(given)).expanduser().absolute()
    here = Path.cwd()
    return here if (here / "memory").is_dir() or (here / "MEMORY.md").is_file() else None


def _read_toml(path: Path) -> dict[str, Any]:
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


_GROUPS: dict[str, type[msgspec.Struct]] = {
    "hot": HotSettings,
    "warm": WarmSettings,
    "scoring": ScoringSettings,
    "tree": TreeSettings,
    "llm": LlmSettings,
    "cold": ColdSettings,
    "distillation": DistillationSettings,
    "consolidation": ConsolidationSettings,
}
"""The groups that the original skill's config.json may set."""

"""Settings: what the user chose (docs/sync.md, docs/configuration.md).

Order, strongest first: command-line flags, environment, `config.toml`, the original skill's
`config.json` in the workspace, defaults.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from . import seed_config
from .errors import ConfigError
from .places import Places, checked_name, read_toml


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


def load_settings(places: Places) -> Settings:
    """The user's settings; raises `ConfigError` naming the file for anything unknown or of a wrong type."""
    seed = places.workspace / seed_config.NAME if places.workspace is not None else None
    merged: dict[str, Any] = seed_config.seed_settings(seed, _GROUPS) if seed is not None else {}
    _converted(merged, seed)
    for key, value in read_toml(places.config).items():
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
    return said | dict.fromkeys(_names(read_toml(places.config)), str(places.config))


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

"""The original skill's `config.json` in a workspace: which of its keys memoryd takes, and from which file they came.

Its groups are those of `config.toml`. Keys that memoryd does not have, such as `_comment`, are its own business;
a file that is no JSON object is an error, never silent defaults (docs/original.md).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from .errors import ConfigError

NAME = "config.json"


def seed_settings(path: Path, groups: Mapping[str, type[msgspec.Struct]]) -> dict[str, Any]:
    """What the file sets, reduced to the known keys of `groups` and `agent_id`; {} where there is no file.

    Raises `ConfigError` for a broken file, and for a known group that is no object.
    """
    found = read_seed(path)
    kept: dict[str, Any] = {}
    for group, settings in groups.items():
        values = found.get(group, {})
        if not isinstance(values, dict):
            raise ConfigError(f"{path}: {group} is no object.", "Correct it, or move it away.")
        known = {field.name for field in msgspec.structs.fields(settings)}
        if taken := {key: value for key, value in values.items() if key in known}:
            kept[group] = taken
    if "agent_id" in found:
        kept["agent_id"] = found["agent_id"]
    return kept


def read_seed(path: Path) -> dict[str, Any]:
    """The whole file; {} where there is none. Raises `ConfigError` for anything but a JSON object."""
    import json  # not on the thin client's quick path

    try:
        found = json.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is broken: {error}.", "Correct it, or move it away.") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{path} holds no object.", "Correct it, or move it away.")
    return found

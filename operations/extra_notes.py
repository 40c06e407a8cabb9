"""The line for config.toml that would take Markdown files whose names are no dates."""

from collections.abc import Iterable
from pathlib import PurePosixPath

import msgspec


def globs_for(paths: Iterable[str]) -> list[str]:
    """One glob for each folder of these files."""
    return sorted({f"{PurePosixPath(path).parent}/*.md" for path in paths})


def extra_line(globs: Iterable[str]) -> str:
    """The line below `[notes]`."""
    return f"extra = [{', '.join(map(toml_text, globs))}]"


def toml_text(text: str) -> str:
    """A TOML basic string. TOML escapes as JSON does, and wants U+007F escaped too (toml.io, "String")."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")

"""`memoryd init`: a workspace made ready. It makes folders and a configuration; it never writes a note."""

import os
from pathlib import Path
from typing import Any

import click
import msgspec

from ..config import load_settings
from ..errors import AccessError, ConfigError
from ..operations.extra_notes import extra_line, globs_for, toml_text
from ..operations.walk import walk
from ..places import Places, find_places
from .common import Common, common_options
from .output import show, wants_json

_TEMPLATE = """\
# memoryd's configuration. docs/configuration.md lists every setting.
workspace = {workspace}

[notes]
# Globs, relative to the workspace, of Markdown files whose names are no dates but that are notes all the same.
{extra}
"""


class InitReply(msgspec.Struct):
    """What `init` found and made; `notes_extra` is the line for config.toml that would take the unmatched files."""

    workspace: str
    created: list[str]
    config: str
    notes: int
    unmatched: list[str]
    notes_extra: str
    next: str


def init_command(summary: str) -> click.Command:
    """The command `init`."""
    take = click.Option(
        ["--take-unmatched"],
        is_flag=True,
        help="Put the notes.extra line for unmatched Markdown files into a new configuration.",
    )
    folder = click.Argument(["folder"], required=False)
    return click.Command("init", params=[folder, take, *common_options()], callback=_init, help=summary)


def _init(**values: Any) -> None:
    common = Common.taken(click.get_current_context(), values)
    root = Path(values["folder"] or common.named_workspace or ".").expanduser().absolute()
    reply = prepare(root, find_places(str(root), common.instance), take_unmatched=values["take_unmatched"])
    show("init", msgspec.json.encode(reply), as_json=wants_json(common))


def prepare(root: Path, places: Places, *, take_unmatched: bool = False) -> InitReply:
    """Make `memory/` and the configuration where they are missing; running it again changes nothing."""
    settings = load_settings(places)
    if settings.workspace and Path(settings.workspace).expanduser().absolute() != root:
        raise ConfigError(
            f"{places.config} names another workspace, {settings.workspace}; this one is {root}.",
            "Change its line workspace, or use --instance with MEMORYD_CONFIG for a second memory.",
        )
    created = _made_folder(root / "memory")
    found = walk(root, settings.notes.extra)
    unmatched = sorted(found.unmatched)
    line = extra_line([*settings.notes.extra, *globs_for(unmatched)]) if unmatched else ""
    created += _made_config(places.config, root, line, take=take_unmatched)
    return InitReply(
        str(root),
        created,
        str(places.config),
        len(found.files),
        unmatched,
        line,
        "memoryd service install, or memoryd run",
    )


def _made_folder(folder: Path) -> list[str]:
    if folder.is_dir():
        return []
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise AccessError(
            f"{folder} cannot be made: {error.strerror}.", "Check the owner and mode of its parent."
        ) from None
    return [str(folder)]


def _made_config(path: Path, root: Path, line: str, *, take: bool) -> list[str]:
    try:
        workspace = toml_text(str(root))
    except UnicodeEncodeError:
        raise ConfigError("The workspace's path is not valid UTF-8.", "Rename the folder.") from None
    extra = line if line and take else f"# {line or 'extra = []'}"
    text = _TEMPLATE.format(workspace=workspace, extra=extra)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return []
    except OSError as error:
        raise AccessError(
            f"{path} cannot be written: {error.strerror}.", "Set MEMORYD_CONFIG to another place."
        ) from None
    return [str(path)]

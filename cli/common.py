"""The flags that every command takes, before or after its name."""

import os
from pathlib import Path
from typing import Any

import click
import msgspec


class Common(msgspec.Struct, frozen=True):
    """What the common flags and their environment variables say."""

    workspace: str | None = None
    instance: str | None = None
    json: bool = False
    db_url: str | None = None
    auth_token: str | None = None

    @property
    def named_workspace(self) -> str:
        """The workspace that this very command names, '' if it leaves that to the daemon."""
        given = self.workspace or os.environ.get("MEMORYD_WORKSPACE", "")
        return str(Path(given).expanduser().absolute()) if given else ""

    @classmethod
    def taken(cls, context: click.Context, values: dict[str, Any]) -> "Common":
        """The common flags, removed from `values`; what stood before the command's name counts too."""
        before: dict[str, Any] = {}
        while context.parent is not None:
            context = context.parent
            before = {**before, **{name: value for name, value in context.params.items() if value}}
        found = {name: values.pop(name, None) or before.get(name) for name in cls.__struct_fields__}
        return msgspec.convert({name: value for name, value in found.items() if value}, cls)


def common_options() -> list[click.Parameter]:
    """Fresh options for one command."""
    return [
        click.Option(["--workspace"], metavar="FOLDER", help="The folder with MEMORY.md and memory/."),
        click.Option(["--instance"], metavar="NAME", help="Which memoryd, where several run side by side."),
        click.Option(["--json"], is_flag=True, help="JSON on stdout, also on a terminal."),
        click.Option(["--db-url"], metavar="URL", help="The cloud, for a command that works without a daemon."),
        click.Option(["--auth-token"], metavar="TOKEN", help="Its token; safer in TURSO_AUTH_TOKEN."),
    ]

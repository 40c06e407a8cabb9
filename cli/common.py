"""The flags that every command takes, before or after its name."""

import os
from typing import Any

import click
import msgspec

_TAKEN_WITH = ("workspace", "instance", "json", "db_url", "auth_token")


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
        return self.workspace or os.environ.get("MEMORYD_WORKSPACE", "")

    @classmethod
    def taken(cls, context: click.Context, values: dict[str, Any]) -> "Common":
        """The common flags, removed from `values`; what stood before the command's name counts too."""
        before = context.parent.params if context.parent else {}
        return cls(**{name: values.pop(name, None) or before.get(name) for name in _TAKEN_WITH})


def common_options() -> list[click.Parameter]:
    """Fresh options for one command."""
    return [
        click.Option(["--workspace"], metavar="FOLDER", help="The folder with MEMORY.md and memory/."),
        click.Option(["--instance"], metavar="NAME", help="Which memoryd, where several run side by side."),
        click.Option(["--json"], is_flag=True, help="JSON on stdout, also on a terminal."),
        click.Option(["--db-url"], metavar="URL", help="The cloud, for a command that works without a daemon."),
        click.Option(["--auth-token"], metavar="TOKEN", help="Its token; safer in TURSO_AUTH_TOKEN."),
    ]

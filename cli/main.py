"""Entry of the command line: finds the command, runs it, turns every failure into one sentence.

No traceback reaches a user; `MEMORYD_DEBUG=1` shows it to a developer.
"""

import os
import sys
from collections.abc import Sequence

import click

from .. import __version__
from ..errors import MemorydError, UsageError
from .common import common_options

INTERRUPTED = 130
"""128 + SIGINT."""
PIPE_CLOSED = 141
"""128 + SIGPIPE: whoever read our output has seen enough."""

_OWN = {
    "init": ("setup", "Prepare a workspace: its memory/ folder and the configuration."),
    "run": ("serve", "Run the daemon in the foreground."),
    "mcp": ("mcp", "Serve this memory to an MCP client over stdin and stdout."),
    "service": ("serve", "Install, remove, start or stop the daemon as a service of this user."),
}
"""Commands that are no operations: module of this room, and help."""


class Commands(click.Group):
    """The operations' commands and our own; each is built, and its module imported, when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """All names: our own first, then the operations in the order of their table."""
        from ..operations.table import OPERATIONS

        return [*_OWN, *OPERATIONS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        """The command of that name, or None."""
        if cmd_name in _OWN:
            return _own_command(cmd_name)
        from ..operations.table import OPERATIONS
        from .generated import operation_command

        return operation_command(OPERATIONS[cmd_name]) if cmd_name in OPERATIONS else None


def program() -> click.Group:
    """The whole command line."""
    group = Commands(
        "memoryd",
        params=[*common_options()],
        help="Local-first memory from plain Markdown notes, kept safe in a Turso database.",
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    return click.version_option(__version__, prog_name="memoryd")(group)


def main() -> None:
    """The console script."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line; returns its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a narrow terminal encoding must not end a command
    try:
        return _performed(list(arguments))
    except click.exceptions.Exit as ended:  # --help and --version
        return ended.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter's last flush fails again
        return PIPE_CLOSED
    except click.UsageError as error:
        return _told(_usage(error), arguments)
    except MemorydError as error:
        return _told(error, arguments)
    except Exception as error:  # noqa: BLE001  # the boundary: nobody above us could say it better
        return _told(_unexpected(error), arguments)


def _performed(arguments: list[str]) -> int:
    # not click's own main(): it takes a closed pipe for an error of ours
    group = program()
    with group.make_context("memoryd", arguments) as context:
        code = group.invoke(context)
    sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _told(error: MemorydError, arguments: Sequence[str]) -> int:
    from .output import tell_error

    tell_error(error, as_json="--json" in arguments)
    return error.exit_code


def _usage(error: click.UsageError) -> UsageError:
    path = error.ctx.command_path if error.ctx else "memoryd"
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return UsageError("No command is named.", error.format_message())
    message = " ".join(error.format_message().split())
    return UsageError(message if message.endswith((".", "?")) else f"{message}.", f"{path} --help lists what it takes.")


def _unexpected(error: Exception) -> MemorydError:
    if os.environ.get("MEMORYD_DEBUG"):
        import traceback

        traceback.print_exc()
    return MemorydError(
        f"memoryd met an error that it does not know: {type(error).__name__}.",
        "Please report it with the output of the same command under MEMORYD_DEBUG=1.",
    )


def _own_command(name: str) -> click.Command:
    from importlib import import_module

    module, summary = _OWN[name]
    command: click.Command = getattr(import_module(f".{module}", __package__), f"{name}_command")(summary)
    return command

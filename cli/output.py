"""What a command says: JSON or people's output on stdout, warnings, errors and progress on stderr."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ..errors import MemorydError
from .common import Common


def wants_json(common: Common) -> bool:
    """JSON when asked for, or when no person looks at stdout."""
    return common.json or not sys.stdout.isatty()


def show(command: str, body: bytes, *, as_json: bool, text_as_json: bool = False) -> None:
    """Print a reply: as indented JSON in UTF-8 whatever the locale says, or for people.

    A reply that is a text, as of `tree --show`, is one for programs too, e.g. for grep, unless `--json` asks.
    """
    if body.startswith(b'"') and not text_as_json:
        text: str = msgspec.json.decode(body)
        sys.stdout.buffer.write(text.encode() + b"\n")
        sys.stdout.buffer.flush()
    elif as_json:
        sys.stdout.buffer.write(msgspec.json.format(body, indent=2) + b"\n")
        sys.stdout.buffer.flush()
    else:
        from .people import show_reply

        show_reply(command, msgspec.json.decode(body))


def warn(message: str) -> None:
    """One line on stderr that does not stop the command."""
    sys.stderr.write(f"memoryd: warning: {message}\n")


def tell_error(error: MemorydError, *, as_json: bool) -> None:
    """An error on stderr: one sentence and a hint, or the error object."""
    if as_json:
        sys.stderr.write(msgspec.json.encode(error.as_dict()).decode() + "\n")
        return
    sys.stderr.write(f"memoryd: {error.message}\n")
    if error.hint:
        sys.stderr.write(f"  {error.hint}\n")


@contextlib.contextmanager
def progress_shown(common: Common, what: str) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """A progress bar on stderr, where a person looks at it; else None."""
    if common.json or not sys.stderr.isatty():
        yield None
        return
    from .people import progress_bar

    with progress_bar(what) as report:
        yield report

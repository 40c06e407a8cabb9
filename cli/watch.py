"""`memoryd status --watch`: the status, asked again and again, until Ctrl-C."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ..errors import MemorydError
from ..places import find_socket
from .client import STATUS_S, Daemon
from .common import Common
from .output import wants_json
from .perform import not_running

EVERY_S = 1.0


def watch(common: Common, *, sleep: Callable[[float], None] = time.sleep) -> int:
    """Show the status each second: as a live view for a person, else one JSON line a second. Ends with Ctrl-C."""
    show = _lines() if wants_json(common) else _live()
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError), show as shown:
        while True:
            shown(_asked(common))
            sleep(EVERY_S)
    return 0


def _asked(common: Common) -> Any:
    """The reply, or an error object: a daemon that is away may come back."""
    try:
        daemon = Daemon.connect(find_socket(common.instance))
        if daemon is None:
            return not_running(common).as_dict()
        return msgspec.json.decode(daemon.ask("status", {}, workspace=common.named_workspace, limit_s=STATUS_S).body)
    except MemorydError as error:
        return error.as_dict()


@contextlib.contextmanager
def _lines() -> Iterator[Callable[[Any], None]]:
    def shown(status: Any) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(status) + b"\n")
        sys.stdout.buffer.flush()

    yield shown


@contextlib.contextmanager
def _live() -> Iterator[Callable[[Any], None]]:
    from rich.live import Live

    from .people_status import live_view

    with Live(auto_refresh=False, screen=True) as view:
        yield lambda status: view.update(live_view(status, time.time()), refresh=True)

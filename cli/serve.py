"""`memoryd run` and `memoryd service …`: the daemon itself and its installation."""

import functools
from typing import Any

import click
import msgspec

from ..cloud_config import cloud_token, cloud_url
from ..config import load_settings
from ..places import find_places
from .common import Common, common_options
from .output import show, wants_json, warn

_ACTIONS = {
    "install": "Install memoryd as a service of this user and start it.",
    "uninstall": "Stop the service and remove it; notes and memory stay.",
    "start": "Start the installed service.",
    "stop": "Stop the service; it starts again at the next login.",
    "status": "Show whether the service is installed and running.",
}


def run_command(summary: str) -> click.Command:
    """The daemon in the foreground, until a signal ends it."""
    return click.Command("run", params=[*common_options()], callback=_run, help=summary)


def service_command(summary: str) -> click.Command:
    """The group `service`."""
    group = click.Group("service", help=summary)
    for action, help_text in _ACTIONS.items():
        callback = functools.partial(_service, action)
        group.add_command(click.Command(action, params=[*common_options()], callback=callback, help=help_text))
    return group


def _run(**values: Any) -> int:
    from ..daemon.run import run
    from .alone import places_of

    common = Common.taken(click.get_current_context(), values)
    if common.auth_token:
        warn("--auth-token shows in the list of processes; TURSO_AUTH_TOKEN does not.")
    places = places_of(common)
    settings = load_settings(places)
    url = cloud_url(settings, common.db_url)
    return run(places, settings, url=url, token=cloud_token(settings, common.auth_token) if url else "")


def _service(action: str, **values: Any) -> int:
    from ..daemon import service

    common = Common.taken(click.get_current_context(), values)
    reply = getattr(service, action)(find_places(common.workspace, common.instance))
    show(f"service {action}", msgspec.json.encode(reply), as_json=wants_json(common))
    return 0

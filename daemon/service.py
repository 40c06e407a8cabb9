"""memoryd as a service of this user: one set of actions over systemd on Linux and launchd on macOS."""

import os
import sys
from collections.abc import Mapping
from typing import Protocol

from ..errors import ConfigError
from ..places import Places
from .installation import ServiceHealth, ServiceReply


class Manager(Protocol):
    """A service manager, bound to one instance."""

    def install(self) -> ServiceReply:
        """Write the definition and start the service; again with new paths if it is there."""

    def uninstall(self) -> ServiceReply:
        """Stop the service and remove its definition; no error if there is none."""

    def start(self) -> ServiceReply:
        """Start the installed service."""

    def stop(self) -> ServiceReply:
        """Stop the service until the next login or `start`."""

    def status(self) -> ServiceReply:
        """Look."""

    def health(self) -> ServiceHealth:
        """Look closer at an installed service."""


def install(places: Places, manager: Manager | None = None) -> ServiceReply:
    """Install and start the service of this instance. Raises `ConfigError`, `UnavailableError`."""
    if places.workspace is None:
        raise ConfigError("No workspace is known.", "Name it with --workspace, or run memoryd init there first.")
    reply = (manager or manager_for(places)).install()
    reply.notes += _unseen(os.environ)
    return reply


def uninstall(places: Places, manager: Manager | None = None) -> ServiceReply:
    """Stop the service and remove it; notes and memory stay."""
    return (manager or manager_for(places)).uninstall()


def start(places: Places, manager: Manager | None = None) -> ServiceReply:
    """Start the installed service. Raises `ConfigError` when it is not installed."""
    return _installed(manager or manager_for(places)).start()


def stop(places: Places, manager: Manager | None = None) -> ServiceReply:
    """Stop the installed service. Raises `ConfigError` when it is not installed."""
    return _installed(manager or manager_for(places)).stop()


def status(places: Places, manager: Manager | None = None) -> ServiceReply:
    """Whether the service is installed and runs."""
    return (manager or manager_for(places)).status()


def manager_for(places: Places, platform: str = sys.platform) -> Manager:
    """The service manager of this platform."""
    if platform == "darwin":
        from .launchd_agent import LaunchdAgent

        return LaunchdAgent(places)
    from .systemd_unit import SystemdUnit

    return SystemdUnit(places)


def _installed(manager: Manager) -> Manager:
    if not manager.status().installed:
        raise ConfigError("The service is not installed.", "Run: memoryd service install")
    return manager


def _unseen(environment: Mapping[str, str]) -> list[str]:
    names = [
        name for name in ("TURSO_DATABASE_URL", "TURSO_URL", "TURSO_AUTH_TOKEN", "TURSO_TOKEN") if name in environment
    ]
    if not names:
        return []
    return [f"The service does not see {', '.join(names)}: put sync.url and sync.token_file into the configuration."]

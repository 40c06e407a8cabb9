"""The observer of this platform."""

import sys

from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver


def make_observer() -> BaseObserver:
    """An observer that is not started yet. Raises `OSError` where the system's limits are used up."""
    if sys.platform == "linux":
        from .visible import VisibleObserver

        return VisibleObserver()
    else:  # noqa: RET505 - for mypy, which knows one platform at a time
        return Observer()  # one stream covers all folders at one price

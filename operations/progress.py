"""Telling whoever asked for an operation how far it is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Progress = Callable[[dict[str, Any]], None]
_progress: ContextVar[Progress | None] = ContextVar("progress", default=None)


@contextmanager
def reporting_to(progress: Progress | None) -> Iterator[None]:
    """Have `progress` called with small dicts while the enclosed operation runs."""
    mark = _progress.set(progress)
    try:
        yield
    finally:
        _progress.reset(mark)


def report_progress(**values: Any) -> None:
    """Tell whoever asked for the running operation how far it is."""
    if (progress := _progress.get()) is not None:
        progress(values)

"""What the watcher's threads hear: names filtered, repeats dropped, handed to the loop a batch at a time."""

import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from watchdog import events as fs

from .names import NOTHING_EXTRA, Extra, is_folder_hint, is_hint, relative_path

log = logging.getLogger(__name__)

QUEUE_LIMIT = 10_000
"""More distinct paths waiting for the loop than this: they are dropped and everything is compared."""

EVENTS: list[type[fs.FileSystemEvent]] = [
    each
    for name in (
        "FileCreatedEvent", "FileModifiedEvent", "FileMovedEvent", "FileDeletedEvent", "FileClosedEvent",
        "FileAttribEvent", "DirCreatedEvent", "DirMovedEvent", "DirDeletedEvent", "FileOpenedEvent",
    )
    if (each := getattr(fs, name, None))  # FileAttribEvent came with watchdog 7
]  # fmt: skip
"""What is listened to. That a file was opened says nothing of its content; only the canary waits for it."""


@dataclass
class Heard:
    """What the watcher's threads put down for the loop. `everything`: a folder changed or events were lost."""

    paths: set[str] = field(default_factory=set)
    everything: bool = False


class Inbox(fs.FileSystemEventHandler):
    """Takes events on the watcher's thread and wakes the loop once a batch."""

    def __init__(self, wake: Callable[[], None], extra: Extra = NOTHING_EXTRA) -> None:
        self._wake = wake
        self.extra = extra
        self._lock = threading.Lock()
        self._heard = Heard()
        self.events = 0
        """How many events passed the name filter since the start."""
        self.canary = ""
        """The note whose opening is listened for; '' once it was heard."""
        self.tell_opened: Callable[[str], None] | None = None
        """Told of every note that is opened, on the watcher's thread, while somebody waits for an echo."""

    def take(self) -> Heard:
        """Everything heard since the last call."""
        with self._lock:
            heard, self._heard = self._heard, Heard()
        return heard

    def lost(self) -> None:
        """Events were dropped: only comparing everything helps."""
        if not self._heard.everything:
            log.warning("file events were lost; everything is compared")
        self._put(None)

    def tell(self, event: fs.FileSystemEvent, root: str, prefix: str) -> None:
        """One event below the watched folder `root`, which is `prefix` inside the workspace."""
        if event.event_type == fs.EVENT_TYPE_OPENED:
            if self.canary or self.tell_opened:
                self._opened(relative_path(os.fsdecode(event.src_path), root, prefix))
            return
        for raw in (event.src_path, event.dest_path):
            path = relative_path(os.fsdecode(raw), root, prefix) if raw else None
            if not path:
                continue
            if event.is_directory:
                if event.event_type != fs.EVENT_TYPE_MODIFIED and is_folder_hint(path, self.extra):
                    self._put(None)
            elif is_hint(path, self.extra):
                self._put(path)

    def _opened(self, path: str | None) -> None:
        if path is None:
            return
        if path == self.canary:
            self.canary = ""
        if (tell := self.tell_opened) is not None:
            tell(path)

    def _put(self, path: str | None) -> None:
        with self._lock:
            first = not self._heard.paths and not self._heard.everything
            self.events += 1
            if path is None or len(self._heard.paths) >= QUEUE_LIMIT:
                self._heard.everything = True
            else:
                self._heard.paths.add(path)
        if first:
            self._wake()


class Door(fs.FileSystemEventHandler):
    """The handler of one watched folder."""

    def __init__(self, inbox: Inbox, root: str, prefix: str) -> None:
        self._inbox, self._root, self._prefix = inbox, root, prefix

    def dispatch(self, event: fs.FileSystemEvent) -> None:
        """Hand the event on with the folder it belongs to."""
        self._inbox.tell(event, self._root, self._prefix)


class Ear(logging.Handler):
    """Hears what watchdog only logs: a warning means lost events, an error that folders may not be watched any more."""

    def __init__(self, lost: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._lost = lost
        self.errors = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count errors, and ask for a look at everything."""
        self.errors += record.levelno >= logging.ERROR
        self._lost()

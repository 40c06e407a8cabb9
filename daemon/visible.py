"""watchdog's inotify observer, kept out of hidden folders and of those that tools fill.

A version control's folder inside the notes would cost a watch for each of its folders, and a wildcard from the
workspace's root one for each package that a tool installed. watchdog has no option for it, so that the one
method is replaced which adds the watches of a tree; a test counts them.
"""

import os
from pathlib import Path

from watchdog.observers.inotify import InotifyEmitter, InotifyObserver, InotifyWatchGroup
from watchdog.observers.inotify_c import InotifyEvent

from ..ingest.names import is_left_out


class VisibleGroup(InotifyWatchGroup):
    """The watches of one root and of what can be seen below it."""

    def _add_all_callbacks(self, path: bytes) -> None:
        if self._is_left_out(path):
            return
        self._add_callback(path)
        for folder, names, _ in os.walk(os.fsdecode(path)) if self.is_recursive else ():
            names[:] = [name for name in names if not (is_left_out(name) or Path(folder, name).is_symlink())]
            for name in names:
                self._add_callback(os.fsencode(Path(folder, name)))

    def _recursive_simulate(self, src_path: bytes) -> list[InotifyEvent]:
        return [] if self._is_left_out(src_path) else super()._recursive_simulate(src_path)

    def _is_left_out(self, path: bytes) -> bool:
        return path != self.path and is_left_out(os.fsdecode(path.rpartition(b"/")[2]))


class VisibleEmitter(InotifyEmitter):
    """The events of one root."""

    def on_thread_start(self) -> None:
        """Add the watches."""
        self._inotify = VisibleGroup(
            self._inotify_fd,
            os.fsencode(self.watch.path),
            is_recursive=self.watch.is_recursive,
            event_mask=self.get_event_mask_from_filter(),
            follow_symlink=self.watch.follow_symlink,
        )


class VisibleObserver(InotifyObserver):
    """watchdog's observer with those emitters."""

    def __init__(self) -> None:
        super().__init__()
        self._emitter_class = VisibleEmitter

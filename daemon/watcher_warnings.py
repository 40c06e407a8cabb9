"""What status says while the file watcher does not hear everything: code, message, fix."""

import errno
from pathlib import Path

DEAF = (
    "watcher_deaf",
    "The file watcher runs but did not hear a note being opened; notes are compared every 30 s until it hears again.",
    "It was set up anew by itself. If this stays, keep the notes on a local disk.",
)


def limit_warning(number: int | None) -> tuple[str, str, str]:
    """The system's limit that this error number tells of, and how to raise it."""
    message = "The system's limit of watched files is used up; notes are compared every 30 s instead."
    name, least = ("max_user_watches", 524_288) if number == errno.ENOSPC else ("max_user_instances", 1024)
    try:
        current = int(Path(f"/proc/sys/fs/inotify/{name}").read_text("ascii"))
    except (OSError, ValueError):
        return ("watcher_limit", message, "Let fewer programs watch files.")
    fix = f"Raise fs.inotify.{name} (now {current}): sudo sysctl fs.inotify.{name}={max(current * 2, least)}"
    return ("watcher_limit", message, fix)


def mount_warning(kind: str) -> tuple[str, str]:
    """Message and fix for a file system of this type, on which others' changes go unheard."""
    message = (
        f"The workspace lies on a {kind} mount, where changes by others go unheard; notes are compared every 30 s."
    )
    return message, "Keep the notes on a local disk to have them searchable within a second."


def failure_warning(error: OSError | RuntimeError) -> tuple[str, str, str]:
    """That the system refused to watch, and why."""
    reason = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
    message = f"File changes are not reported ({reason}); notes are compared every 30 s instead."
    return (
        "watcher",
        message,
        "Check that the workspace folder is there and readable; the watcher is tried again by itself.",
    )

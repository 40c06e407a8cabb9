"""The error tree. Each error is one sentence for the user, a hint, and an exit code.

    MemorydError                 1   anything that went wrong
    ├── UsageError              64   the command or request is wrong
    ├── NoInputError            66   a named file or fact does not exist
    ├── NotRunningError          3   the command needs a running daemon
    ├── UnavailableError        69   the cloud or the daemon does not answer
    │   ├── AuthRequiredError   69   the cloud refused the token
    │   ├── ReadOnlyError       69   the token may read but not write
    │   └── CloudStoppedError   69   the cloud is not the one we know: a person must decide
    ├── TryLaterError           75   somebody else works here; trying again can help
    ├── AccessError             77   the system forbids it
    ├── ConfigError             78   a setting is missing or wrong
    └── StoreError               1   the local database
        ├── StoreBusyError      75   another process holds the write lock
        ├── StoreFullError       1   the disk is full
        ├── StoreDamagedError    1   the file is not a sound database
        ├── StoreOlderError     75   the file waits for its upgrade, which a reading command does not do
        └── StoreNewerError     78   the file was written by a newer memoryd

About one note (recoverable, carries the path):

    NoteError                    1   one note cannot be read; the others go on
"""

from pathlib import Path
from typing import Any, ClassVar


class MemorydError(Exception):
    """Something went wrong; `message` says what in one sentence, `hint` what to do about it."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def as_dict(self) -> dict[str, dict[str, str]]:
        """The error object of the command line and the socket: `{"error": {"code", "message", "hint"}}`."""
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint}}


class UsageError(MemorydError):
    """The command or request is wrong; nothing was done."""

    code = "usage"
    exit_code = 64
    http_status = 400


class NoInputError(MemorydError):
    """A file or fact that was named does not exist."""

    code = "no_input"
    exit_code = 66
    http_status = 404


class NotRunningError(MemorydError):
    """The command needs a running daemon and there is none."""

    code = "not_running"
    exit_code = 3
    http_status = 503


class UnavailableError(MemorydError):
    """The cloud or the daemon does not answer; local work goes on."""

    code = "unavailable"
    exit_code = 69
    http_status = 503


class AuthRequiredError(UnavailableError):
    """The cloud refused the token (401, or 403 on a read)."""

    code = "auth_required"


class ReadOnlyError(UnavailableError):
    """The token may read but not write (403 on a write)."""

    code = "read_only"


class CloudStoppedError(UnavailableError):
    """The cloud was replaced or set back, or speaks another wire version or key: a person must decide."""

    code = "stopped"


class TryLaterError(MemorydError):
    """Somebody else works here at the moment."""

    code = "try_later"
    exit_code = 75
    http_status = 409


class AccessError(MemorydError):
    """The system forbids it."""

    code = "permission"
    exit_code = 77
    http_status = 403


class ConfigError(MemorydError):
    """A setting is missing or wrong."""

    code = "configuration"
    exit_code = 78
    http_status = 422


class StoreError(MemorydError):
    """The local database refused."""

    code = "store"


class StoreBusyError(StoreError):
    """Another process holds the write lock of the database."""

    code = "store_busy"
    exit_code = 75
    http_status = 409


class StoreFullError(StoreError):
    """The disk is full; the transaction was rolled back, nothing is half written."""

    code = "disk_full"


class StoreDamagedError(StoreError):
    """The database file is not sound."""

    code = "store_damaged"


class StoreOlderError(StoreError):
    """The database was written by an older memoryd, and whoever opened it only wants to read."""

    code = "store_older"
    exit_code = 75
    http_status = 409


class StoreNewerError(StoreError):
    """The database was written by a newer memoryd."""

    code = "store_newer"
    exit_code = 78
    http_status = 422


class NoteError(MemorydError):
    """One note cannot be read; the others go on.

    `path` is relative to the workspace.
    """

    code = "note"

    def __init__(self, path: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.path = path


def every_error() -> list[type[MemorydError]]:
    """All error classes, parents first; the README's table of exit codes is checked against it."""
    found: list[type[MemorydError]] = [MemorydError]
    for each in found:
        found.extend(each.__subclasses__())
    return found


def error_from_dict(data: Any) -> MemorydError:
    """The error whose `as_dict` gave `data`: what the thin client raises for an error reply of the socket."""
    body = data.get("error") if isinstance(data, dict) else None
    if not isinstance(body, dict):
        return UnavailableError("The daemon's reply makes no sense.", "Restart it: memoryd service stop, then start.")
    classes = {each.code: each for each in every_error() if each is not NoteError}
    kind = classes.get(str(body.get("code")), MemorydError)
    return kind(str(body.get("message", "")), str(body.get("hint", "")))


def place_of(error: BaseException) -> str:
    """Type and place of an error, without its message: that may hold words of a note."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return type(error).__name__
    code = frame.tb_frame.f_code
    return f"{type(error).__name__} in {code.co_name}, {Path(code.co_filename).name}:{frame.tb_lineno}"

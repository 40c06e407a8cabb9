"""The only module that imports the libSQL library, and the cure for each of its traps.

Measured on libsql-experimental 0.0.55: it holds the GIL during every call, re-runs a statement whose
cursor is fetched past its end, binds Python ints of 2^31 and more as floating point, binds missing
parameters as NULL, reads text back only up to a NUL, runs only the first of several statements, and
reports every SQL error as a bare ValueError and misuse as a PanicException that is no Exception.
"""

import math
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias, TypeVar

# Read when the library starts its own logging, so it has to stand before the import.
os.environ.setdefault("RUST_LOG", "off")

import libsql_experimental  # type: ignore[import-untyped]  # the package carries no types

from ..errors import (
    AccessError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
)

T = TypeVar("T")
Value: TypeAlias = str | int | float | bytes | None
ResultRow: TypeAlias = tuple[Value, ...]

CACHE_KIB = 2_000
"""What the library keeps of the file by itself."""
WAL_PAGES = 1_000
"""After how many pages of its log the library moves them into the file, by itself."""
BUSY_LIMIT_S = 30.0
"""How long a statement waits for another process's write lock."""
_BUSY_PAUSE_S = 0.005
_INT32 = 2**31
_INT64 = 2**63

_PARTS_OF_SQL = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|(\?)|(;)", re.DOTALL)


class Database:
    """One libSQL file, one connection, one thread.

    Every method raises a `StoreError`. Nothing of the library leaves this class: rows are tuples.
    """

    def __init__(self, path: Path, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.path = path
        self._sleep = sleep
        self._closed = False
        self._in_transaction = False
        connect = libsql_experimental.connect
        self._connection = self._guarded(lambda: connect(str(path), isolation_level=None))
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=0", "foreign_keys=ON", "secure_delete=ON"):
            self._patiently(f"PRAGMA {pragma}", ())

    def execute(self, sql: str, parameters: tuple[Value, ...] = ()) -> list[ResultRow]:
        """Run one statement and return all its rows."""
        return self._patiently(sql, _bindable(sql, parameters))[0]

    def run(self, sql: str, parameters: tuple[Value, ...] = ()) -> int:
        """Run one statement and return how many rows it changed."""
        return self._patiently(sql, _bindable(sql, parameters))[1]

    def keep_pages(self, kib: int, wal_pages: int) -> None:
        """How much of the file the library keeps in memory [KiB], and how many pages it gathers in its log.

        What is over the first is let go of at once; a page that changes again before the second is reached is
        written into the file only once.
        """
        self.execute(f"PRAGMA cache_size = -{kib:d}")
        self.execute(f"PRAGMA wal_autocheckpoint = {wal_pages:d}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """BEGIN IMMEDIATE … COMMIT; any exception rolls back and goes on. Does not nest."""
        if self._in_transaction:
            raise StoreError("A transaction is already open.", "This is a fault of memoryd: please report it.")
        self._patiently("BEGIN IMMEDIATE", ())
        self._in_transaction = True
        try:
            yield
            self._patiently("COMMIT", ())
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._in_transaction = False

    @property
    def closed(self) -> bool:
        """Whether `close()` was called."""
        return self._closed

    def close(self) -> None:
        """Close the file; a second call does nothing. Uncommitted work is discarded."""
        if not self._closed:
            self._closed = True
            self._connection.close()

    def _roll_back(self) -> None:
        # SQLITE_FULL has rolled back by itself; without a transaction ROLLBACK is an error we may ignore.
        try:
            self._once("ROLLBACK", ())
        except StoreError:
            return

    def _patiently(self, sql: str, parameters: tuple[Value, ...]) -> tuple[list[ResultRow], int]:
        # busy_timeout would wait inside the library, with the GIL held: every thread would stand still.
        deadline = time.monotonic() + BUSY_LIMIT_S
        while True:
            try:
                return self._once(sql, parameters)
            except StoreBusyError:
                if time.monotonic() > deadline:
                    raise
                self._sleep(_BUSY_PAUSE_S)

    def _once(self, sql: str, parameters: tuple[Value, ...]) -> tuple[list[ResultRow], int]:
        def call() -> tuple[list[ResultRow], int]:
            cursor = self._connection.execute(sql, parameters)
            # Exactly once: fetching past the end runs the statement again.
            rows = cursor.fetchall() if cursor.description else []
            return rows or [], max(cursor.rowcount, 0)

        return self._guarded(call)

    def _guarded(self, call: Callable[[], T]) -> T:
        if self._closed:
            raise StoreError("The database is already closed.", "This is a fault of memoryd: please report it.")
        try:
            return call()
        except ValueError as error:
            raise _translated(str(error), self.path) from None
        except BaseException as error:
            # pyo3's PanicException derives from BaseException and cannot be imported.
            if type(error).__name__ != "PanicException":
                raise
            raise StoreDamagedError(
                f"The database library gave up: {error}", "Start the daemon again: it checks the file and rebuilds it."
            ) from None


def _translated(text: str, path: Path) -> StoreError | AccessError:
    if "database is locked" in text or "database table is locked" in text:
        return StoreBusyError(f"Another process holds {path.name}.", "Try again in a moment.")
    if "disk is full" in text:
        return StoreFullError("The disk is full.", f"Make room on the disk that holds {path.parent}.")
    if "malformed" in text or "not a database" in text:
        return StoreDamagedError(f"{path.name} is damaged: {text}", "memoryd rebuilds it from the notes and the cloud.")
    if "readonly database" in text or "Unable to open" in text:
        return AccessError(f"{path} cannot be opened: {text}", "Check the folder's owner and mode.")
    return StoreError(f"The database refused: {text}", "This is a fault of memoryd: please report it.")


@lru_cache(maxsize=512)
def _placeholders(sql: str) -> int:
    """How many `?` stand outside of strings and comments; refuses a second statement, which would be ignored."""
    marks, ended = 0, False
    for match in _PARTS_OF_SQL.finditer(sql):
        marks += match.group(1) is not None
        if match.group(2):
            ended = sql[match.end() :].strip() != ""
    if ended:
        raise StoreError("More than one SQL statement in one call.", "This is a fault of memoryd: please report it.")
    return marks


def _bindable(sql: str, parameters: tuple[Value, ...]) -> tuple[Value, ...]:
    if (wanted := _placeholders(sql)) != len(parameters):
        raise StoreError(f"{wanted} SQL parameters wanted, {len(parameters)} given.", "Please report this fault.")
    return tuple(map(_bound, parameters))


def _bound(value: Value) -> Value:
    """The value as the library carries it without loss: beyond 32 bits an int travels as text."""
    kind = type(value)
    if kind is str:
        if "\0" in value:  # type: ignore[operator]  # kind is str
            raise StoreError("Text with a NUL byte cannot be stored.", "Remove the NUL byte.")
        if not value.isascii():  # type: ignore[union-attr]  # kind is str
            _refuse_surrogates(value)  # type: ignore[arg-type]  # kind is str
        return value
    if kind is int:
        if -_INT32 <= value < _INT32:  # type: ignore[operator]  # kind is int
            return value
        if -_INT64 <= value < _INT64:  # type: ignore[operator]  # kind is int
            return str(value)
        raise StoreError("The number has more than 64 bits.", "This is a fault of memoryd: please report it.")
    if kind is bool:
        return int(value)  # type: ignore[arg-type]  # kind is bool
    if value is None or kind is bytes or (kind is float and math.isfinite(value)):  # type: ignore[arg-type]  # kind is float
        return value
    raise StoreError(f"A {kind.__name__} cannot be stored.", "This is a fault of memoryd: please report it.")


def _refuse_surrogates(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise StoreError("Text with half a character cannot be stored.", "Save it as UTF-8.") from None

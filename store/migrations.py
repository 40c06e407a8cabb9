"""Bringing a memory file's tables up to date: a copy first, each step whole or not at all, told in counts.

A step is one numbered .sql file and one transaction; `PRAGMA user_version` counts those that were done. Cut
off at any statement, the step's transaction never happened, and the next opening goes on from there.
"""

import errno
import logging
import os
import shutil
import sqlite3
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from ..crash import crash_point
from ..errors import StoreBusyError, StoreDamagedError, StoreError, StoreFullError, StoreNewerError, StoreOlderError
from .adapter import Database

log = logging.getLogger(__name__)

MIGRATIONS = ("001_rows.sql", "002_layers.sql", "003_totals.sql", "004_urls.sql", "005_simplified.sql")
"""Numbered .sql files of this folder, in order."""

_COUNTED = {"notes": "notes", "facts": "facts", "mentions": "places where they stand"}


def migrate(db: Database, *, may_upgrade: bool = True) -> None:
    """Make the tables of a new file, or upgrade those of an older memoryd.

    Before an upgrade the file is copied to `<name>.before-<version>`. Raises `StoreNewerError` for a file of a
    newer memoryd, `StoreOlderError` where an upgrade is due and not wanted now, and `StoreDamagedError`.
    """
    found = _version(db)
    if found > len(MIGRATIONS):
        raise StoreNewerError(
            f"{db.path} was written by a newer memoryd (schema {found}, this one knows {len(MIGRATIONS)}).",
            "Update memoryd; nothing was changed.",
        )
    if found in (0, len(MIGRATIONS)):
        _run_from(db, found)
        return
    if not may_upgrade:
        raise StoreOlderError(
            f"The memory still has the form of an older memoryd (schema {found}, this one has {len(MIGRATIONS)}),"
            " and a command that only reads does not change that.",
            "Start the daemon, or run: memoryd rescan",
        )
    kept = _copied(db, found + 1)
    before = _counts(db)
    _run_from(db, found)
    log.warning(
        "the memory was upgraded from schema %d to %d: %s; the file as it was is kept as %s",
        found, len(MIGRATIONS), _told(before, _counts(db)), kept.name,
    )  # fmt: skip


def _version(db: Database) -> int:
    (found,) = db.execute("PRAGMA user_version")[0]
    if not isinstance(found, int):
        raise StoreDamagedError(
            "The database has no schema version.", "Move it away: it is rebuilt from notes and cloud."
        )
    return found


def _run_from(db: Database, done: int) -> None:
    for number, name in enumerate(MIGRATIONS[done:], done + 1):
        sql = resources.files(__package__).joinpath(name).read_text("utf-8")
        with db.transaction():
            for statement in _statements(sql):
                db.execute(statement)
                crash_point("migration statement")
            # PRAGMA takes no parameters; the number is ours.
            db.execute(f"PRAGMA user_version = {number}")
        crash_point("migrated")


def _statements(sql: str) -> Iterator[str]:
    statement = ""
    for piece in sql.replace(";", ";\0").split("\0"):
        statement += piece
        if sqlite3.complete_statement(statement):  # not inside a trigger, a string or a comment
            if _says_something(statement):
                yield statement.strip()
            statement = ""
    if _says_something(statement):
        raise StoreError("A migration ends in the middle of a statement.", "This is a fault of memoryd: please report.")


def _says_something(statement: str) -> bool:
    lines = (line.partition("--")[0].strip(" \t;") for line in statement.splitlines())
    return any(lines)


def _copied(db: Database, to: int) -> Path:
    """A copy of the file as it is, whole or not there at all."""
    ((busy, *_),) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if busy:
        raise StoreBusyError(f"Another process reads {db.path.name}; it is not upgraded now.", "Try again in a moment.")
    target = db.path.with_name(f"{db.path.name}.before-{to}")
    temporary = target.with_name(f"{target.name}.new")
    try:
        shutil.copyfile(db.path, temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o600)
        crash_point("old schema copied")
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        kind = StoreFullError if error.errno in (errno.ENOSPC, errno.EDQUOT) else StoreError
        raise kind(
            f"The memory cannot be copied before its upgrade: {error.strerror}.",
            f"Make room for it in {db.path.parent}; nothing was changed.",
        ) from None
    return target


def _counts(db: Database) -> dict[str, int]:
    return {table: int(str(db.execute(f"SELECT count(*) FROM {table}")[0][0])) for table in _COUNTED}


def _told(before: dict[str, int], after: dict[str, int]) -> str:
    if before == after:
        return ", ".join(f"{count:,} {_COUNTED[table]}" for table, count in after.items()) + ", as before"
    return ", ".join(f"{after[table]:,} {_COUNTED[table]} (before: {before[table]:,})" for table in after)

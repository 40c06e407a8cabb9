"""The memory file of one device: migrations, row revisions and versions, transactions."""

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ..clock import Clock, LogicalClock
from .adapter import Database, ResultRow, Value
from .migrations import migrate

_JSON = msgspec.json.Encoder()

BULK_ROWS = 400
"""Rows a bulk statement: it stays below 50 ms, during which the library lets no other thread run."""


class Tx:
    """One open write transaction: the database, and the counters that it moves.

    Every row that belongs into this device's log takes `next_rev()`; rows of one note take theirs
    before the note row does (docs/data.md, 5).
    """

    def __init__(self, store: "Store") -> None:
        self.store = store
        self._rev = store.rev

    @property
    def device(self) -> str:
        """This device's id."""
        return self.store.device

    def next_rev(self) -> int:
        """A revision greater than every one before."""
        self._rev += 1
        return self._rev

    def next_version(self) -> str:
        """A version greater than every one made or seen."""
        return self.store.logical.next()

    def execute(self, sql: str, parameters: tuple[Value, ...] = ()) -> list[ResultRow]:
        """Run one statement and return its rows."""
        return self.store.db.execute(sql, parameters)

    def run(self, sql: str, parameters: tuple[Value, ...] = ()) -> int:
        """Run one statement and return how many rows it changed."""
        return self.store.db.run(sql, parameters)

    def number(self, sql: str, before: tuple[Value, ...], after: tuple[Value, ...] = ()) -> None:
        """Run a statement that gives the nth row it writes the revision `? + nth`; that `?` follows `before`."""
        self._rev += self.run(sql, (*before, self._rev, *after))

    def touch(self, agent_id: str, fact_id: str) -> None:
        """Mark a fact whose rows changed: its derived values and index entry are made anew."""
        self.run("INSERT OR IGNORE INTO dirty VALUES (?, ?)", (agent_id, fact_id))

    def touch_all(self, agent_id: str, facts: Iterable[str]) -> None:
        """`touch` many facts of one agent."""
        self.run_bulk(
            "INSERT OR IGNORE INTO dirty SELECT value ->> 0, value ->> 1 FROM json_each(?)",
            [(agent_id, fact) for fact in facts],
        )

    def run_bulk(self, sql: str, rows: Sequence[Sequence[Value]], at_once: int = BULK_ROWS) -> None:
        """Run one statement that reads its rows from `json_each(?)`, some hundred at a time.

        The library prepares a statement anew at each call, which costs more than the row itself.
        """
        for start in range(0, len(rows), at_once):
            self.run(sql, (_JSON.encode(rows[start : start + at_once]).decode(),))

    def set_meta(self, key: str, value: str) -> None:
        """Write one local setting."""
        self.run("INSERT INTO meta VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v", (key, value))

    def _write_counters(self) -> None:
        if self._rev != self.store.rev:
            self.set_meta("rev", str(self._rev))
        if self.store.logical.last != self.store.saved_stamp:
            self.set_meta("clock", self.store.logical.last)


class Store:
    """The embedded libSQL file. One thread uses it; see `StoreThread` for the daemon's."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self.db = db
        self.clock = clock
        self.device = self.meta("device")
        self.rev = int(self.meta("rev") or "0")
        self.saved_stamp = self.meta("clock")
        self.logical = LogicalClock(self.device, clock.now_ms, self.saved_stamp)

    @classmethod
    def open(
        cls,
        path: Path,
        clock: Clock,
        *,
        new_device: Callable[[], str] | None = None,
        may_upgrade: bool = True,
    ) -> "Store":
        """Open or make the file at `path` and bring its tables up to date (migrations.py).

        Raises `StoreNewerError` for a file of a newer memoryd, `StoreOlderError` for one of an older memoryd
        when it may not be upgraded, and `StoreDamagedError` for one that is no database.
        """
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        db = Database(path)
        try:
            migrate(db, may_upgrade=may_upgrade)
            if not db.execute("SELECT v FROM meta WHERE k = 'device'"):
                device = (new_device or new_device_id)()
                with db.transaction():
                    db.run("INSERT INTO meta VALUES ('device', ?)", (device,))
            return cls(db, clock)
        except BaseException:
            db.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[Tx]:
        """One write transaction; the counters it moved are committed with it, or not at all."""
        stamp = self.logical.last
        try:
            with self.db.transaction():
                tx = Tx(self)
                yield tx
                tx._write_counters()
        except BaseException:
            self.logical = LogicalClock(self.device, self.clock.now_ms, stamp)
            raise
        self.rev = tx._rev
        self.saved_stamp = self.logical.last

    def execute(self, sql: str, parameters: tuple[Value, ...] = ()) -> list[ResultRow]:
        """Read: run one statement and return its rows."""
        return self.db.execute(sql, parameters)

    def meta(self, key: str) -> str:
        """One local setting, '' if it was never written."""
        rows = self.db.execute("SELECT v FROM meta WHERE k = ?", (key,))
        return str(rows[0][0]) if rows else ""

    def change_device(self, device: str) -> None:
        """Take another device id from now on; the caller has written it to `meta` and re-keyed the rows."""
        self.device = device
        self.logical = LogicalClock(device, self.clock.now_ms, self.logical.last)

    def close(self) -> None:
        """Close the file."""
        self.db.close()


def new_device_id() -> str:
    """Eight random hex digits."""
    return secrets.token_hex(4)

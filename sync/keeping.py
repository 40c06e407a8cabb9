"""Keeping this device's log short: a snapshot now and then, and older segments go in time (DATA section 5)."""

import msgspec

from ..clock import MS_PER_DAY, Clock
from ..config import CloudSettings
from ..store import Store, Value
from ..store.log import count_live
from ..store.sent import CLOUD, newest_snapshot_start, rows_sent_from
from ..store.thread import Priority, StoreThread
from .cloud import IS_OUR_CLOUD
from .hrana import CloudClient, Statement
from .push import Pusher
from .snapshot import write_snapshot

SNAPSHOT_RATIO = 4
"""A log is written anew when it has more rows than this many times its live ones."""
SMALL_LOG_ROWS = 1_000
"""A log of so few rows is not worth the trouble."""
LOOK_S = 86_400.0
"""How often the age of older segments is looked at [s]."""

# The cloud's own clock, since it also wrote `at`.
_OLDER = (
    "SELECT idx, rows, at, CAST(unixepoch('now') * 1000 AS INTEGER),"
    " (SELECT sum(rows) FROM segments WHERE device = ?) FROM segments WHERE device = ? AND idx < ? ORDER BY idx"
)


class _LogSize(msgspec.Struct):
    device: str
    cloud: str
    live: int
    start: int
    since: int


class LogKeeper:
    """Looks after the log when something was sent."""

    def __init__(
        self, thread: StoreThread, client: CloudClient, pusher: Pusher, settings: CloudSettings, clock: Clock
    ) -> None:
        self._thread = thread
        self._client = client
        self._pusher = pusher
        self._settings = settings
        self._clock = clock
        self._looked: float | None = None

    async def keep(self) -> None:
        """Write a snapshot if the log has grown too long, and let go of what need not be kept before one."""
        size = await self._thread.call(_log_size, priority=Priority.READ)
        written = size.since > max(SMALL_LOG_ROWS, SNAPSHOT_RATIO * size.live)
        if written:
            await write_snapshot(self._thread, self._pusher, remove_older=False)
            size = await self._thread.call(_log_size, priority=Priority.READ)
        now = self._clock.monotonic()
        if size.start and (written or self._looked is None or now - self._looked >= LOOK_S):
            self._looked = now
            await self._let_go(size)

    async def _let_go(self, size: _LogSize) -> None:
        (older,) = await self._client.query(Statement(_OLDER, (size.device, size.device, size.start)))
        upto = last_to_go(older.rows, size.live, self._settings)
        if upto:
            sql = f"DELETE FROM segments WHERE device = ? AND idx <= ? AND {IS_OUR_CLOUD}"
            await self._client.transact([Statement(sql, (size.device, upto, size.cloud))])


def last_to_go(older: list[tuple[Value, ...]], live: int, settings: CloudSettings) -> int:
    """The idx up to which segments before the newest snapshot go, 0 for none; pure.

    `older` rows are `(idx, rows, at, now, rows of the whole log)`, oldest first. One goes when it is older
    than `keep_days`, or while the log has more than `keep_ratio` times its live rows.
    """
    upto = gone = 0
    for idx, rows, at, now, total in older:
        if not (isinstance(idx, int) and isinstance(rows, int) and isinstance(total, int)):
            break
        old = isinstance(at, int) and isinstance(now, int) and at < now - settings.keep_days * MS_PER_DAY
        if not old and total - gone <= settings.keep_ratio * live:
            break
        upto, gone = idx, gone + rows
    return upto


def _log_size(store: Store) -> _LogSize:
    start = newest_snapshot_start(store)
    return _LogSize(store.device, store.meta(CLOUD), count_live(store), start, rows_sent_from(store, start))

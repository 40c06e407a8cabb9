"""Keeping this device's log short: a snapshot now and then, and older segments go in time (docs/data.md, 5)."""

from functools import partial

import msgspec

from ..clock import MS_PER_DAY, Clock
from ..config import CloudSettings
from ..store import Store, Value
from ..store.log import count_live
from ..store.notes import let_go_of_text
from ..store.sent import CLOUD, newest_snapshot_start, prune_receipts, rows_sent_from
from ..store.thread import Priority, StoreThread
from .cloud import IS_OUR_CLOUD, earliest
from .hrana import CloudClient, Statement
from .inherit import KEEP_DELETED_DAYS
from .push import Pusher
from .snapshot import write_snapshot

SNAPSHOT_RATIO = 4
"""A log is written anew when it has more rows than this many times its live ones."""
SMALL_LOG_ROWS = 1_000
"""A log of so few rows is not worth the trouble."""
_NOTES_A_STEP = 100
LOOK_S = 86_400.0
"""How often the age of older segments is looked at [s]."""

# The cloud's own clock, since it also wrote `at`.
_OLDER = (
    "SELECT idx, rows, at, CAST(unixepoch('now') * 1000 AS INTEGER),"
    " (SELECT sum(rows) FROM segments WHERE device = ?), coalesce(first = idx, 0)"
    " FROM segments WHERE device = ? AND idx <= ? ORDER BY idx"
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
        self._reached: tuple[str, float, int] | None = None

    async def keep(self) -> None:
        """Write a snapshot if the log has grown too long, and let go of what need not be kept before one."""
        size = await self._thread.call(_log_size, priority=Priority.READ)
        written = size.since > max(SMALL_LOG_ROWS, SNAPSHOT_RATIO * size.live)
        if written:
            await write_snapshot(self._thread, self._pusher, remove_older=False)
            size = await self._thread.call(_log_size, priority=Priority.READ)
        now = self._clock.monotonic()
        if written or self._looked is None or now - self._looked >= LOOK_S:
            self._looked = now
            await self._thread.call(partial(prune_receipts, keep_days=self._settings.keep_days))
            while await self._thread.call(drop_deleted_text):
                pass
            if size.start:
                await self._let_go(size)

    async def reach(self) -> int:
        """How far back this log can be told [ms, the cloud's clock], 0 unknown; asked daily and after it was cut."""
        device = await self._thread.call(lambda store: store.device, priority=Priority.READ)
        now = self._clock.monotonic()
        if self._reached is None or self._reached[0] != device or now - self._reached[1] >= LOOK_S:
            self._reached = (device, now, await earliest(self._client, device))
        return self._reached[2]

    async def _let_go(self, size: _LogSize) -> None:
        (older,) = await self._client.query(Statement(_OLDER, (size.device, size.device, size.start)))
        upto = min(last_to_go(older.rows, size.live, self._settings), size.start - 1)
        if upto:
            self._reached = None
            sql = f"DELETE FROM segments WHERE device = ? AND idx <= ? AND {IS_OUR_CLOUD}"
            await self._client.transact([Statement(sql, (size.device, upto, size.cloud))])


def last_to_go(older: list[tuple[Value, ...]], live: int, settings: CloudSettings) -> int:
    """The idx up to which segments before the newest snapshot go, 0 for none; pure.

    `older` rows are `(idx, rows, at, now, rows of the whole log, begins a snapshot)`, oldest first. What is older
    than `keep_days` goes as far as a snapshot of that age, from which everything younger can still be told; more
    goes, oldest first, while the log has more than `keep_ratio` times its live rows.
    """
    upto = gone = before = 0
    for idx, rows, at, now, total, begins in older:
        if not (isinstance(idx, int) and isinstance(rows, int) and isinstance(total, int)):
            break
        if begins and isinstance(at, int) and isinstance(now, int) and at < now - settings.keep_days * MS_PER_DAY:
            upto, gone = idx - 1, before
        before += rows
        if total - gone > settings.keep_ratio * live:
            upto, gone = idx, before
    return upto


def drop_deleted_text(store: Store) -> bool:
    """Let go of the text of some notes, deleted too long ago for `restore --deleted`; whether there were any."""
    oldest = store.clock.now_ms() - KEEP_DELETED_DAYS * MS_PER_DAY
    rows = store.execute(
        "SELECT agent_id, path FROM notes WHERE device = ? AND deleted_at < ? AND chunks <> '[]' LIMIT ?",
        (store.device, oldest, _NOTES_A_STEP),
    )
    if rows:
        with store.transaction() as tx:
            for agent, path in rows:
                let_go_of_text(tx, str(agent), str(path))
    return bool(rows)


def _log_size(store: Store) -> _LogSize:
    start = newest_snapshot_start(store)
    return _LogSize(store.device, store.meta(CLOUD), count_live(store), start, rows_sent_from(store, start))

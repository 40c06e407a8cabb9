"""What is asked of the cloud: which one it is, the heads of its logs, their segments."""

import msgspec

from .hrana import CloudClient, CloudError, Statement, Value
from .seal import sealed_with
from .wire import Head, Segment

FETCH_BYTES = 4_000_000
"""Payload bytes of one answer; base64 and JSON make a third more, and an answer ends at about 10 MB."""
FETCH_SEGMENTS = 256

IS_OUR_CLOUD = "(SELECT v FROM meta WHERE k = 'cloud') IS ?"
"""Guards every write: nothing is written into a cloud that was replaced."""
HEAD_OF = "(SELECT sha256 FROM segments WHERE device = ? ORDER BY idx DESC LIMIT 1)"

# Jumps from device to device by the primary key instead of reading every segment's row.
_HEADS = """WITH RECURSIVE d(device) AS (SELECT min(device) FROM segments UNION ALL
 SELECT (SELECT min(device) FROM segments WHERE device > d.device) FROM d WHERE d.device IS NOT NULL)
 SELECT s.device, s.idx, s.sha256, s.at, substr(s.payload, 1, 10) FROM d JOIN segments s ON s.device = d.device
 AND s.idx = (SELECT max(idx) FROM segments WHERE device = d.device)"""

_FIELDS = "device, idx, prev, sha256, payload, rows, first, part, parts, at"
_PAGE = f"""SELECT {_FIELDS} FROM segments WHERE device = ? AND idx > ? AND idx <= (SELECT max(idx) FROM (
 SELECT idx, sum(size) OVER (ORDER BY idx) AS total, row_number() OVER (ORDER BY idx) AS n FROM (
 SELECT idx, length(payload) AS size FROM segments WHERE device = ? AND idx > ? ORDER BY idx LIMIT ?))
 WHERE total <= ? OR n = 1) ORDER BY idx"""
_PARTS = """SELECT first, max(idx), count(*), parts, max(at) FROM segments WHERE device = ? AND first > ?
 GROUP BY first, parts"""


class CloudState(msgspec.Struct):
    """What the cloud says of itself: `value` is its `meta` row, '' if it has none."""

    value: str
    heads: dict[str, Head]

    @property
    def exists(self) -> bool:
        """Whether there is anything of memoryd's."""
        return bool(self.value or self.heads)


class SnapshotRange(msgspec.Struct, frozen=True):
    """A complete snapshot of a log: its segments are `first` to `last`, whole since `at` [ms, the cloud's clock]."""

    first: int
    last: int
    at: int = 0


async def read_cloud(client: CloudClient) -> CloudState:
    """Which cloud this is, and where its logs end. A cloud without our tables is an empty one."""
    try:
        (meta,) = await client.query(Statement("SELECT v FROM meta WHERE k = 'cloud'"))
    except CloudError as error:
        if not error.missing_table:
            raise
        return CloudState("", {})
    value = str(meta.rows[0][0]) if meta.rows else ""
    try:
        (heads,) = await client.query(Statement(_HEADS))
    except CloudError as error:
        if not error.missing_table:
            raise
        return CloudState(value, {})
    found = [
        Head(str(device), _number(idx), str(sha), _number(at), sealed_with(start) if isinstance(start, bytes) else "")
        for device, idx, sha, at, start in heads.rows
    ]
    return CloudState(value, {each.device: each for each in found})


async def fetch_after(client: CloudClient, device: str, idx: int, *, segments: int = FETCH_SEGMENTS) -> list[Segment]:
    """The next segments of a log, in order, a few MB at most; none when there are no more."""
    size = FETCH_BYTES
    while True:
        args: tuple[Value, ...] = (device, idx, device, idx, segments, size)
        try:
            (result,) = await client.query(Statement(_PAGE, args))
        except CloudError as error:
            if not error.too_large or size < 1000:
                raise
            size //= 2
            continue
        return [_segment(row) for row in result.rows]


async def count_rows_after(client: CloudClient, device: str, idx: int) -> int:
    """How many rows a log holds after a segment."""
    sql = "SELECT coalesce(sum(rows), 0) FROM segments WHERE device = ? AND idx > ?"
    (result,) = await client.query(Statement(sql, (device, idx)))
    return _number(result.rows[0][0])


async def segment_hash(client: CloudClient, device: str, idx: int) -> str:
    """The hash of one segment, '' if it is not there."""
    sql = "SELECT sha256 FROM segments WHERE device = ? AND idx = ?"
    (result,) = await client.query(Statement(sql, (device, idx)))
    return str(result.rows[0][0]) if result.rows else ""


async def earliest(client: CloudClient, device: str) -> int:
    """The time from which on a log can be folded: its first segment's, or its oldest snapshot's [ms]; 0 without one."""
    sql = (
        "SELECT coalesce(min(at), 0) FROM segments WHERE device = ?"
        " AND (idx = 1 OR (first IN (SELECT first FROM segments WHERE device = ? AND part = parts) AND part = parts))"
    )
    (result,) = await client.query(Statement(sql, (device, device)))
    return _number(result.rows[0][0])


async def newest_snapshot(client: CloudClient, device: str, after: int) -> SnapshotRange | None:
    """The newest snapshot of a log, beginning after segment `after`, of which every part is there."""
    return max(await snapshots_of(client, device, after), key=_first_of, default=None)


async def snapshots_of(client: CloudClient, device: str, after: int = 0) -> list[SnapshotRange]:
    """All snapshots of a log, beginning after segment `after`, of which every part is there."""
    (result,) = await client.query(Statement(_PARTS, (device, after)))
    return [
        SnapshotRange(_number(first), _number(last), _number(at))
        for first, last, count, parts, at in result.rows
        if count == parts and _number(last) == _number(first) + _number(parts) - 1
    ]


def _first_of(snapshot: SnapshotRange) -> int:
    return snapshot.first


def _segment(row: tuple[Value, ...]) -> Segment:
    device, idx, prev, sha, payload, rows, first, part, parts, at = row
    data = payload if isinstance(payload, bytes) else b""
    return Segment(
        str(device), _number(idx), str(prev or ""), str(sha or ""), data, _number(rows),
        _optional(first), _optional(part), _optional(parts), _number(at),
    )  # fmt: skip


def _number(value: Value) -> int:
    return value if isinstance(value, int) else 0


def _optional(value: Value) -> int | None:
    return value if isinstance(value, int) else None

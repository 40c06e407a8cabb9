"""What this device sent and how far it folded the others: receipts, cursors, the cloud it knows."""

import hashlib
from typing import Any

import msgspec

from ..clock import MS_PER_DAY
from .adapter import Value
from .store import Store, Tx

CLOUD = "cloud"
"""Key in `meta`: the whole value of the cloud's own meta row, '' while none is known."""


class SentSegment(msgspec.Struct, frozen=True):
    """One receipt. `first`, `part`, `parts` are 0 for a plain segment; `at` in ms."""

    idx: int
    sha256: str
    last_rev: int
    rows: int
    bytes: int
    first: int = 0
    part: int = 0
    parts: int = 0
    confirmed: bool = False


class Cursor(msgspec.Struct, frozen=True):
    """How far another log was folded; `fault` says why not further."""

    device: str
    idx: int
    sha256: str
    fault: str


def receipts(store: Store) -> list[SentSegment]:
    """This device's receipts from the last confirmed one on, oldest first."""
    rows = store.execute(
        "SELECT idx, sha256, last_rev, rows, bytes, first, part, parts, confirmed FROM receipts WHERE device = ?"
        " AND idx >= coalesce((SELECT max(idx) FROM receipts WHERE device = ? AND confirmed = 1), 0) ORDER BY idx",
        (store.device, store.device),
    )
    return [_sent(*row) for row in rows]


def last_confirmed(store: Store) -> SentSegment | None:
    """The last segment of this device's log that the cloud has confirmed."""
    return max((each for each in receipts(store) if each.confirmed), key=_idx_of, default=None)


def write_receipt(tx: Tx, sent: SentSegment) -> None:
    """Store what is about to be sent."""
    tx.run(
        "INSERT OR REPLACE INTO receipts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
        (tx.device, sent.idx, sent.sha256, sent.last_rev, sent.first, sent.part, sent.parts, sent.rows, sent.bytes,
         tx.store.clock.now_ms()),
    )  # fmt: skip


def confirm(tx: Tx, sent: SentSegment) -> None:
    """The cloud has it: what it holds is sent. Other tries at the same place never arrived."""
    tx.run(
        "UPDATE receipts SET confirmed = 1 WHERE device = ? AND idx = ? AND sha256 = ?",
        (tx.device, sent.idx, sent.sha256),
    )
    tx.run("DELETE FROM receipts WHERE device = ? AND idx <= ? AND confirmed = 0", (tx.device, sent.idx))
    before = int(tx.store.meta("pushed_rev") or "0")
    tx.set_meta("pushed_rev", str(max(before, sent.last_rev)))


class Receipt(msgspec.Struct, frozen=True):
    """One segment that was sent, as `sync --receipts` lists it; `at` in ms."""

    device: str
    idx: int
    sha256: str
    rows: int
    bytes: int
    at: int
    confirmed: bool
    snapshot: bool


def all_receipts(store: Store) -> list[Receipt]:
    """Every receipt that is kept, the newest first."""
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT device, idx, sha256, rows, bytes, at, confirmed, parts FROM receipts ORDER BY at DESC, idx DESC"
    )
    return [Receipt(*[*row[:6], bool(row[6]), bool(row[7])]) for row in rows]


def prune_receipts(store: Store, keep_days: int) -> None:
    """Let go of receipts older than `keep_days` on which nothing counts: before the newest snapshot, or of old ids."""
    oldest = store.clock.now_ms() - keep_days * MS_PER_DAY
    with store.transaction() as tx:
        tx.run(
            "DELETE FROM receipts WHERE at < ? AND (device <> ? OR idx < ?)",
            (oldest, store.device, newest_snapshot_start(store)),
        )


def newest_snapshot_start(store: Store) -> int:
    """The idx at which the newest complete snapshot of this device's log begins, 0 if it has none."""
    ((first,),) = store.execute(
        "SELECT coalesce(max(first), 0) FROM receipts"
        " WHERE device = ? AND confirmed = 1 AND parts > 0 AND part = parts",
        (store.device,),
    )
    return _number(first)


def rows_sent_from(store: Store, idx: int) -> int:
    """How many rows this device sent in its segments from `idx` on."""
    ((rows,),) = store.execute(
        "SELECT coalesce(sum(rows), 0) FROM receipts WHERE device = ? AND confirmed = 1 AND idx >= ?",
        (store.device, idx),
    )
    return _number(rows)


def bytes_since(store: Store, since_ms: int) -> int:
    """Bytes of segments that were sent and confirmed since a time [ms]."""
    ((total,),) = store.execute(
        "SELECT coalesce(sum(bytes), 0) FROM receipts WHERE confirmed = 1 AND at >= ?", (since_ms,)
    )
    return total if isinstance(total, int) else 0


def cursors(store: Store) -> list[Cursor]:
    """How far each other log was folded."""
    rows = store.execute("SELECT device, idx, sha256, fault FROM cursors ORDER BY device")
    return [Cursor(str(device), _number(idx), str(sha), str(fault)) for device, idx, sha, fault in rows]


def cursor(store: Store, device: str) -> Cursor:
    """How far one other log was folded; at its beginning if it is unknown."""
    return next((each for each in cursors(store) if each.device == device), Cursor(device, 0, "", ""))


def memory_hash(store: Store) -> str:
    """12 hex of sha256 over the sorted heads folded: devices without unsent rows whose hashes are equal agree."""
    heads = [(each.device, each.idx, each.sha256) for each in cursors(store) if each.idx]
    own = last_confirmed(store)
    if own is not None:
        heads.append((store.device, own.idx, own.sha256))
    text = "\n".join(f"{device} {idx} {sha}" for device, idx, sha in sorted(heads))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:12]


def _sent(*values: Any) -> SentSegment:
    return SentSegment(*[*values[:8], bool(values[8])])


def _idx_of(sent: SentSegment) -> int:
    return sent.idx


def _number(value: Value) -> int:
    return value if isinstance(value, int) else 0

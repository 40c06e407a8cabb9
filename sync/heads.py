"""Judging what the cloud says: is it the one we know, did it lose something, do two machines share an id?"""

import enum
from collections.abc import Mapping, Sequence

from ..errors import CloudStoppedError
from ..store.sent import Cursor, SentSegment
from .wire import Head

SET_BACK_HINT = "Nothing was deleted here. Check whether the cloud was replaced or restored from a backup."


class Verdict(enum.Enum):
    """What this device's own head in the cloud means."""

    GO_ON = "go on"
    """It is our last confirmed segment, or there is no log yet."""
    CONFIRM = "confirm"
    """A segment that we sent without hearing of it: a lost reply or a late request. It counts."""
    SET_BACK = "set back"
    """It lies behind what the cloud had confirmed."""
    FORK = "fork"
    """Somebody else writes under our id: a copied disk or a virtual machine set back."""


def judge_own_head(head: Head | None, receipts: Sequence[SentSegment]) -> tuple[Verdict, SentSegment | None]:
    """Compare the head of this device's log with its receipts (docs/data.md, 5); pure."""
    confirmed = max((each for each in receipts if each.confirmed), key=_idx_of, default=None)
    if head is None:
        return (Verdict.SET_BACK, None) if confirmed else (Verdict.GO_ON, None)
    found = next((each for each in receipts if (each.idx, each.sha256) == (head.idx, head.sha256)), None)
    if confirmed and head.idx < confirmed.idx:
        return Verdict.SET_BACK, None
    if found is None:
        return Verdict.FORK, None
    return (Verdict.GO_ON if found.confirmed else Verdict.CONFIRM), found


def check_other_heads(heads: Mapping[str, Head], cursors: Sequence[Cursor]) -> None:
    """Raise `CloudStoppedError` if a log that we folded is shorter now, or another one."""
    for cursor in cursors:
        if cursor.idx == 0:
            continue
        head = heads.get(cursor.device)
        if head is None or head.idx < cursor.idx or (head.idx == cursor.idx and head.sha256 != cursor.sha256):
            raise CloudStoppedError(
                f"The cloud was set back: it lost segments of device {cursor.device}.", SET_BACK_HINT
            )


def _idx_of(receipt: SentSegment) -> int:
    return receipt.idx

"""What the operations on cloud and devices answer beside the replies of docs/cli.md."""

from typing import Any

import msgspec

from ..sync.proof import Searched


class Proof(msgspec.Struct):
    """Where a forgotten fact was looked for; `gone` when nothing that was searched holds it."""

    gone: bool
    checked: list[Searched]
    not_searched: list[str]
    beyond_us: str


class ForgetReply(msgspec.Struct, omit_defaults=True):
    """What was forgotten, and where notes of this device still say it (memoryd never writes notes)."""

    forgotten: list[str]
    still_in_notes: list[str]
    log_rewrite_pending: bool
    proof: Proof | None = None


class DryRunReply(msgspec.Struct):
    """What the next push would send: rows, their number by kind, bytes before encryption, notes whose text is in it.

    `first_rows` are the first of them as they would leave; `writes_anew`: the whole log goes as a snapshot.
    """

    rows: int
    bytes: int
    by_kind: dict[str, int]
    notes: list[str]
    picture_rows: int
    writes_anew: bool
    encrypted: bool
    first_rows: list[Any]


class ReceiptInfo(msgspec.Struct):
    """One segment that this device sent: hash, rows, bytes, and when [epoch seconds]."""

    device: str
    idx: int
    sha256: str
    rows: int
    bytes: int
    at: float
    confirmed: bool
    snapshot: bool


class ReceiptsReply(msgspec.Struct):
    """Everything that this device sent, the newest first, as far back as receipts are kept."""

    receipts: list[ReceiptInfo]
    bytes_today: int


class AdoptReply(msgspec.Struct):
    """The cloud as it is now was accepted; this device goes on under a new id."""

    device: str
    former: str
    pushed: int
    pulled: int


class RetireReply(msgspec.Struct):
    """This device took over from another one; `sent` says whether the cloud knows it already."""

    retired: str
    successor: str
    sent: bool


class Version(msgspec.Struct):
    """One device's version of a note; `text` names its text: equal names, equal bytes."""

    device: str
    name: str
    this: bool
    size: int
    text: str


class Conflict(msgspec.Struct):
    """Notes of one path that are not the same on all devices."""

    agent_id: str
    path: str
    versions: list[Version]


class ConflictsReply(msgspec.Struct):
    """All such notes; both are kept and neither is merged."""

    conflicts: list[Conflict]


class DrillReply(msgspec.Struct):
    """A restore that was tried out: rows and notes compared, searches asked of both; `at` in epoch seconds."""

    at: float
    proven: bool
    seconds: float
    rows: int
    notes: int
    searches: int
    differences: list[str]


class KeyReply(msgspec.Struct, omit_defaults=True):
    """The key of this memory. `recovery_key` is shown so that it can be written down and kept elsewhere."""

    key_id: str
    encrypted: bool
    recovery_key: str = ""
    plain_logs: list[str] = []
    advice: str = ""

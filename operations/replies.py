"""What each operation answers (docs/cli.md, docs/original.md): the JSON of the command line and the socket."""

from typing import Any

import msgspec

from ..model import Finding, LineState, SyncState


class WatcherStatus(msgspec.Struct):
    """How the notes are watched. Ages in seconds, None if it never happened."""

    state: str
    last_event_age_s: float | None
    last_scan_age_s: float | None
    alive: bool = False
    events: int = 0
    rebuilds: int = 0
    next_scan_in_s: float | None = None


class NotesStatus(msgspec.Struct):
    """What is known of the notes. Lists hold `{"path", "reason"}`."""

    known: int
    with_findings: int
    unreadable: list[dict[str, str]]
    quarantined: list[dict[str, str]]
    skipped: list[dict[str, str]]
    unmatched: int
    masked: int = 0


class AgentStatus(msgspec.Struct):
    """One agent's memory in numbers; sizes in bytes."""

    facts: dict[str, int]
    hot_bytes: int
    warm_bytes: int
    tree_nodes: int
    tree_bytes: int


class SyncReport(msgspec.Struct):
    """The cloud's side. `last_ok_at` in epoch seconds."""

    state: SyncState
    pending_rows: int
    last_ok_at: float | None
    last_error: str | None
    next_retry_in_s: float | None
    bytes_today: int
    picture_pending: int
    memory_hash: str | None
    last_restore_drill: dict[str, Any] | None = None
    """`{"at", "proven", "differences"}` of the last restore that was tried out."""
    as_of_reaches: float | None = None
    plain_logs: list[str] = []


class Problem(msgspec.Struct):
    """Something that wants a person's attention, with what to do about it."""

    code: str
    message: str
    fix: str


class Save(msgspec.Struct):
    """A note that was saved and became searchable at `at` [epoch seconds], `latency_s` after it was written."""

    path: str
    at: float
    latency_s: float


class SelfRecall(msgspec.Struct):
    """How often the memory found its own words of late; `rate` 0..1, None before the first probe."""

    asked: int
    found: int
    rate: float | None
    missed: list[str]


class DreamStatus(msgspec.Struct):
    """The last dream: `at` in epoch seconds, counts of facts."""

    at: float
    merged: int
    superseded: int
    archived: int
    faded: int


class Status(msgspec.Struct):
    """The status reply; every number is computed when it is asked for."""

    v: int
    version: str
    pid: int
    uptime_s: float
    state: str
    healthy: bool
    activity: str
    workspace: str
    instance: str
    device: str
    watcher: WatcherStatus
    notes: NotesStatus
    pending: int
    agents: dict[str, AgentStatus]
    sync: SyncReport
    db: dict[str, Any]
    warnings: list[Problem]
    saves: list[Save] = []
    self_recall: SelfRecall | None = None
    dreams: DreamStatus | None = None


class RescanReply(msgspec.Struct):
    """A finished scan: files looked at, files taken in, seconds; `held` notes vanished and wait for a second scan."""

    scanned: int
    changed: int
    seconds: float
    held: int = 0


class Source(msgspec.Struct):
    """One place of a fact; `file` is relative to the workspace, lines from 1, both ends included."""

    file: str
    lines: list[int]
    date: str


class Why(msgspec.Struct):
    """Why a fact was found: its category's path, the question's terms, what made up the score, its first place."""

    category_path: list[str]
    matched: list[str]
    unmatched: list[str]
    parts: dict[str, float]
    file: str
    line: int
    reason: str = ""
    """Why another way of searching than the one asked for answered."""


class Hit(msgspec.Struct):
    """One fact that was found; `created_at` in epoch seconds."""

    id: str
    text: str
    category: str
    importance: float
    created_at: float
    access_count: int
    score: float
    metadata: dict[str, Any]
    tier: str
    search_method: str
    relevance: float
    agent_id: str
    kind: str
    sources: list[Source]
    why: Why | msgspec.UnsetType = msgspec.UNSET
    """Only where the question asked for it."""


class Envelope(msgspec.Struct):
    """Hits, and how fresh they are: `stale` when something on disk may not be in yet, is held or cannot be read."""

    as_of: str
    pending: int
    stale: bool
    results: list[Hit]
    ranker: str = "fts"
    """`full` when the language process ordered the hits too, `fts` when the index alone did."""
    reason: str = ""
    """Why another way of searching than the one asked for answered."""


class StoreReply(msgspec.Struct):
    """A fact that was stored by command."""

    id: str
    category: str
    tier: str
    metadata: dict[str, Any]
    cold_synced: bool


class ExtractReply(msgspec.Struct):
    """The metadata of one file."""

    file: str
    metadata: dict[str, list[str]]
    summary: dict[str, int]


class HistoryReply(msgspec.Struct):
    """A fact with its places and the wordings before and after it, oldest first."""

    id: str
    text: str
    state: str
    first_seen: float
    places: list[Source]
    chain: list[dict[str, Any]]
    superseded_by: dict[str, Any] | None = None
    supersedes: list[dict[str, Any]] = []
    merged_into: dict[str, Any] | None = None
    merged: list[dict[str, Any]] = []
    layer: str | None = None
    """Of a live fact: `long_term`, `contextual` or `archive`."""


class SyncReply(msgspec.Struct):
    """An exchange with the cloud; `pushed` and `pulled` count rows."""

    result: str
    pushed: int
    pulled: int


class RestoreReply(msgspec.Struct):
    """What came back. Of the `masked_lines`, `forgotten_lines` hold a forgotten sentence, the others a secret."""

    agents: list[str]
    notes: int
    facts: int
    seconds: float
    verified: bool
    masked_lines: int
    forgotten_lines: int = 0
    from_device: str = ""
    left_as_they_are: list[str] = []
    incomplete: dict[str, str] = {}


class VerifyReply(msgspec.Struct):
    """Whether the cloud holds what this device holds; `pending` rows are only not sent yet."""

    equal: bool
    pending: int
    differences: list[dict[str, Any]]


class DeviceInfo(msgspec.Struct):
    """One device; `last_seen` in epoch seconds, None if its log is unknown here."""

    device: str
    name: str
    this: bool
    last_seen: float | None
    succeeded_by: str | None


class DevicesReply(msgspec.Struct):
    """All devices that share this memory."""

    devices: list[DeviceInfo]


class LedgerLine(msgspec.Struct):
    """One line of a file, from 1, and what became of it."""

    line: int
    state: LineState
    fact_id: str | None


class LedgerReply(msgspec.Struct):
    """All lines of a file; the totals sum to their number."""

    file: str
    lines: list[LedgerLine]
    totals: dict[str, int]


class FileFindings(msgspec.Struct):
    """What ingest found in one file."""

    file: str
    details: list[Finding]


class ValidateAllReply(msgspec.Struct):
    """What ingest found in all files."""

    status: str
    warnings_count: int
    files: list[FileFindings]

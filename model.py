"""Plain types that every room shares: the rows of the store, which are also the rows of the wire, and a parsed note.

A row is array-like and tagged, so that its JSON form is `["fact", "default", "9c…", …]`: one line
of a segment (docs/data.md, 4). Fields may be added at the end with a default, never removed or moved;
anything else raises the wire version.
"""

import hashlib
from typing import Literal, TypeAlias

import msgspec

RULES = 1
"""The number of the text and masking rules (docs/data.md, 1); it stands in every fact id."""

DEFAULT_AGENT = "default"
COMMAND_PATH = ""
"""The note path of facts that were stored by command."""

FADED_AFTER_DAYS = 90
FADED_READS = 2
"""A fact that was stated longer ago and read on fewer days has faded: found a touch later, never hidden."""

MASK_FORGOTTEN = "[forgotten]"

LineState: TypeAlias = Literal[
    "fact", "duplicate", "continuation", "heading", "code", "table_head", "rule", "html", "link_definition",
    "comment", "front_matter", "transcript_meta", "own_output", "empty_text", "secret", "forgotten", "too_large",
    "blank",
]  # fmt: skip
FactState: TypeAlias = Literal["live", "retracted", "superseded", "merged", "forgotten", "expired"]
Tier: TypeAlias = Literal["hot", "warm", "cold", "frozen"]
NoteState: TypeAlias = Literal[
    "ok", "findings", "unreadable", "too_large", "name_clash", "conflict_copy", "vanished", "deleted"
]  # fmt: skip
SyncState: TypeAlias = Literal["off", "ok", "pending", "backoff", "auth_required", "read_only", "stopped"]

TIERS: tuple[Tier, ...] = ("hot", "warm", "cold", "frozen")


def fact_id(agent_id: str, text: str, rules: int = RULES) -> str:
    """16 hex of sha256 over rules, agent and text (docs/data.md, 1): the same words are the same fact everywhere."""
    return hashlib.sha256(f"{rules}\0{agent_id}\0{text}".encode()).hexdigest()[:16]


class Metadata(msgspec.Struct, omit_defaults=True):
    """What a mention carries beside its words. All lists keep the order of the note, without repeats."""

    urls: list[str] = []
    commands: list[str] = []
    paths: list[str] = []
    people: list[str] = []
    topics: list[str] = []
    actions: list[str] = []
    emotion: str = ""
    outcome: str = ""
    explicit: list[str] = []
    """Which of `category`, `importance`, `task_state` the note itself wrote."""


# ---- rows of the store and of the wire (docs/data.md, 2) -------------------------------------------------


class FactRow(msgspec.Struct, array_like=True, tag="fact"):
    """A fact is its text. `first_seen` in ms; the fold keeps the smaller."""

    agent_id: str
    id: str
    text: str
    first_seen: int


class ChunkRow(msgspec.Struct, array_like=True, tag="chunk"):
    """A piece of a note's masked bytes. On the wire as text where it is valid UTF-8, else as base64."""

    sha256: str
    text: str | None = None
    binary: bytes | None = None

    @classmethod
    def of(cls, sha256: str, data: bytes) -> "ChunkRow":
        """The row of `data`, whose sha256 is already known."""
        try:
            return cls(sha256, text=data.decode())
        except UnicodeDecodeError:
            return cls(sha256, binary=data)

    @property
    def data(self) -> bytes:
        """The bytes."""
        return self.text.encode() if self.text is not None else self.binary or b""


class NoteRow(msgspec.Struct, array_like=True, tag="note"):
    """One file of one device. Stays for ever; a deleted note has `deleted_at` [ms]."""

    agent_id: str
    device: str
    path: str
    size: int
    chunks: list[str]
    mentions: int
    state: NoteState
    first_seen: int
    deleted_at: int | None = None


def date_order(date: str) -> str:
    """A mention's date in a form whose order as text is that of time: without the Z, which sorts behind seconds.

    `10:05` < `10:05:30.123` < `10:06`; in SQL `rtrim(date, 'Z')`.
    """
    return date.removesuffix("Z")


class MentionRow(msgspec.Struct, array_like=True, tag="mention"):
    """One place where a fact stands.

    Lines count from 1; `date` is `YYYY-MM-DD` or `YYYY-MM-DDTHH:MMZ`, by command also `YYYY-MM-DDTHH:MM:SS.mmmZ`, ''
    if undated. `date_order` puts them in the order of time.
    """

    agent_id: str
    device: str
    path: str
    n: int
    fact_id: str
    line_from: int
    line_to: int
    date: str
    headings: list[str]
    category: str
    importance: float
    kind: str
    task_state: str
    metadata: Metadata
    code: str = ""


class EditRow(msgspec.Struct, array_like=True, tag="edit"):
    """One field of a fact that somebody set by hand; `value` None = withdrawn.

    The larger version wins, then the larger value.
    """

    agent_id: str
    fact_id: str
    field: str
    value: str | None
    version: str


class ForgottenRow(msgspec.Struct, array_like=True, tag="forgotten"):
    """A tombstone; it stands while `version` > `lifted_version`."""

    agent_id: str
    fact_id: str
    version: str
    lifted_version: str = ""
    moved_to: str = ""


class AccessRow(msgspec.Struct, array_like=True, tag="access"):
    """On how many days this device's retrieves returned the fact; `last_day` in days since 1970."""

    agent_id: str
    fact_id: str
    device: str
    days: int
    last_day: int


class HotItemRow(msgspec.Struct, array_like=True, tag="hot_item"):
    """What somebody wrote, finished or removed in hot state; `value` is JSON text, None when deleted."""

    agent_id: str
    section: str
    key: str
    value: str | None
    version: str
    deleted: bool = False


class TreeNodeRow(msgspec.Struct, array_like=True, tag="tree_node"):
    """A category path that somebody added or described."""

    agent_id: str
    path: str
    description: str
    version: str
    deleted: bool = False


class DeviceRow(msgspec.Struct, array_like=True, tag="device"):
    """One device. `succeeds` names the devices whose notes this one took over."""

    device: str
    name: str
    platform: str
    created_at: int
    notes_extra: list[str] = []
    succeeds: list[str] = []


Row: TypeAlias = (
    FactRow
    | ChunkRow
    | NoteRow
    | MentionRow
    | EditRow
    | ForgottenRow
    | AccessRow
    | HotItemRow
    | TreeNodeRow
    | DeviceRow
)


# ---- a parsed note (ingest → store) ---------------------------------------------------------------------


class Finding(msgspec.Struct):
    """Something a person should look at. `line` counts from 1."""

    code: str
    line: int
    message: str
    suggestion: str


class ParsedMention(msgspec.Struct):
    """One fact as one note states it; everything of a `MentionRow` that the bytes alone decide."""

    text: str
    line_from: int
    line_to: int
    date: str
    headings: list[str]
    category: str
    importance: float
    kind: str
    task_state: str
    metadata: Metadata
    code: str = ""


class ParsedNote(msgspec.Struct):
    """What ingest makes of a note's bytes.

    `body` are the masked bytes (same number of lines as the note); `lines[i]` is the state of line
    i + 1 and the index of its mention, or -1; `masked` counts masked spans. A note that is too large
    to parse has `lines` empty and `whole` = its number of lines, all of them `too_large`.
    """

    body: bytes
    lines: list[tuple[LineState, int]]
    mentions: list[ParsedMention]
    findings: list[Finding]
    state: NoteState
    masked: int = 0
    whole: int = 0

    @property
    def totals(self) -> dict[LineState, int]:
        """How many lines have each state; the values sum to the number of lines."""
        if self.whole:
            return {"too_large": self.whole}
        sums: dict[LineState, int] = {}
        for state, _ in self.lines:
            sums[state] = sums.get(state, 0) + 1
        return sums


# ---- derived (a function of the rows and the UTC day alone) ---------------------------------------------


class Derived(msgspec.Struct):
    """What memory says of one fact now (docs/data.md, 2). Times in ms; days since 1970.

    `latest_day` is the day of the latest dated mention, or of `created_at`; `on_page` says that a
    MEMORY.md line states it (age 0); `last_read` is 0 for a fact that nobody read in these words.
    """

    agent_id: str
    fact_id: str
    state: FactState
    category: str
    importance: float
    kind: str
    task_state: str
    created_at: int
    latest_day: int
    on_page: bool
    access_days: int
    last_read: int
    distilled: str
    summary: str

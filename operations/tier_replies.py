"""What the commands of the memory model answer (docs/original.md)."""

from typing import Any

import msgspec

from ..ingest.talk import Distilled
from ..tiers.hot import SCHEMA_VERSION
from ..tiers.tree import TreeNode
from .replies import Hit


class TreeReply(msgspec.Struct):
    """The category tree, the root (path '') first; sizes in bytes of its lines."""

    nodes: list[TreeNode]
    size_bytes: int
    max_size_bytes: int
    max_nodes: int


class Change(msgspec.Struct):
    """A change that can be undone; `at` in epoch seconds."""

    n: int
    at: float
    what: str
    undone: bool


class UndoListReply(msgspec.Struct):
    """All changes that are kept, the newest first."""

    changes: list[Change]


class UndoReply(msgspec.Struct):
    """What went back: how many rows, and facts that are no longer forgotten, with the notes read again for them.

    Of a dream `changed_since` counts the steps that were changed again and stand.
    """

    undone: int
    what: str
    rows: int
    lifted: list[str]
    notes_to_read: list[str]
    changed_since: int = 0


class MetricsReply(msgspec.Struct, rename={"schema_version": "_schema_version"}):
    """The memory in numbers; sizes in bytes, or kb where the name says so; times in epoch seconds."""

    tree_index_size_bytes: int
    tree_node_count: int
    hot_memory_size_bytes: int
    warm_memory_count: int
    warm_memory_size_kb: float
    retrieval_count: int
    evictions_today: int
    reinforcements_today: int
    consolidation_count: int
    last_consolidation: float
    context_tokens_saved: int
    timestamp: str
    llm_fallbacks: int
    schema_version: str = SCHEMA_VERSION
    """What the original's own files say."""


class ConsolidateReply(msgspec.Struct, omit_defaults=True):
    """A finished consolidation; numbers count from the one before. What a mode does not do is absent."""

    mode: str
    agent_id: str
    timestamp: float
    evicted_warm: int | msgspec.UnsetType = msgspec.UNSET
    archived_cold: int | msgspec.UnsetType = msgspec.UNSET
    hot_size_bytes: int | msgspec.UnsetType = msgspec.UNSET
    superseded: int | msgspec.UnsetType = msgspec.UNSET
    ingested_facts: int | msgspec.UnsetType = msgspec.UNSET
    ingest_skipped: int | msgspec.UnsetType = msgspec.UNSET
    ingest_error: str | msgspec.UnsetType = msgspec.UNSET
    pruned_nodes: int | msgspec.UnsetType = msgspec.UNSET
    tree_rebuilt: str | msgspec.UnsetType = msgspec.UNSET
    described_nodes: int | msgspec.UnsetType = msgspec.UNSET
    expired: int | msgspec.UnsetType = msgspec.UNSET
    report: str | msgspec.UnsetType = msgspec.UNSET


class DistillReply(msgspec.Struct, omit_defaults=True):
    """A distilled conversation; sizes in bytes of UTF-8, `distilled_size` that of the fact. `mode` names what ran."""

    distilled: Distilled
    mode: str
    original_size: int
    distilled_size: int
    metadata: dict[str, list[str]]
    core_summary: str | msgspec.UnsetType = msgspec.UNSET
    llm_fallbacks: int | msgspec.UnsetType = msgspec.UNSET


class DailyReply(msgspec.Struct):
    """What the notes of some days hold; facts of a dry run that are not stored yet have no id."""

    files_scanned: int
    mode: str
    facts_found: int
    facts_stored: int
    facts_skipped: int
    llm_fallbacks: int
    facts: list[dict[str, Any]]


class UrlReply(msgspec.Struct):
    """Facts found by a piece of their URLs."""

    query: str
    results_count: int
    results: list[Hit]


class ContextReply(msgspec.Struct):
    """What an agent loads: Markdown within `max_bytes`; `left_out` counts lines that did not fit."""

    context: str
    size_bytes: int
    max_bytes: int
    left_out: int
    hits: list[Hit]


class ColdRow(msgspec.Struct):
    """One row of the cloud's readable copy; `created_at` in epoch seconds, `answered_by` cloud or local.

    `reason` says why the cloud was not the one to answer.
    """

    id: str
    text: str
    category: str
    importance: float
    created_at: int
    tier: str
    answered_by: str
    reason: str = ""


class ImportReply(msgspec.Struct):
    """What an import did; `skipped` facts stand nowhere any more, or have no words.

    `left_out` names what is too large to be taken in: `line` of the file, `reason`.
    """

    facts: int = 0
    already_there: int = 0
    kept_forgotten: int = 0
    hot_items: int = 0
    tree_nodes: int = 0
    skipped: int = 0
    left_out: list[dict[str, Any]] = []


class AgentAudit(msgspec.Struct):
    """One agent's facts by what became of them; `balanced` when these sum to `ingested`. Sizes in bytes."""

    ingested: int
    balanced: bool
    counts: dict[str, int]
    sizes: dict[str, dict[str, int]]


class AuditProblem(msgspec.Struct):
    """Something that is off, and where."""

    agent_id: str
    what: str
    where: str


class AuditReply(msgspec.Struct):
    """The proof, or what is missing of it; at most 100 problems are listed, `found` counts all."""

    ok: bool
    found: int
    agents: dict[str, AgentAudit]
    problems: list[AuditProblem]


class LegacyReply(msgspec.Struct):
    """What came over from the original skill; `corrected` numbers were out of range, `damaged` files have a reason."""

    agents: list[str]
    files: list[str]
    facts: int = 0
    already_there: int = 0
    kept_forgotten: int = 0
    hot_items: int = 0
    tree_nodes: int = 0
    corrected: int = 0
    damaged: list[dict[str, str]] = []
    notices: list[str] = []

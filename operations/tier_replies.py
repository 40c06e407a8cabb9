"""What the commands of the memory model answer (COMPAT section 4)."""

import msgspec

from ..tiers.tree import TreeNode


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
    """What went back: how many rows, and facts that are no longer forgotten, with the notes read again for them."""

    undone: int
    what: str
    rows: int
    lifted: list[str]
    notes_to_read: list[str]


class MetricsReply(msgspec.Struct):
    """The memory in numbers (COMPAT 3.4); sizes in bytes, or kb where the name says so; times in epoch seconds."""

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


class ConsolidateReply(msgspec.Struct, omit_defaults=True):
    """A finished consolidation; numbers count from the one before. What a mode does not do is absent."""

    mode: str
    agent_id: str
    timestamp: float
    evicted_warm: int | msgspec.UnsetType = msgspec.UNSET
    archived_cold: int | msgspec.UnsetType = msgspec.UNSET
    hot_size_bytes: int | msgspec.UnsetType = msgspec.UNSET
    ingested_facts: int | msgspec.UnsetType = msgspec.UNSET
    ingest_skipped: int | msgspec.UnsetType = msgspec.UNSET
    ingest_error: str | msgspec.UnsetType = msgspec.UNSET
    pruned_nodes: int | msgspec.UnsetType = msgspec.UNSET
    tree_rebuilt: str | msgspec.UnsetType = msgspec.UNSET
    described_nodes: int | msgspec.UnsetType = msgspec.UNSET
    expired: int | msgspec.UnsetType = msgspec.UNSET
    report: str | msgspec.UnsetType = msgspec.UNSET

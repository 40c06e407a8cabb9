"""The table of operations: each public operation once. The command line, the socket and MCP are generated from it.

A new command is one request struct, one async function `(memory, request) -> reply` and one line here.
Functions are named, not imported: the thin client reads this table without paying for what it does not run.
"""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any, Literal, cast

import msgspec

from . import layer_requests as layers
from . import requests as r
from . import sync_requests as sync
from . import why_requests as why

Where = Literal["either", "daemon", "alone"]
"""`either`: in the daemon, or in the command's own process; `daemon`: only there; `alone`: never beside a daemon."""


class Operation(msgspec.Struct, frozen=True):
    """One public operation. `function` is `module:name` within this room."""

    name: str
    request: type[r.Request]
    function: str
    where: Where = "either"
    long: bool = False
    """Reports progress and may take minutes."""
    tool: Literal["", "read", "add", "change"] = ""
    """Whether an MCP client, which a language model steers, may ask it, and what that does to memory."""

    @property
    def help(self) -> str:
        """The first line of the request's docstring."""
        return (self.request.__doc__ or "").strip().splitlines()[0]

    def load(self) -> Callable[[Any, Any], Awaitable[Any]]:
        """The function that performs it: `async (memory, request) -> reply`."""
        module, name = self.function.split(":")
        return cast(Callable[[Any, Any], Awaitable[Any]], getattr(import_module(f".{module}", __package__), name))


OPERATIONS: dict[str, Operation] = {
    each.name: each
    for each in (
        Operation("status", r.StatusRequest, "status:status", where="daemon"),
        Operation("rescan", r.RescanRequest, "rescan:rescan", long=True),
        Operation("store", r.StoreRequest, "store_fact:store", tool="add"),
        Operation("retrieve", r.RetrieveRequest, "retrieve:retrieve", tool="read"),
        Operation("extract-metadata", r.ExtractMetadataRequest, "extract:extract_metadata"),
        Operation("forget", r.ForgetRequest, "forget:forget", long=True),
        Operation("history", why.HistoryRequest, "history:history", tool="read"),
        Operation("hot", r.HotRequest, "hot:hot", tool="change"),
        Operation("tree", r.TreeRequest, "tree:tree_command", tool="change"),
        Operation("undo", r.UndoRequest, "undo:undo"),
        Operation("metrics", r.MetricsRequest, "metrics:metrics", tool="read"),
        Operation("consolidate", r.ConsolidateRequest, "consolidate:consolidate", long=True),
        Operation("ingest-daily", r.IngestDailyRequest, "ingest_daily:ingest_daily", long=True),
        Operation("distill", r.DistillRequest, "distill:distill", tool="read"),
        Operation("task", layers.TaskRequest, "task:task", tool="change"),
        Operation("session", layers.SessionRequest, "session:session", tool="change"),
        Operation("dream", layers.DreamRequest, "dream:dream", long=True),
        Operation("context", r.ContextRequest, "context:context", tool="read"),
        Operation("search-url", r.SearchUrlRequest, "search_url:search_url", tool="read"),
        Operation("sync-critical", r.SyncCriticalRequest, "sync_critical:sync_critical"),
        Operation("cold", r.ColdRequest, "cold:cold"),
        Operation("audit", r.AuditRequest, "audit:audit", long=True),
        Operation("doctor", r.DoctorRequest, "doctor:doctor", long=True),
        Operation("export", r.ExportRequest, "export:export", long=True),
        Operation("import", r.ImportRequest, "import_export:import_export", long=True),
        Operation("import-legacy", r.ImportLegacyRequest, "import_legacy:import_legacy", long=True),
        Operation("sync", sync.SyncRequest, "synchronise:sync", long=True),
        Operation("restore", sync.RestoreRequest, "restore:restore", where="alone", long=True),
        Operation("verify", sync.VerifyRequest, "verify:verify", long=True),
        Operation("ledger", why.LedgerRequest, "ledger:ledger"),
        Operation("why", why.WhyRequest, "why:why", tool="read"),
        Operation("why-not", why.WhyNotRequest, "why_not:why_not"),
        Operation("validate", why.ValidateRequest, "validate:validate"),
        Operation("devices", sync.DevicesRequest, "devices:devices"),
        Operation("conflicts", sync.ConflictsRequest, "conflicts:conflicts"),
        Operation("drill", sync.DrillRequest, "drill:drill", long=True),
        Operation("key", sync.KeyRequest, "key:key", long=True),
    )
}


class Outcome(msgspec.Struct):
    """A reply, and the exit code that goes with it (1 for findings of `validate` and `verify`)."""

    reply: Any
    exit_code: int = 0

"""The status reply as Prometheus text (exposition format 0.0.4)."""

from collections.abc import Iterator, Mapping
from typing import Any

Sample = tuple[str, dict[str, str], float]

_HELP = {
    "memoryd_info": "Version of the running daemon.",
    "memoryd_uptime_seconds": "Time since the daemon started.",
    "memoryd_healthy": "1 when everything was compared lately and the notes are watched.",
    "memoryd_notes": "Known notes.",
    "memoryd_notes_with_findings": "Notes that a person should look at.",
    "memoryd_notes_unreadable": "Notes that cannot be read.",
    "memoryd_pending": "Changes on disk that are not taken in yet.",
    "memoryd_watcher_native": "1 when the system reports file changes.",
    "memoryd_last_event_age_seconds": "Time since the last file event.",
    "memoryd_last_scan_age_seconds": "Time since everything was last compared.",
    "memoryd_facts": "Facts by agent and tier.",
    "memoryd_hot_bytes": "Size of hot state.",
    "memoryd_warm_bytes": "Size of the warm tier.",
    "memoryd_tree_nodes": "Nodes of the category tree.",
    "memoryd_sync_state": "1 for the state that cloud sync is in.",
    "memoryd_sync_pending_rows": "Rows that the cloud has not confirmed.",
    "memoryd_sync_bytes_today": "Bytes sent to the cloud today.",
    "memoryd_warnings": "Standing warnings.",
}


def prometheus(status: Mapping[str, Any]) -> str:
    """`status`, the reply of `GET /v1/status` as plain dictionaries, as text; unknown ages are left out."""
    lines: list[str] = []
    told: set[str] = set()
    for name, labels, value in _samples(status):
        if name not in told:
            told.add(name)
            lines += [f"# HELP {name} {_HELP[name]}", f"# TYPE {name} gauge"]
        lines.append(
            f"{name}{_labels(labels)} {value:g}" if abs(value) < 1e6 else f"{name}{_labels(labels)} {value:.0f}"
        )
    return "\n".join(lines) + "\n"


def _samples(status: Mapping[str, Any]) -> Iterator[Sample]:
    notes, watcher, sync = status.get("notes", {}), status.get("watcher", {}), status.get("sync", {})
    yield "memoryd_info", {"version": str(status.get("version", ""))}, 1
    yield "memoryd_uptime_seconds", {}, status.get("uptime_s", 0.0)
    yield "memoryd_healthy", {}, status.get("healthy", False)
    yield "memoryd_notes", {}, notes.get("known", 0)
    yield "memoryd_notes_with_findings", {}, notes.get("with_findings", 0)
    yield "memoryd_notes_unreadable", {}, len(notes.get("unreadable", []))
    yield "memoryd_pending", {}, status.get("pending", 0)
    yield "memoryd_watcher_native", {}, watcher.get("state") == "native"
    for name in ("last_event_age", "last_scan_age"):
        if watcher.get(f"{name}_s") is not None:
            yield f"memoryd_{name}_seconds", {}, watcher[f"{name}_s"]
    yield from _agents(status.get("agents", {}))
    yield "memoryd_sync_state", {"state": str(sync.get("state", "off"))}, 1
    yield "memoryd_sync_pending_rows", {}, sync.get("pending_rows", 0)
    yield "memoryd_sync_bytes_today", {}, sync.get("bytes_today", 0)
    yield "memoryd_warnings", {}, len(status.get("warnings", []))


def _agents(agents: Mapping[str, Any]) -> Iterator[Sample]:
    for agent, counts in agents.items():
        for tier, number in counts.get("facts", {}).items():
            yield "memoryd_facts", {"agent": agent, "tier": tier}, number
    for key in ("hot_bytes", "warm_bytes", "tree_nodes"):
        for agent, counts in agents.items():
            yield f"memoryd_{key}", {"agent": agent}, counts.get(key, 0)


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = (f'{key}="{value}"' for key, value in ((k, _escaped(v)) for k, v in labels.items()))
    return "{" + ",".join(pairs) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

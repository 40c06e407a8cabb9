"""The original skill's files, read as they are: versions 1.0 to 2.2 and forks, told apart by shape (docs/original.md).

Nothing here writes. A damaged file or entry is named, and everything else is read.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..errors import UsageError
from ..foreign import read_regular
from ..model import DEFAULT_AGENT, Metadata
from ..places import checked_name
from .legacy_values import count_of, metadata_of, number_of, time_of

FILES = ("warm-memory.json", "memory-tree.json", "hot-memory-state.json", "metrics.json")
DEFAULT_IMPORTANCE = 0.5
LESSON_IMPORTANCE = 0.7
_LARGEST = 200_000_000
"""A file of more bytes is none of the original's."""
_MOST = 10.0**15
"""More than anything that the original counted."""
_TIME_FIELDS = ("timestamp", "created_at", "learned_at", "date", "start_date", "due_date")
_DONE = frozenset({"done", "completed", "complete", "finished", "closed"})


class LegacyFact(msgspec.Struct):
    """One entry of warm-memory.json; `created_at` in epoch seconds, None if it says none."""

    id: str
    text: str
    category: str
    importance: float
    created_at: float | None
    access_count: int
    metadata: Metadata


class LegacyItem(msgspec.Struct):
    """A lesson, event or task; `timestamp` in epoch seconds."""

    section: str
    text: str
    category: str
    importance: float
    timestamp: float | None
    done: bool = False


class LegacyAgent(msgspec.Struct):
    """What one agent's files say. `free` are fields by section and name, `nodes` descriptions by path."""

    agent_id: str
    facts: list[LegacyFact] = []
    items: list[LegacyItem] = []
    free: dict[str, dict[str, Any]] = {}
    nodes: dict[str, str] = {}
    metrics: dict[str, float] = {}


class LegacyMemory(msgspec.Struct):
    """Everything that was found. `damaged` maps a file (and entry) to what is wrong; `corrected` counts odd numbers."""

    agents: dict[str, LegacyAgent] = {}
    files: list[str] = []
    damaged: dict[str, str] = {}
    notices: list[str] = []
    corrected: int = 0
    most_bytes: int = 0

    def is_too_large(self, text: str, place: str) -> bool:
        """Whether a text has more than `most_bytes`; then its place is named as damaged."""
        if len(text.encode("utf-8", "surrogatepass")) <= self.most_bytes:
            return False
        self.damaged[place] = f"a text of more than {self.most_bytes:,} bytes (notes.max_ingest_bytes)"
        return True


def read_legacy(workspace: Path, most_bytes: int) -> LegacyMemory:
    """Read all agents of a workspace of the original; `agents` is empty when there is none.

    An entry with a text of more than `most_bytes` is left out and named.
    """
    found = LegacyMemory({}, [], {}, [], 0, most_bytes)
    root = workspace / "memory" if (workspace / "memory").is_dir() else workspace
    for agent_id, folder in _folders(root, found):
        reader = _Reader(found, workspace)
        agent = found.agents.setdefault(agent_id, LegacyAgent(agent_id, [], [], {}, {}, {}))
        reader.read_agent(agent, folder)
    if list(root.glob("turso-credentials.json")):
        found.notices.append(
            "turso-credentials.json holds a token among the notes: set TURSO_AUTH_TOKEN_FILE and delete it there."
        )
    return found


def take_state(found: LegacyMemory, agent: LegacyAgent, hot: Any, nodes: Any) -> None:
    """Add a hot state and a tree that did not come from files; what has no shape is passed over."""
    reader = _Reader(found, Path())
    if isinstance(hot, dict):
        reader.take_hot(agent, hot, "cloud: hot state")
    if isinstance(nodes, dict):
        reader.take_tree(agent, nodes, "cloud: tree")


def _folders(root: Path, found: LegacyMemory) -> Iterator[tuple[str, Path]]:
    """Agents and their folders; the default agent's files lie in `memory/` itself, or where the document has them."""
    if _has_files(root, found):
        yield DEFAULT_AGENT, root
    for folder in sorted(path for path in root.glob("*") if _has_files(path, found)):
        try:
            yield checked_name(folder.name), folder
        except UsageError as error:
            found.notices.append(f"{folder.name}: {error.message} Its files were left out.")


def _has_files(folder: Path, found: LegacyMemory) -> bool:
    """Whether this is a folder with files of the original; one that cannot be looked into is named."""
    try:
        return folder.is_dir() and any((folder / name).is_file() for name in FILES)
    except OSError as error:
        found.damaged[folder.name] = f"cannot be read: {error.strerror}"
        return False


def _may_be_there(path: Path) -> bool:
    """Whether it is a file, or cannot be looked at: then it is opened, and what is wrong is named."""
    try:
        return path.is_file()
    except OSError:
        return True


class _Reader:
    """Reads one agent's folder into `LegacyAgent`."""

    def __init__(self, found: LegacyMemory, workspace: Path) -> None:
        self._found = found
        self._workspace = workspace

    def read_agent(self, agent: LegacyAgent, folder: Path) -> None:
        """Read the four files; those that are missing say nothing."""
        for name, take, shape in (
            ("warm-memory.json", self._take_warm, list),
            ("memory-tree.json", self.take_tree, dict),
            ("hot-memory-state.json", self.take_hot, dict),
            ("metrics.json", self._take_metrics, dict),
        ):
            path = folder / name
            if not _may_be_there(path):
                continue
            shown = path.relative_to(self._workspace).as_posix()
            self._found.files.append(shown)
            content, fault = _loaded(path)
            if not fault and not isinstance(content, shape):
                fault = f"holds no {'array' if shape is list else 'object'}"
            if fault:
                self._found.damaged[shown] = fault
            else:
                take(agent, content, shown)

    def _take_warm(self, agent: LegacyAgent, content: Any, shown: str) -> None:
        for number, entry in enumerate(content):
            text = entry.get("text") if isinstance(entry, dict) else None
            if not isinstance(text, str) or not text.strip():
                self._found.damaged[f"{shown}[{number}]"] = "an entry without text"
                continue
            if self._found.is_too_large(text, f"{shown}[{number}]"):
                continue
            agent.facts.append(
                LegacyFact(
                    id=entry["id"] if isinstance(entry.get("id"), str) else "",
                    text=text,
                    category=entry["category"] if isinstance(entry.get("category"), str) else "",
                    importance=self._importance(entry.get("importance"), DEFAULT_IMPORTANCE),
                    created_at=time_of(entry, ("created_at", "timestamp")),
                    access_count=count_of(entry.get("access_count")),
                    metadata=metadata_of(entry.get("metadata")),
                )
            )

    def take_tree(self, agent: LegacyAgent, content: Any, shown: str) -> None:
        """A flat object of nodes, each an object or, in the older variant, its description."""
        for path, node in content.items():
            if path.startswith("_") or path == "root":
                continue
            words = node.get("desc", node.get("description", "")) if isinstance(node, dict) else node
            if isinstance(words, str):
                agent.nodes[path] = words
            else:
                self._found.damaged[f"{shown}: {path}"] = "a node of no known shape"

    def take_hot(self, agent: LegacyAgent, content: Any, shown: str) -> None:
        """Hot state of every version: nested, version 1's own shape, and the family's other names."""
        context = content.get("active_context")
        context = context if isinstance(context, dict) else {}
        for section, names in (("identity", ("identity", "agent")), ("owner_profile", ("owner_profile", "owner"))):
            for name in names:
                fields = content.get(name)
                fields = {"name": fields} if isinstance(fields, str) and fields else fields
                if isinstance(fields, dict):
                    agent.free[section] = {**fields, **agent.free.get(section, {})}
        for project in _lists(context, content, ("projects", "current_projects")):
            project = {"name": project} if isinstance(project, str) else project  # noqa: PLW2901 - the older shape
            if isinstance(project, dict) and isinstance(project.get("name"), str) and project["name"].strip():
                agent.free.setdefault("projects", {}).setdefault(project["name"], project)
        for section, names in (
            ("events", ("events", "recent_events")),
            ("tasks", ("tasks", "pending_tasks")),
            ("lessons", ("critical_lessons", "lessons")),
        ):
            items = [item for each in _lists(context, content, names) if (item := self._item(section, each))]
            agent.items += [
                item
                for number, item in enumerate(items)
                if not self._found.is_too_large(item.text, f"{shown}: {section}[{number}]")
            ]

    def _take_metrics(self, agent: LegacyAgent, content: Any, _: str) -> None:
        for name in ("retrieval_count", "consolidation_count", "last_consolidation"):
            if (value := number_of(content.get(name))) is not None and value > 0:
                agent.metrics[name] = min(value, _MOST)

    def _item(self, section: str, given: Any) -> LegacyItem | None:
        entry = {"text": given} if isinstance(given, str) else given
        if not isinstance(entry, dict):
            return None
        text = next((entry[name] for name in ("text", "name", "title") if isinstance(entry.get(name), str)), "")
        if not text.strip():
            return None
        status = entry.get("status")
        return LegacyItem(
            section=section,
            text=text,
            category=entry["category"] if isinstance(entry.get("category"), str) else "",
            importance=self._importance(entry.get("importance"), LESSON_IMPORTANCE),
            timestamp=time_of(entry, _TIME_FIELDS),
            done=isinstance(status, str) and status.strip().lower() in _DONE,
        )

    def _importance(self, value: Any, default: float) -> float:
        number = number_of(value)
        if number is None:
            self._found.corrected += value is not None
            return default
        self._found.corrected += not 0 <= number <= 1
        return min(1.0, max(0.0, number))


def _loaded(path: Path) -> tuple[Any, str]:
    """The JSON of a file, bare NaN and Infinity allowed; or what is wrong with it."""
    try:
        if path.stat().st_size > _LARGEST:
            return None, "far too large"
        text = read_regular(path).decode("utf-8-sig")
    except OSError as error:
        return None, f"cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        return None, "no UTF-8"
    if not text.strip():
        return None, "empty"
    try:
        return json.loads(text), ""
    except (ValueError, RecursionError):
        return None, "no valid JSON"


def _lists(context: Mapping[str, Any], content: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[Any]:
    for place in (context, content):
        for name in names:
            found = place.get(name)
            if isinstance(found, list):
                yield from found

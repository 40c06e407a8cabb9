"""Which files are notes, whose they are, and which day they tell of: the path alone decides (docs/memory.md, 1)."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

import msgspec

from ..model import DEFAULT_AGENT
from .dates import date_in_name, real_date

NameKind: TypeAlias = Literal["note", "page", "text", "unmatched", "conflict_copy", "skipped", "ignored"]

RESERVED = frozenset(
    {"archive", "working", "contextual", "templates", "logs", "tasks", "research", "digests", "restored"}
)
"""First-level folders of `memory/` that are never agents."""

TEXT_FILES = frozenset({"memory/custom_dict.txt", "memory/aliases.txt"})

LEFT_OUT = ("node_modules", "site-packages", "venv", "__pycache__")
"""Folders that tools fill: no wildcard of `notes.extra` enters them, nor hidden ones."""

_AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")
_DATED = re.compile(r"(\d{4}-\d{2}-\d{2})(?!\d)[^/]*\.md\Z")
_PAGE = re.compile(r"MEMORY(?:-(.+))?\.md\Z")
_TEMPORARY = re.compile(r"~\Z|\A#.*#\Z|\.(?:tmp|temp|swp|swo|swx|bak|orig|part|crdownload)\Z", re.IGNORECASE)
_NOT_LEFT_OUT = f"(?!(?:{'|'.join(map(re.escape, LEFT_OUT))})/)"
_CONFLICT = re.compile(
    r"\.sync-conflict-|[Cc]onflicted [Cc]opy|\([^()]*冲突[^()]*\)|_conf\(|\.conflict\."
    r"|-(?:LAPTOP|DESKTOP)-[A-Z0-9]{4,}\.md\Z"
)


class Name(msgspec.Struct, frozen=True):
    """What a path says: `date` is `YYYY-MM-DD` or '' (undated), `reason` says why a file is left out."""

    kind: NameKind
    agent_id: str = ""
    date: str = ""
    reason: str = ""


_IGNORED = Name("ignored")


def classify(path: str, extra: Sequence[str] = (), reserved: Collection[str] = RESERVED) -> Name:
    """Say what the file at `path` (relative to the workspace, `/` between parts) is.

    `extra` are the globs of `notes.extra` (`*` stays inside a folder, `**` crosses folders); what they
    match belongs to the default agent. Never raises: a name that cannot be one is `ignored`.
    """
    path = unicodedata.normalize("NFC", path)
    parts = path.split("/")
    if any(part in ("", "..") or part.startswith(".") for part in parts):
        return _IGNORED
    if path in TEXT_FILES:
        return Name("text")
    if _TEMPORARY.search(parts[-1]) or not parts[-1].lower().endswith(".md"):
        return _IGNORED
    claimed = is_claimed(path, extra)
    if not claimed and not _is_ours(parts):
        return _IGNORED
    if _CONFLICT.search(parts[-1]):
        return Name("conflict_copy", reason="a copy made by a file synchroniser: merge it by hand, then delete it")
    if len(parts) == 1 and _PAGE.match(parts[0]):
        return _page(parts[0])
    if claimed:
        return Name("note", DEFAULT_AGENT, date_in_name(parts[-1]))
    return _in_memory(parts, extra, reserved)


def is_agent_id(text: str) -> bool:
    """Whether `text` may name an agent."""
    return _AGENT.match(text) is not None


def is_claimed(path: str, globs: Sequence[str]) -> bool:
    """Whether one of the globs of `notes.extra` matches `path`."""
    path = unicodedata.normalize("NFC", path)
    return any(_glob(pattern).match(path) for pattern in globs)


def is_left_out(folder: str) -> bool:
    """Whether some part of the folder's path is hidden, or filled by tools: not walked or watched for wildcards."""
    return any(part.startswith(".") or part in LEFT_OUT for part in folder.split("/"))


def _is_ours(parts: list[str]) -> bool:
    return _PAGE.match(parts[0]) is not None if len(parts) == 1 else parts[0] == "memory"


def _page(name: str) -> Name:
    match = _PAGE.match(name)
    agent = (match and match[1]) or DEFAULT_AGENT
    if not is_agent_id(agent):
        return Name("skipped", reason=f"{agent!r} cannot be an agent's id")
    return Name("page", agent)


def _in_memory(parts: list[str], extra: Sequence[str], reserved: Collection[str]) -> Name:
    dated = _DATED.match(parts[-1])
    if len(parts) == 2:
        return (
            Name("note", DEFAULT_AGENT, real_date(dated[1])) if dated else Name("unmatched", reason="no date in front")
        )
    folder = parts[1]
    if folder in reserved or folder.startswith("_"):
        return Name("skipped", reason=f"memory/{folder}/ is reserved") if dated else _IGNORED
    if any(pattern.startswith(f"memory/{folder}/") for pattern in extra):
        return Name("unmatched", reason=f"memory/{folder}/ is claimed by notes.extra, which does not match this name")
    if not is_agent_id(folder):
        return Name("skipped", reason=f"{folder!r} cannot be an agent's id")
    if len(parts) > 3 or not dated:
        return Name("unmatched", reason="no date in front" if len(parts) == 3 else "deeper than memory/<agent>/")
    return Name("note", folder, real_date(dated[1]))


@lru_cache(maxsize=256)
def _glob(pattern: str) -> re.Pattern[str]:
    """A glob as a regular expression: `**/` any folders, `*` and `?` inside one part, `[…]` as usual."""
    out = ""
    rest = unicodedata.normalize("NFC", pattern)
    while rest:
        if rest.startswith("**/"):
            out, rest = out + f"(?:{_NOT_LEFT_OUT}[^/]+/)*", rest[3:]
        elif rest.startswith("**"):
            out, rest = out + f"(?:{_NOT_LEFT_OUT}[^/]+/)*[^/]*", rest[2:]
        elif rest[0] == "*":
            begins = not out or out.endswith("/")
            out, rest = out + (_NOT_LEFT_OUT if begins else "") + "[^/]*", rest[1:]
        elif rest[0] == "?":
            out, rest = out + "[^/]", rest[1:]
        elif (bracket := re.match(r"\[(!?)([^\]\\]+)\]", rest)) is not None:
            out, rest = (
                out + f"[{'^' if bracket[1] else ''}{bracket[2].replace('[', chr(92) + '[')}]",
                rest[bracket.end() :],
            )
        else:
            out, rest = out + re.escape(rest[0]), rest[1:]
    try:
        return re.compile(out + r"\Z")
    except re.error:
        return re.compile(re.escape(pattern) + r"\Z")

"""MEMORY.md's managed block: rendered from hot state, found and replaced without touching another byte.

    <!-- memoryd:begin -->
    <!-- memoryd:sha256=… -->
    …the body…
    <!-- memoryd:end -->

The hash is that of the body's UTF-8 with LF line ends, without the line end before the last line: a
block whose hash fits was written by some memoryd, any other was edited by hand (docs/memory.md, 3).
Pages are text that was decoded with `surrogateescape`, so that bytes which are no UTF-8 come back.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from ..clock import datable, day_of_ms
from ..managed_block import BEGIN, END, HASH_LINE, managed_pair

TITLE = "# MEMORY.md - Long-Term Context"
INTRODUCTION = "*Kept by memoryd from its hot state. Edits of these lists are read back.*"
RULE = "---"
HEADINGS = {
    "identity": "## 🤖 Agent Identity",
    "owner_profile": "## 👤 Owner Profile",
    "projects": "## 💼 Active Projects",
    "tasks": "## ✅ Pending Tasks",
    "events": "## 📅 Recent Events",
    "lessons": "## 🎯 Critical Lessons",
}
"""Sections in the page's order (docs/original.md)."""
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Block(msgspec.Struct, frozen=True):
    """A managed block in a page: `page[start:end]`. `sha256` is what its second line claims, '' without one."""

    start: int
    end: int
    sha256: str
    body: str

    @property
    def hash_ok(self) -> bool:
        """Whether some memoryd wrote it and nobody edited it since."""
        return self.sha256 == body_hash(self.body)


def render(state: dict[str, Any]) -> str:
    """The body for a hot state (`HotState.state`): a pure function of it, without a final line end."""
    active = state["active_context"]
    sections = {
        "identity": _field_lines(state["identity"]),
        "owner_profile": _field_lines(state["owner_profile"]),
        "projects": [line for project in active["projects"] for line in _project_lines(project)][:-1],
        "tasks": [f"- [{_folded(task['status']).upper()}] {_folded(task['text'])}" for task in active["tasks"]],
        "events": [f"- [{_month_day(event['timestamp'])}] {_folded(event['text'])}" for event in active["events"]],
        "lessons": [_lesson_line(lesson) for lesson in state["critical_lessons"]],
    }
    lines = [TITLE, "", INTRODUCTION, "", RULE]
    for section, content in sections.items():
        if content:
            lines += ["", HEADINGS[section], "", *content]
    return "\n".join(lines).rstrip("\n")


def body_hash(body: str) -> str:
    """Hex of the sha256 that a block's second line names."""
    return hashlib.sha256(body.encode("utf-8", "surrogateescape")).hexdigest()


def managed_block(body: str) -> str:
    """The whole block around a body, with LF line ends and none at its end."""
    return f"{BEGIN}\n<!-- memoryd:sha256={body_hash(body)} -->\n{body}\n{END}"


def read_block(page: str) -> Block | None:
    """The managed block of a page; None if there is none that begins and ends.

    A begin counts only with the next end after it and no other begin between. Of several blocks the
    first with a hash line is ours, else the first.
    """
    pair = managed_pair(page)
    return _block(page, *pair) if pair else None


def put_block(page: str | None, block: str, strays: Sequence[str] = ()) -> str:
    """The page with `block` in the place of its managed block, or at its end if it has none.

    Every other byte stays as it is. `strays` are lines that a person wrote into the old block and that
    are no entries of it: they go right behind the new one. Line ends are those of the old block, else of the page.
    """
    if not page:
        return f"{block}\n"
    old = read_block(page)
    # A block keeps its own line ends: the page's first ones can be another's, e.g. after a lone CR.
    line_end = _line_end(page if old is None else page[old.start : old.end])
    if old is None:
        gap = line_end if page.endswith("\n") else line_end * 2
        return page + gap + _with_line_ends(block, line_end) + line_end
    moved = "".join(line_end + line for line in ("", *strays)) if strays else ""
    return page[: old.start] + _with_line_ends(block, line_end) + moved + page[old.end :]


def label(key: str) -> str:
    """How a field name is shown: underscores to spaces, title case."""
    return _folded(key.replace("_", " ").title())


def shown_value(value: Any) -> str:
    """How a field's value is shown: text as it is, lists joined by ", ", anything else as JSON; '' for nothing."""
    if value is None:
        return ""
    if isinstance(value, str):
        return _folded(value)
    if isinstance(value, list):
        return ", ".join(filter(None, map(shown_value, value)))
    return _folded(msgspec.json.encode(value).decode()) if value != {} else ""


def _field_lines(fields: dict[str, Any]) -> list[str]:
    shown = ((label(key), shown_value(value)) for key, value in fields.items())
    return [f"- **{name}:** {text}" for name, text in shown if text]


def _project_lines(project: dict[str, Any]) -> list[str]:
    lines = [f"### {shown_value(project['name'])}"]
    if description := shown_value(project.get("description")):
        lines.append(description)
    if status := shown_value(project.get("status")):
        lines.append(f"**Status:** {status}")
    return [*lines, ""]  # the blank keeps the next project's heading apart


def _lesson_line(lesson: dict[str, Any]) -> str:
    category = _folded(lesson["category"]).replace("]", ")")
    text = _folded(lesson["text"])
    return f"- **[{category}]** {text}" if category else f"- {text}"


def _month_day(timestamp: float) -> str:
    """`Feb 15`, by UTC day and without the locale."""
    day = day_of_ms(datable(timestamp * 1000))
    return f"{MONTHS[day.month - 1]} {day.day:02d}"


def _folded(text: str) -> str:
    """One line that holds no comment mark, which would end the block, and no NUL, with which no body can be kept."""
    return " ".join(text.replace("\0", "\ufffd").split()).replace("<!--", "&lt;!--").replace("-->", "--&gt;")


def _block(page: str, begin: re.Match[str], end: re.Match[str]) -> Block:
    hash_line = HASH_LINE.match(page, begin.end(1))
    inside = page[hash_line.end() if hash_line else begin.end() : end.start()].replace("\r\n", "\n")
    # What lies between the two marker lines: without the line end before and the one behind.
    body = inside.removeprefix("\n").removesuffix("\n")
    return Block(begin.start(1), end.end(1), hash_line.group(1) if hash_line else "", body)


def _line_end(page: str) -> str:
    return "\r\n" if "\r\n" in page and page.index("\r\n") < page.index("\n") else "\n"


def _with_line_ends(block: str, line_end: str) -> str:
    return block if line_end == "\n" else block.replace("\n", line_end)

"""What a person changed inside the managed block, three-way (docs/memory.md, 3).

base = the body that the block's hash line names, theirs = what stands there now, ours = what hot state
gives today. A difference between base and theirs is the person's will and wins; what ours says already
is no change. With an unknown base theirs is compared with ours, and nothing counts as removed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

import msgspec

from .page import HEADINGS, INTRODUCTION, RULE, TITLE

SIMILAR = 0.6
"""From this ratio on, a line that went and one that came are the same entry reworded."""

Action: TypeAlias = Literal["add", "remove", "change", "reword", "done"]

_LIST_SECTIONS = ("tasks", "events", "lessons")
_SECTIONS = {heading: section for section, heading in HEADINGS.items()}
_BULLET = re.compile(r"[ \t]*[-*+][ \t]+(.*)")
_FIELD = re.compile(r"\*\*(.+?):\*\*[ \t]*(.*)")
_TASK = re.compile(r"\[([^\]]{0,200})\][ \t]+(.*)")
_EVENT = re.compile(r"\[([A-Z][a-z]{2} [0-9]{1,2})\][ \t]+(.*)")
_LESSON = re.compile(r"\*\*\[([^\]]{0,200})\]\*\*[ \t]+(.*)")
_STATUS = re.compile(r"\*\*Status:\*\*[ \t]*(.*)")
_OPEN = frozenset({"", "pending", "open", "todo"})


class Entry(msgspec.Struct, frozen=True):
    """One entry of a body.

    `key` is a field's label, a project's name, or the text of a lesson, event or task; `detail` a field's
    value, a lesson's category, an event's `Feb 15`, a task's status in lower case, a project's
    description; `status` a project's status.
    """

    section: str
    key: str
    detail: str = ""
    status: str = ""


class HotChange(msgspec.Struct, frozen=True):
    """One thing that a person did to the block. `old` is the key before, of reworded entries only."""

    action: Action
    entry: Entry
    old: str = ""


class ReadBack(msgspec.Struct, frozen=True):
    """What was changed by hand, and the lines that are no entries: they move out of the block, unharmed."""

    changes: list[HotChange]
    strays: list[str]


def read_back(theirs: str, base: str | None, ours: str) -> ReadBack:
    """Compare a hand-edited body with the body it was made from and with today's."""
    now, lines, unread = _parsed(theirs)
    own, own_lines, _ = _parsed(ours)
    before, base_lines, _ = _parsed(base) if base is not None else (own, own_lines, unread)
    changes = _paired([*_differences(before, now, whole=lambda section: base is not None and section not in unread)])
    known = {*base_lines, *own_lines}
    return ReadBack(
        changes=[each for each in changes if not _is_so_already(each, own)],
        strays=[line for line in lines if line not in known],
    )


def entries_of(body: str) -> list[Entry]:
    """The entries of a body, in its order."""
    return list(_parsed(body)[0].values())


Entries: TypeAlias = dict[tuple[str, str], Entry]


def _parsed(body: str) -> tuple[Entries, list[str], set[str]]:
    """The entries of a body by section and key, the lines that are none, and the sections with lines that are no text.

    A NUL is read as U+FFFD, as everywhere.
    """
    reader = _Reader()
    for line in body.replace("\0", "\ufffd").split("\n"):
        reader.take(line.rstrip())
    return {(each.section, each.key): each for each in reader.entries if each.key}, reader.strays, reader.unread


class _Reader:
    """Reads a body line by line."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.strays: list[str] = []
        self.unread: set[str] = set()
        self._section: str | None = None

    def take(self, line: str) -> None:
        """One line."""
        if not line or line in (TITLE, INTRODUCTION, RULE):
            return
        if not is_text(line):
            self.strays.append(line)
            self.unread |= {self._section} if self._section else set()
        elif line.startswith(("# ", "## ")):
            self._section = _SECTIONS.get(line)
            if self._section is None:
                self.strays.append(line)
        elif self._section == "projects":
            self._project(line)
        elif self._section is not None:
            self._item(self._section, line)
        else:
            self.strays.append(line)

    def _project(self, line: str) -> None:
        last = self._last("projects")
        if line.startswith("### "):
            self.entries.append(Entry("projects", _plain(line[4:])))
        elif last is None:
            self.strays.append(line)
        elif found := _STATUS.match(line):
            self.entries[-1] = msgspec.structs.replace(last, status=_plain(found.group(1)))
        else:
            self.entries[-1] = msgspec.structs.replace(last, detail=f"{last.detail} {_plain(line)}".strip())

    def _item(self, section: str, line: str) -> None:
        last = self._last(section)
        if found := _BULLET.fullmatch(line):
            self._bullet(section, line, _plain(found.group(1)))
        elif last is not None and line[:1].isspace() and section in _LIST_SECTIONS:
            self.entries[-1] = msgspec.structs.replace(last, key=f"{last.key} {_plain(line)}")
        else:
            self.strays.append(line)

    def _bullet(self, section: str, line: str, text: str) -> None:
        if not any(character.isalnum() for character in text):
            self.strays.append(line)
        elif section in _LIST_SECTIONS:
            self.entries.append(_list_entry(section, text))
        elif (found := _FIELD.fullmatch(text)) and found.group(1).strip():
            self.entries.append(Entry(section, found.group(1).strip(), found.group(2)))
        else:
            self.strays.append(line)

    def _last(self, section: str) -> Entry | None:
        last = self.entries[-1] if self.entries else None
        return last if last is not None and last.section == section else None


def is_text(text: str) -> bool:
    """Whether it is text: no NUL, no bytes that were no UTF-8."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _list_entry(section: str, text: str) -> Entry:
    shape = {"tasks": _TASK, "events": _EVENT, "lessons": _LESSON}[section]
    found = shape.fullmatch(text)
    if found is None:
        return Entry(section, text)
    detail = found.group(1).strip()
    return Entry(section, found.group(2).strip(), detail.lower() if section == "tasks" else detail)


def _plain(text: str) -> str:
    """The words of a line, with the comment marks that `render` took out of them."""
    return " ".join(text.split()).replace("&lt;!--", "<!--").replace("--&gt;", "-->")


def _differences(before: Entries, now: Entries, *, whole: Callable[[str], bool]) -> Iterator[HotChange]:
    """`whole` tells whether everything in a section was read: else what is missing there may just be unreadable."""
    for place, entry in now.items():
        old = before.get(place)
        if old is None or old != entry:
            yield HotChange(_action(entry, old), entry)
    for place, entry in before.items():
        if place not in now and whole(entry.section):
            yield HotChange("remove", entry)


def _action(entry: Entry, old: Entry | None) -> Action:
    if entry.section == "tasks" and entry.detail not in _OPEN:
        return "done"
    return "add" if old is None else "change"


def _paired(changes: list[HotChange]) -> list[HotChange]:
    """An entry that went and a similar one that came become one rewording, at the place of the new one."""
    gone = [each.entry for each in changes if each.action == "remove" and each.entry.section in _LIST_SECTIONS]
    paired: list[HotChange] = []
    for each in changes:
        old = _most_similar(each.entry, gone) if each.action == "add" else None
        if old is not None:
            gone.remove(old)
            each = HotChange("reword", each.entry, old.key)  # noqa: PLW2901  # the pair takes the place of its half
        paired.append(each)
    reworded = {(each.entry.section, each.old) for each in paired if each.action == "reword"}
    return [one for one in paired if one.action != "remove" or (one.entry.section, one.entry.key) not in reworded]


def _most_similar(entry: Entry, gone: Iterable[Entry]) -> Entry | None:
    ratios = [
        (SequenceMatcher(None, old.key, entry.key, autojunk=False).ratio(), old)
        for old in gone
        if old.section == entry.section
    ]
    best = max(ratios, key=lambda pair: pair[0], default=None)
    return best[1] if best is not None and best[0] >= SIMILAR else None


def _is_so_already(change: HotChange, own: Mapping[tuple[str, str], Entry]) -> bool:
    """Whether hot state says it already, e.g. because another device said it first."""
    here = own.get((change.entry.section, change.entry.key))
    if change.action in ("remove", "done"):
        return here is None and change.action == "remove"
    if change.action == "reword":
        return False
    return here == change.entry

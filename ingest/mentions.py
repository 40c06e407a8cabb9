"""From a block's words to a mention: date, category, importance, kind and metadata."""

import msgspec

from ..model import Metadata, ParsedMention
from .blocks import Block, Heading
from .category import GENERAL, by_words, from_headings, normalised, tree_path
from .classify import importance_of, kind_of
from .metadata import gather, unique
from .traits import actions, emotion, outcome, people
from .words import Words, fold, read_words

_HEADING_LEVELS = 7
"""Labels, table heads and speakers are context, but no categories."""


class Note(msgspec.Struct):
    """What a note as a whole says of each of its facts."""

    date: str = ""
    is_page: bool = False
    category: str = ""
    importance: float | None = None
    topics: list[str] = []
    tree_paths: frozenset[str] = frozenset()


def words_of(block: Block, references: dict[str, object]) -> Words:
    """The words of a block; a table row's cells are joined by ` | `."""
    if block.kind != "row":
        return read_words(block.raw, references)
    cells = [read_words(f"\u2063{cell}", references) for cell in block.raw.split("\n")]
    return Words(
        text=" | ".join(cell.text.replace("\u2063", "").strip() for cell in cells).strip(" |"),
        tags=[tag for cell in cells for tag in cell.tags],
        links=[link for cell in cells for link in cell.links],
        code=[code for cell in cells for code in cell.code],
        wikilinks=[page for cell in cells for page in cell.wikilinks],
        importance=next((cell.importance for cell in cells if cell.importance is not None), None),
        spoken="\n".join(cell.spoken.replace("\u2063", "") for cell in cells),
    )


def mention_of(note: Note, block: Block, words: Words, speaker: str = "") -> ParsedMention:
    """The mention that `block` makes; lines count from 1 here."""
    headings = [heading.text for heading in block.headings if heading.text]
    shape = block.kind if block.kind in ("quote", "row", "code") else ""
    kind = kind_of(words.text, headings, task_state=words.task_state, shape=shape)
    explicit: list[str] = []
    category = _category(note, block, words, explicit)
    importance = words.importance if words.importance is not None else note.importance
    if importance is not None:
        explicit.append("importance")
    else:
        importance = importance_of(words.text, kind, words.task_state)
    if words.task_state:
        explicit.append("task_state")
    return ParsedMention(
        text=words.text, line_from=block.first + 1, line_to=block.last + 1,
        date=_date(note, block.headings, words.clock), headings=headings, category=category,
        importance=importance, kind=kind, task_state=words.task_state,
        metadata=_metadata(note, words, explicit, speaker, is_data=shape in ("row", "code")),
    )  # fmt: skip


def code_words(code: str) -> Words:
    """The words of a fence that no block stands before: all of its code, white space folded."""
    return Words(text=fold(code), tags=[], links=[], code=[], wikilinks=[])


def _category(note: Note, block: Block, words: Words, explicit: list[str]) -> str:
    above = [heading.text for heading in block.headings if heading.level <= _HEADING_LEVELS]
    for tag in words.tags:
        if path := normalised(tag):
            explicit.append("category")
            return path
    if note.category:
        explicit.append("category")
        return note.category
    if path := tree_path(above, note.tree_paths):
        explicit.append("category")
        return path
    return from_headings(above) or by_words(words.text, note.tree_paths) or GENERAL


def _date(note: Note, headings: list[Heading], clock: str) -> str:
    day = note.date
    if not day or note.is_page:
        day = next((heading.date for heading in reversed(headings) if heading.date), day)
    clock = clock or next((heading.clock for heading in reversed(headings) if heading.clock), "")
    return f"{day}T{clock}Z" if day and clock else day


def _metadata(note: Note, words: Words, explicit: list[str], speaker: str, *, is_data: bool) -> Metadata:
    found = gather([words.spoken], words.code, words.links)
    found.topics = unique([*words.tags, *words.wikilinks, *note.topics])
    found.people = [speaker] if speaker else []
    if not is_data:
        found.people = unique([*found.people, *people(words.text)])
        found.actions = actions(words.text)
        found.emotion = emotion(words.text)
        found.outcome = outcome(words.text, words.task_state)
    found.explicit = explicit
    return found

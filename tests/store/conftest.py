"""A store on a real file with a clock that stands, and a way to state notes without the parser."""

import pytest
from memoryd.clock import ManualClock
from memoryd.model import Metadata, ParsedMention, ParsedNote
from memoryd.store import Store
from memoryd.store.notes import StatedNote, apply_note

PATH = "memory/2026-02-13.md"


def mention(text, line, **values):
    """One list item of a note."""
    given = {"date": "2026-02-13", "headings": [], "category": "general", "importance": 0.5, "kind": "fact"}
    given |= {"task_state": "", "metadata": Metadata(), "code": "", "line_to": line} | values
    return ParsedMention(text=text, line_from=line, **given)


def note_of(texts, *, path=PATH, successors=(), keep_body=True, mentions=None):
    """A note whose lines are list items."""
    body = "".join(f"- {text}\n" for text in texts).encode()
    stated = mentions or [mention(text, line) for line, text in enumerate(texts, 1)]
    parsed = ParsedNote(body, [("fact", at) for at in range(len(texts))], stated, [], "ok")
    return StatedNote(
        agent_id="default", path=path, size=len(body), parsed=parsed, successors=successors,
        keep_body=keep_body,
    )  # fmt: skip


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def store(tmp_path, clock):
    opened = Store.open(tmp_path / "memory.db", clock, new_device=lambda: "aaaaaaaa")
    yield opened
    opened.close()


@pytest.fixture
def apply(store):
    """`apply(["one", "two"])` writes a note in one transaction."""

    def run(texts, **values):
        with store.transaction() as tx:
            return apply_note(tx, note_of(texts, **values))

    return run


@pytest.fixture
def table(store):
    """All rows of a table, for comparing before and after."""
    return lambda name: sorted(store.execute(f"SELECT * FROM {name}"), key=repr)


@pytest.fixture(name="mention")
def _mention():
    """`mention(text, line, **values)` makes one parsed list item."""
    return mention


@pytest.fixture(name="note_of")
def _note_of():
    """`note_of(texts, **values)` makes one parsed note."""
    return note_of

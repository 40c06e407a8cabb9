"""Front matter of every kind; nothing in it can stop ingest (IN-9)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.ingest.front import plain, read_front


def _front(text: str):
    return read_front(text.split("\n"))


def test_yaml_values_become_plain_types() -> None:
    """Dates become text, lists stay, keys are lower case."""
    front = _front("---\nTags: [a, b]\ndate: 2026-02-13\nat: 2026-02-13T10:00:00Z\nn: 3\n---\nbody")

    assert front.lines == 6
    assert front.values["date"] == "2026-02-13"
    assert (front.items("tags"), front.text("n")) == (["a", "b"], "3")


@pytest.mark.parametrize(
    ("text", "lines", "fault"),
    [
        ("---\ntitle: [broken\n---\n", 3, True), ("---\nx: 2026-02-30\n---\n", 3, True),
        ("---\n? [a]\n: b\n---\n", 0, False),
        ("---\nJust a sentence here.\n---\n", 0, False), ("---\n- item: one\n- two\n---\n", 0, False),
        ("---\n\n---\n", 3, False),
        ("---\nno end: here\n", 0, False), ('+++\ntitle = "x"\n+++\n', 3, False),
        ("+++\ntitle = \n+++\n", 0, False),
        ("title:: A page\ntags:: x, y\n\n- body\n", 2, False), ("plain\n", 0, False), ("", 0, False),
    ],
)  # fmt: skip
def test_what_is_front_matter(text: str, lines: int, fault: bool) -> None:
    """Broken front matter is a fault; a rule above a sentence is none."""
    front = _front(text)

    assert (front.lines, bool(front.fault)) == (lines, fault)


def test_a_fault_names_its_line(parse) -> None:
    """The finding of broken front matter stands inside the block."""
    note = parse("---\nfine: yes\ntitle: [broken\n---\n- tea\n")

    assert [state for state, _ in note.lines] == ["front_matter"] * 4 + ["fact"]
    assert [finding.code for finding in note.findings] == ["broken_front_matter"]
    assert 1 <= note.findings[0].line <= 4


def test_front_matter_speaks_for_all_blocks(parse) -> None:
    """Category, importance and tags of the front matter hold for each fact; a block's own tag is nearer."""
    note = parse("---\ncategory: Projects/Falcon\nimportance: 0.9\ntags: [x]\n---\n- one\n- two #other\n")

    assert [(each.category, each.importance) for each in note.mentions] == [("projects/falcon", 0.9), ("other", 0.9)]
    assert note.mentions[0].metadata.topics == ["x"]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("---\ndate: 2026-01-05\n---\n- a\n", "2026-01-05"), ("# 2026-01-06 notes\n- a\n", "2026-01-06"),
        ("# January 7, 2026\n- a\n", "2026-01-07"),
        ("- a\n", ""),
    ],
)  # fmt: skip
def test_undated_notes_take_front_matter_then_title(parse, text: str, date: str) -> None:
    """A note without a date in its name is dated by front matter, then by its first heading."""
    assert parse(text, date="", path="notes/ideas.md").mentions[0].date == date


def test_the_name_decides_over_the_title(parse) -> None:
    """TR-8: a wrong or local date in the title does not move the note."""
    assert parse("# 2025-02-12\n- a\n").mentions[0].date == "2026-02-13"


_SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates() | st.datetimes() | st.binary()
)


@settings(max_examples=100, deadline=None)
@given(st.recursive(_SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10))
def test_any_value_becomes_json(value: object) -> None:
    """Whatever YAML can hold becomes JSON types."""

    def is_plain(each: object) -> bool:
        if isinstance(each, list):
            return all(map(is_plain, each))
        if isinstance(each, dict):
            return all(isinstance(key, str) and is_plain(below) for key, below in each.items())
        return each is None or isinstance(each, (bool, int, float, str))

    assert is_plain(plain(value))


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab:-[]{}&*!#|>'\"%@`? \n,0123é", max_size=60))
def test_no_front_matter_stops_ingest(text: str) -> None:
    """Odd YAML is a fault or no front matter, never a crash."""
    assert _front(f"---\n{text}\n---\nbody").lines >= 0

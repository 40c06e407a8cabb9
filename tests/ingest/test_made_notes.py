"""Every shape of real notes, in its measured share: each line has one state, and nothing is lost or doubled.

CommonMark's own example texts are not among them: no wheel of a parser on PyPI carries them (looked at: markdown-it-py,
mdit-py-plugins, mistune, marko, commonmark, cmarkgfm, markdown2, mistletoe).
"""

import importlib.util
import re
import sys
from collections import Counter
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.ingest.encoding import count_lines
from memoryd.ingest.mask import mask_bytes
from memoryd.ingest.parse import parse_note
from memoryd.ingest.source import read_source
from memoryd.model import LineState, ParsedNote

_HERE = Path(__file__).parent
_EXAMPLES = sorted((_HERE.parents[1] / "examples/workspace").rglob("*.md"))
_STATES = frozenset(get_args(LineState))
_WORD = re.compile(r"[^\W_]+")
_MARKUP = re.compile(
    r"^(?:user|assistant):(?: \[Chat[^\]]*\])?|<[^>]+>|\(\([0-9a-f-]+\)\)|\[!\w+\]|\d{1,2}:\d\d|\b(?:TODO|DONE|LATER)\b"
)
"""What a line has besides words: speakers, tags, references, clock times, task marks."""


def _shapes():
    spec = importlib.util.spec_from_file_location("memoryd_shapes", _HERE / "shapes.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


SHAPES = _shapes()
NOTES = list(SHAPES.made_notes(2_000))


def _parsed(data: bytes, path: str = "memory/2026-02-13.md") -> ParsedNote:
    return parse_note(
        data, path=path, agent_id="default", date="2026-02-13", is_page=path.startswith("MEMORY"), max_bytes=2_000_000
    )


def _balanced(data: bytes, note: ParsedNote) -> None:
    """The ledger's sums, owners and places hold."""
    assert len(note.lines) == sum(note.totals.values()) == count_lines(data)
    assert {state for state, _ in note.lines} <= _STATES
    begun = [owner for state, owner in note.lines if state in ("fact", "duplicate")]
    assert sorted(begun) == sorted(set(begun))
    for number, (state, owner) in enumerate(note.lines, 1):
        assert (owner >= 0) or state not in ("fact", "duplicate", "continuation")
        if owner >= 0 and state != "code":
            assert note.mentions[owner].line_from <= number
    assert count_lines(note.body) == count_lines(data)


def test_the_ledgers_of_two_thousand_notes_are_balanced():
    """Each line of each made note has one state, and the totals sum to the number of lines."""
    totals: Counter[str] = Counter()
    for made in NOTES:
        note = _parsed(made.data, made.path)
        _balanced(made.data, note)
        totals.update(note.totals)

    assert len(NOTES) == 2_000
    assert set(totals) >= _STATES - {"own_output", "secret", "forgotten", "too_large"}


def test_no_word_of_a_made_note_is_lost():
    """Every word of a line that is a fact, or part of one, stands in that fact or in its metadata."""
    lost = []
    for made in NOTES[::4]:
        note = _parsed(made.data, made.path)
        for line, (state, owner) in zip(read_source(note.body).lines, note.lines, strict=True):
            if state in ("fact", "duplicate", "continuation"):
                said = note.mentions[owner]
                known = msgspec.json.encode([said.text, said.metadata, said.date, said.headings]).decode()
                words = _WORD.findall(_MARKUP.sub(" ", line))
                lost += [(line, word) for word in words if word not in known and not re.match(r"(?:\d{1,2}|x)\Z", word)]

    assert lost == []


def test_the_shares_are_the_measured_ones():
    """The generator makes what real folders hold: mostly bullets, tables in half of the Chinese agents' notes."""
    by_kind: dict[str, list[str]] = {}
    for made in NOTES:
        by_kind.setdefault(made.kind, []).append("\n".join(read_source(made.data).lines))

    def share(kind: str, needle: str) -> float:
        return sum(needle in text for text in by_kind[kind]) / len(by_kind[kind])

    assert len(by_kind) == 6
    assert 0.35 <= share("agent zh", "|---|---|") <= 0.6
    assert 0.55 <= share("agent en", "- **") <= 0.85
    assert share("outliner en", "\t- ") >= 0.4
    assert share("journal zh", "- [x] ") >= 0.95
    assert sum(made.data.endswith(b"\n") for made in NOTES if made.kind == "outliner en") <= 40  # copies of others
    assert len({made.data for made in NOTES}) <= len(NOTES) * 0.98
    assert any(made.path.startswith("MEMORY") for made in NOTES)


@pytest.mark.parametrize("shape", sorted(SHAPES._SHARES))
def test_each_shape_comes_as_often_as_it_was_measured(shape: str) -> None:
    """Of the notes of a kind the measured share has the shape, within what chance allows (four deviations)."""
    for kind, share in zip(SHAPES._KINDS, SHAPES._SHARES[shape], strict=True):
        drawn = [made for made in NOTES if made.kind == kind and made.shapes]
        wanted = share / 100 * len(drawn)
        assert abs(sum(shape in made.shapes for made in drawn) - wanted) <= 4 * (wanted + 1) ** 0.5, kind


def test_masking_a_made_note_leaves_its_lines_and_is_stable():
    """The stored bytes have the note's lines, no secret, and give the same facts again."""
    for made in NOTES[::5]:
        masked, _ = mask_bytes(made.data)
        assert mask_bytes(masked) == (masked, 0)
        assert b"password: hunter" not in masked
        assert [each.text for each in _parsed(masked).mentions] == [each.text for each in _parsed(made.data).mentions]


@pytest.mark.parametrize("path", _EXAMPLES, ids=lambda path: path.name)
def test_the_ledgers_of_the_examples_are_balanced(path):
    """The workspace that we ship is understood line by line."""
    data = path.read_bytes()

    _balanced(data, _parsed(data, "MEMORY.md" if path.name == "MEMORY.md" else "memory/2026-02-13.md"))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_ledgers_of_mutated_examples_are_balanced(data):
    """Lines cut, doubled, swapped and broken at any byte leave no line without a state."""
    text = data.draw(st.sampled_from([path.read_bytes() for path in _EXAMPLES] + [made.data for made in NOTES[:60]]))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        size = data.draw(st.integers(0, 80))
        piece = data.draw(
            st.sampled_from(
                [
                    b"",
                    b"\n",
                    b"```\n",
                    b"> ",
                    b"    ",
                    b"\t- ",
                    b"---\n",
                    b"<!--",
                    b"| a |\n",
                    b"[",
                    b"\0",
                    b"\xff",
                    b"\r\n",
                    b"**",
                    text[at : at + size],
                ]
            )
        )
        text = text[:at] + piece + text[at + data.draw(st.integers(0, size)) :]

    _balanced(text, _parsed(text))

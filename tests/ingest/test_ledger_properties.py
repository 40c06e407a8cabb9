"""Whatever the bytes: every line has one state, every fact a line of its own, and no secret comes back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.ingest.mask import mask_bytes
from memoryd.ingest.parse import parse_note
from memoryd.ingest.words import has_words
from memoryd.model import ParsedNote

_PIECES = [
    "# H\n", "- a\n", "  - b\n", "\t\t- c\n", "> q\n", "```\n", "~~~\n", "---\n", "===\n", "| a | b |\n",
    "|---|---|\n",
    "| 1 | 2 | 3 |\n", "<div>\n", "</div>\n", "<!-- c\n", "-->\n", "<x>\n", "<script>\n", "[a]: b\n", "[a]: /u 'x\n",
    "**b**\n", "**K**: v\n", "text\n", "10:40 t\n", "\n", "  \n", "- [x] 浇花\n", "TODO x\n", "user: hi\n",
    "# Session: x\n",
    "- **Session Key**: k\n", "id:: 3\n", "password: hunter2secret\n", "[masked:password:3f]\n", "- [forgotten]\n",
    "<!-- memoryd:begin -->\n", "<!-- memoryd:sha256=ab -->\n", "<!-- memoryd:end -->\n", "- \n", "1. x\n", "2) y:\n",
    "    code\n", "&amp; *x* _y_\n", "\r\n", "\x00", "[[W|x]] #t\n", "> [!note]\n", "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----\n", "\ufdd0", "\ufdd43\ufdd5", "- - - x\n", "$ git push\n", "https://x.org/a\n",
    "- x:\n  - y\n", "凌晨 02:30 浇花\n",
]  # fmt: skip


def _parse(data: bytes, *, is_page: bool = False) -> ParsedNote:
    return parse_note(
        data, path="memory/2026-02-13.md", agent_id="d", date="2026-02-13", is_page=is_page, max_bytes=2_000_000
    )


def _assert_balanced(data: bytes, *, is_page: bool = False) -> None:
    note = _parse(data, is_page=is_page)
    totals = note.totals
    if data[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        assert len(note.lines) == data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
        assert note.body.count(b"\n") == data.count(b"\n")
    assert sum(totals.values()) == len(note.lines)
    assert totals.get("fact", 0) + totals.get("duplicate", 0) == len(note.mentions)
    for index, mention in enumerate(note.mentions):
        assert has_words(mention.text)
        assert note.lines[mention.line_from - 1][1] == index
    assert all(-1 <= owner < len(note.mentions) for _, owner in note.lines)
    assert mask_bytes(note.body) == (note.body, 0)
    again = _parse(note.body, is_page=is_page)
    assert again.lines == note.lines
    assert [each.text for each in again.mentions] == [each.text for each in note.mentions]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=14), st.booleans())
def test_sums_hold_for_random_markdown(pieces: list[str], is_page: bool) -> None:
    """Random Markdown is accounted for line by line, and its stored body says the same facts again."""
    _assert_balanced("".join(pieces).encode(), is_page=is_page)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200))
def test_sums_hold_for_random_bytes(data: bytes) -> None:
    """Random bytes are accounted for line by line."""
    _assert_balanced(data)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=120), st.sampled_from(["utf-16-le", "utf-16-be"]))
def test_sums_hold_for_utf16(text: str, codec: str) -> None:
    """UTF-16 with a mark is read as text, and accounted for line by line."""
    mark = b"\xff\xfe" if codec.endswith("le") else b"\xfe\xff"
    note = _parse(mark + text.encode(codec, "surrogatepass"))

    assert sum(note.totals.values()) == len(note.lines)
    assert any(finding.code == "utf16" for finding in note.findings)


@pytest.mark.parametrize("deep", [b"> " * 3_000 + b"deep", b"".join(b"\t" * n + b"- level\n" for n in range(200))])
def test_words_nested_too_deep_for_a_parser_are_facts_all_the_same(deep: bytes) -> None:
    """Nesting without end loses no line."""
    note = _parse(deep)

    assert note.mentions
    assert sum(note.totals.values()) == len(note.lines)


def test_a_note_over_the_limit_is_masked_but_not_parsed() -> None:
    """Six million lines are counted, not listed, and the secret in the first is masked."""
    data = b"- password: hunter2secret\n" + b"\n" * 6_000_000

    note = _parse(data)

    assert note.state == "too_large"
    assert note.totals == {"too_large": 6_000_001}
    assert note.lines == []
    assert b"hunter2secret" not in note.body
    assert note.body.count(b"\n") == 6_000_001

"""Chunks: cut by content, put together again without loss; forgotten lines masked in place."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memoryd.store.chunks import MAX_CHUNK_BYTES, cut, mask_lines

LINES = b"".join(f"- line {n} of a long note about gulls\n".encode() for n in range(4000))


@given(st.binary(max_size=5000))
def test_the_pieces_together_are_the_note(data):
    """Whatever the bytes, nothing is lost between two chunks, and each is named by its hash."""
    pieces = cut(data)

    assert b"".join(piece for _, piece in pieces) == data
    assert all(hashlib.sha256(piece).hexdigest() == sha for sha, piece in pieces)


@pytest.mark.parametrize("data", [b"x" * 200_000, b"\n" * 100_000, LINES, b"a\n" + b"y" * 70_000 + b"\nb"])
def test_no_chunk_is_larger_than_32_kib(data):
    """One endless line, only newlines or a usual note: each piece is at most 32 KiB."""
    pieces = cut(data)

    assert b"".join(piece for _, piece in pieces) == data
    assert max(len(piece) for _, piece in pieces) <= MAX_CHUNK_BYTES


def test_an_edit_changes_at_most_two_chunks():
    """A line inserted in the middle leaves all other chunks as they are."""
    half = LINES.index(b"- line 2000 ")
    before = {sha for sha, _ in cut(LINES)}
    after = {sha for sha, _ in cut(LINES[:half] + b"- one more\n" + LINES[half:])}

    assert len(before) > 10
    assert len(after - before) <= 2


@pytest.mark.parametrize(
    ("data", "ranges", "wanted"),
    [
        (b"# A\n- one\n- two\n", [(2, 2)], b"# A\n- [forgotten]\n- two\n"),
        (b"- 10:40 Decided\r\n  to go\r\n- b\r\n", [(1, 2)], b"- [forgotten]\r\n  [forgotten]\r\n- b\r\n"),
        (b"- [x] done it", [(1, 1)], b"- [x] [forgotten]"),
        (b"1. first\n2. second", [(2, 2)], b"1. first\n2. [forgotten]"),
        (b"> said so\n", [(1, 1)], b"> [forgotten]\n"),
        (b"| a | b |\n", [(1, 1)], b"| [forgotten] |\n"),
        (b"a\n\nb\n", [(1, 3)], b"[forgotten]\n\n[forgotten]\n"),
    ],
)
def test_forgotten_lines_keep_their_marks_and_numbers(data, ranges, wanted):
    """Only the words go: list marks, quotes, blank lines and line ends stay."""
    assert mask_lines(data, ranges) == wanted
    assert mask_lines(wanted, ranges) == wanted

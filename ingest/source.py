"""From bytes to lines: encodings, line ends, and the lines of our own output."""

import msgspec

from ..managed_block import HASH_LINE, managed_pair
from .encoding import encoding_of


class Source(msgspec.Struct):
    r"""A note as lines: what `\n` separates; a last one adds none.

    `bad_line` counts from 1, 0 = valid UTF-8; `zero_line` is the first with a NUL, 0 = none.
    """

    lines: list[str]
    bad_line: int = 0
    zero_line: int = 0
    utf16: bool = False


def read_source(data: bytes) -> Source:
    r"""Decode a note. Bad bytes become U+FFFD, NUL too; `\r` goes from line ends and is a blank elsewhere."""
    encoding = encoding_of(data)
    bad_line, utf16 = 0, encoding.unit == 2
    if utf16:
        text = data[len(encoding.bom) :].decode(encoding.codec, "replace")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            bad_line = data.count(b"\n", 0, error.start) + 1
            text = data.decode("utf-8-sig", "replace")
    zero = text.find("\0")
    zero_line = text.count("\n", 0, zero) + 1 if zero >= 0 else 0
    text = text.replace("\r\n", "\n").replace("\r", " ").replace("\0", "\ufffd")
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return Source(lines, bad_line, zero_line, utf16)


def own_output(lines: list[str], *, is_page: bool) -> tuple[int, int] | None:
    """First and last line (from 0) of the managed block, or None.

    Anywhere but in a MEMORY page the block's hash line must be there too, so that a copy of our
    output is known for what it is, and a sentence about the marks is not.
    """
    if not any("memoryd:begin" in line for line in lines):
        return None
    page = "\n".join(lines)
    pair = managed_pair(page)
    if pair is None or not (is_page or HASH_LINE.match(page, pair[0].end(1))):
        return None
    begin, end = (page.count("\n", 0, mark.start(1)) for mark in pair)
    return begin, end

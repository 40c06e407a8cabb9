"""From bytes to lines: encodings, line ends, and the lines of our own output."""

import re

import msgspec

from .encoding import encoding_of

_OWN_BEGIN = "<!-- memoryd:begin -->"
_OWN_END = "<!-- memoryd:end -->"
_OWN_HASH = re.compile(r"<!-- memoryd:sha256=[0-9a-f]+ -->\Z")


class Source(msgspec.Struct):
    r"""A note as lines: what `\n` separates; a last one adds none. `bad_line` counts from 1, 0 = valid UTF-8."""

    lines: list[str]
    bad_line: int = 0
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
    text = text.replace("\r\n", "\n").replace("\r", " ").replace("\0", "\ufffd")
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return Source(lines, bad_line, utf16)


def own_output(lines: list[str], *, is_page: bool) -> tuple[int, int] | None:
    """First and last line (from 0) of the managed block, or None.

    Anywhere but in a MEMORY page the block's hash line must be there too, so that a copy of our
    output is known for what it is, and a sentence about the marks is not.
    """
    begin = next((n for n, line in enumerate(lines) if line.strip() == _OWN_BEGIN), None)
    if begin is None:
        return None
    end = next((n for n in range(begin + 1, len(lines)) if lines[n].strip() == _OWN_END), None)
    if end is None or not (is_page or _OWN_HASH.match(lines[begin + 1].strip())):
        return None
    return begin, end

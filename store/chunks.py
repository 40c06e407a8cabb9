"""Note bytes in pieces, cut by content, so that an edit anywhere re-sends one or two of them (docs/data.md, 2)."""

import hashlib
import re
import unicodedata
import zlib

MAX_CHUNK_BYTES = 32 * 1024
_CUT_DIVISOR = 128
_PREFIX = re.compile(rb"\s*(?:(?:[-*+>]|\d{1,9}[.)])\s+|\|\s*)*(?:\[[ xX]\]\s+)?")
_FORGOTTEN = b"[forgotten]"
_FENCE = re.compile(rb"\s*(`{3,}|~{3,})")
_LINK = re.compile(rb"\]\([^)\n]*\)")
_ASIDE = re.compile(r"(?<!\S)#[^\s#]+|\(importance:[^)]*\)", re.IGNORECASE)


def cut(data: bytes) -> list[tuple[str, bytes]]:
    """`(sha256, piece)` in order; together the pieces are `data`.

    A piece ends after a line whose crc32 is divisible by 128, and at 32 KiB at the latest, so equal
    stretches of text give equal pieces wherever they stand.
    """
    pieces: list[bytes] = []
    start = position = 0
    limit = MAX_CHUNK_BYTES
    while position < len(data):
        newline = data.find(b"\n", position, start + limit)
        if newline < 0:
            end = min(start + limit, len(data))
            pieces.append(data[start:end])
            start = position = end
            continue
        line_start, position = position, newline + 1
        if zlib.crc32(data[line_start:position]) % _CUT_DIVISOR == 0 or position - start >= limit:
            pieces.append(data[start:position])
            start = position
    if start < len(data):
        pieces.append(data[start:])
    return [(hashlib.sha256(piece).hexdigest(), piece) for piece in pieces]


def mask_lines(data: bytes, ranges: list[tuple[int, int]]) -> bytes:
    """`data` with the words of each line range (from 1, both ends included) replaced by `[forgotten]`.

    List and quote marks, blank lines and line ends stay, so the other lines keep their numbers and meaning.
    """
    lines = data.split(b"\n")
    for first, last in ranges:
        for number in range(first - 1, min(last, len(lines))):
            lines[number] = _masked_line(lines[number])
    return b"\n".join(lines)


def with_fence(data: bytes, last: int) -> int:
    """The last line of the code fences that follow line `last` (from 1) directly: they belong to the block there."""
    lines = data.split(b"\n")
    at = last
    while at < len(lines):
        start = next((n for n in range(at, len(lines)) if lines[n].strip()), len(lines))
        fence = _FENCE.match(lines[start]) if start < len(lines) else None
        if fence is None:
            break
        closing = re.compile(rb"\s*" + re.escape(fence[1][:1]) + b"{%d,}\\s*$" % len(fence[1]))
        at = next((n + 1 for n in range(start + 1, len(lines)) if closing.match(lines[n])), len(lines))
        last = at
    return last


def lines_saying(data: bytes, text: str) -> list[tuple[int, int]]:
    """The ranges of lines (from 1) whose letters and digits say `text`, whatever markup stands between them."""
    wanted = _letters(text)
    said, numbers = [], []
    for number, line in enumerate(_LINK.sub(rb"]", data).split(b"\n"), 1):
        letters = _letters(_ASIDE.sub("", line.decode("utf-8", "replace")))
        said.append(letters)
        numbers.extend([number] * len(letters))
    whole, found, at = "".join(said), [], 0
    while wanted and (at := whole.find(wanted, at)) >= 0:
        found.append((numbers[at], numbers[at + len(wanted) - 1]))
        at += len(wanted)
    return found


def _letters(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFC", text) if char.isalnum())


def _masked_line(line: bytes) -> bytes:
    ending = b"\r" if line.endswith(b"\r") else b""
    body = line.removesuffix(b"\r")
    if not body.strip():
        return line
    prefix = _PREFIX.match(body)
    kept = prefix.group() if prefix else b""
    closing = b" |" if kept.lstrip().startswith(b"|") else b""
    return kept + _FORGOTTEN + closing + ending

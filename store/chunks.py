"""Note bytes in pieces, cut by content, so that an edit anywhere re-sends one or two of them (DATA section 2)."""

import hashlib
import re
import zlib

MAX_CHUNK_BYTES = 32 * 1024
_CUT_DIVISOR = 128
_PREFIX = re.compile(rb"\s*(?:(?:[-*+>]|\d{1,9}[.)])\s+|\|\s*)*(?:\[[ xX]\]\s+)?")
_FORGOTTEN = b"[forgotten]"


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


def _masked_line(line: bytes) -> bytes:
    ending = b"\r" if line.endswith(b"\r") else b""
    body = line.removesuffix(b"\r")
    if not body.strip():
        return line
    prefix = _PREFIX.match(body)
    kept = prefix.group() if prefix else b""
    closing = b" |" if kept.lstrip().startswith(b"|") else b""
    return kept + _FORGOTTEN + closing + ending

"""Takes secrets out of text before anything else sees it (DATA sections 1 and 2, SPEC promise 6).

A mask is `[masked:<kind>:<first 2 hex of sha256 of the secret>]`. The number of lines never changes,
masks are left alone, and masking twice changes nothing. Which spans are secrets is told by
`mask_rules`; a list of literal needles decides which of its rules have to look at all.
"""

import hashlib
import re
from collections.abc import Iterator

from .mask_rules import ALWAYS, BY_NEEDLE, Rule, Span

MASK = re.compile(r"\[masked:[a-z_]+:[0-9a-f]{2}\]")
_WINDOW = 1 << 18
_ROUNDS = 5
_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_PEM_LINE = re.compile(r"[ \t>]*(?:[*+-][ \t]+)?")
_PEM_BODY = re.compile(
    r"[ \t>]*(?:[*+-][ \t]+)?(?:[A-Za-z0-9+/=]{16,}|[A-Za-z0-9-]+: .*|=?[A-Za-z0-9+/=]{1,15})?[ \t\r]*\Z"
)
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def mask_of(kind: str, secret: str) -> str:
    """The mask that stands for `secret`."""
    digest = hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
    return f"[masked:{kind}:{digest[:2]}]"


def mask_text(text: str) -> tuple[str, int]:
    """`text` with its secrets masked, and how many spans were."""
    total = 0
    for _ in range(_ROUNDS):  # a mask can bare a second secret beside it; two rounds are the rule
        text, count = _mask_once(text)
        total += count
        if not count:
            break
    return text, total


def mask_bytes(data: bytes) -> tuple[bytes, int]:
    """The bytes of a note with its secrets masked, and how many spans were; every other byte stays.

    Works window by window, so memory stays near the size of `data` for a note of any size.
    """
    if (codec := _UTF16.get(data[:2])) is not None:
        return _mask_utf16(data, codec)
    pieces: list[bytes] = []
    total = 0
    for window in _windows(data):
        masked, count = mask_text(window.decode("utf-8", "surrogateescape"))
        pieces.append(masked.encode("utf-8", "surrogateescape") if count else window)
        total += count
    return (b"".join(pieces), total) if total else (data, 0)


def without_masks(text: str) -> str:
    """`text` with its masks taken out: what is left besides secrets."""
    return MASK.sub("", text) if "[masked:" in text else text


def _mask_utf16(data: bytes, codec: str) -> tuple[bytes, int]:
    whole = len(data) - len(data) % 2
    masked, count = mask_text(data[2:whole].decode(codec, "surrogatepass"))
    if not count:
        return data, 0
    return data[:2] + masked.encode(codec, "surrogatepass") + data[whole:], count


def _windows(data: bytes) -> Iterator[bytes]:
    """Pieces of about 256 KiB that end with a line, and never inside a PEM block."""
    if len(data) <= _WINDOW:
        yield data
        return
    start = 0
    while start < len(data):
        end = _line_end(data, start + _WINDOW)
        begun = data.rfind(b"-----BEGIN", start, end)
        if begun >= 0 and data.find(b"-----END", begun, end) < 0:
            closed = data.find(b"-----END", end, end + _WINDOW)
            end = _line_end(data, closed) if closed >= 0 else end
        yield data[start:end]
        start = end


def _line_end(data: bytes, position: int) -> int:
    found = data.find(b"\n", position)
    return len(data) if found < 0 else found + 1


def _mask_once(text: str) -> tuple[str, int]:
    lower = text.lower()
    count = 0
    if "private key" in lower:
        text, count = _mask_pem(text)
    spans: list[Span] = []
    for rule in _rules_for(lower):
        spans.extend(rule(text))
    if not spans:
        return text, count
    text, replaced = _replaced(text, spans)
    return text, count + replaced


def _rules_for(lower: str) -> list[Rule]:
    wanted = list(ALWAYS)
    for needles, rule in BY_NEEDLE:
        for needle in needles:
            if needle in lower:
                wanted.append(rule)
                break
    return wanted


def _replaced(text: str, spans: list[Span]) -> tuple[str, int]:
    """Replace spans from left to right; of overlapping ones the first and longest counts, and masks stay."""
    spans.sort(key=lambda span: (span[0], -span[1]))
    taken = [(match.start(), match.end()) for match in MASK.finditer(text)]
    out: list[str] = []
    at = count = 0
    for start, end, kind in spans:
        if start < at or any(begin < end and start < stop for begin, stop in taken):
            continue
        secret = text[start:end]
        breaks = "\n" * secret.count("\n")
        out += (text[at:start], mask_of(kind, secret), breaks)
        at = end
        count += 1
    out.append(text[at:])
    return "".join(out), count


def _mask_pem(text: str) -> tuple[str, int]:
    """Mask private keys line by line, list and quote marks kept; one without an end goes on while lines look it."""
    if _PEM_BEGIN.search(text) is None:
        return text, 0
    out: list[str] = []
    inside = False
    closes = 0
    count = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        begins = _PEM_BEGIN.search(line)
        if begins is not None and not inside:
            ends = _PEM_END.search(line, begins.end())
            if ends is not None:  # the whole key on one line, as JSON writes it
                out.append(
                    line[: begins.start()]
                    + mask_of("private_key", line[begins.start() : ends.end()])
                    + line[ends.end() :]
                )
                count += 1
                continue
            inside, closes = True, _closing_line(lines, number)
            out.append(line[: begins.start()] + mask_of("private_key", line[begins.start() :].rstrip()) + _tail(line))
            count += 1
            continue
        if inside and (number <= closes or (closes < 0 and _PEM_BODY.match(line))):
            if line.strip():
                out.append(_masked_line(line))
                count += 1
            else:
                out.append(line)
            inside = number != closes
            continue
        inside = False
        out.append(line)
    return "\n".join(out), count


def _closing_line(lines: list[str], begun: int) -> int:
    for number in range(begun + 1, min(len(lines), begun + 400)):
        if _PEM_END.search(lines[number]):
            return number
        if _PEM_BEGIN.search(lines[number]):
            return -1
    return -1


def _masked_line(line: str) -> str:
    lead = _PEM_LINE.match(line)
    start = lead.end() if lead else 0
    if MASK.fullmatch(line[start:].rstrip()):
        return line
    return line[:start] + mask_of("private_key", line[start:].rstrip()) + _tail(line)


def _tail(line: str) -> str:
    return line[len(line.rstrip()) :]

"""Takes secrets out of text before anything else sees it (docs/data.md, 1 and 2, README, promise 6).

A mask is `[masked:<kind>:<first 2 hex of sha256 of the secret>]`. The number of lines never changes,
masks are left alone, and masking twice changes nothing. Which spans are secrets is told by
`mask_rules`; a list of literal needles decides which of its rules have to look at all.
"""

import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache

from .encoding import Encoding, encoding_of
from .mask_logins import BY_LOGIN
from .mask_places import BY_PLACE
from .mask_rules import ALWAYS, BY_NEEDLE, Rule, Span
from .mask_said import BY_SENTENCE

MASK = re.compile(r"\[masked:[a-z_]+:[0-9a-f]{2}\]")
_PARTS = (
    "_",
    "-",
    ".",
    "=",
    "/",
    ":",
    "|",
    "%",
    "<",
    " code",
    "gh",
    "wi",
    "pass",
    "pin",
    "token",
    "secret",
    "key",
    "pw",
)
_HAN_PARTS = (
    "密",
    "口令",
    "账",
    "帐",
    "登",
    "用",
    "恢复",
    "备",
    "钥",
    "令牌",
    "助记词",
    "门",
    "开",
    "解锁",
    "应急",
    "パ",
    "비",
)
"""What many needles share, and what each of those in other scripts has."""
_WINDOW = 1 << 18
_ROUNDS = 5
_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_PEM_LINE = re.compile(r"[ \t>]*(?:[*+-][ \t]+)?")
_PEM_BODY = re.compile(
    r"[ \t>]*+(?:[*+-][ \t]++)?(?:[A-Za-z0-9+/=]{16,}|[A-Za-z0-9-]+: .*|=?[A-Za-z0-9+/=]{1,15})?[ \t\r]*\Z"
)
_CARRIED = 1024
"""So many bytes before a window's end are looked at again with the next one: a key may end one, its value begin it."""
_LONG_LINE = 1 << 16


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
    encoding = encoding_of(data)
    pieces: list[bytes | memoryview] = []
    total = 0
    carried = b""
    start = len(encoding.bom)
    for end in _window_ends(data, start, encoding):
        window = carried + data[start:end]
        masked, count = mask_text(window.decode(encoding.codec, encoding.errors))
        window = masked.encode(encoding.codec, encoding.errors) if count else window
        total += count
        keep = _carry(window, encoding) if len(data) - end >= encoding.unit else len(window)
        pieces.append(memoryview(window)[:keep])
        carried, start = window[keep:], end
    if not total:
        return data, 0
    return b"".join([encoding.bom, *pieces, data[start:]]), total


def without_masks(text: str) -> str:
    """`text` with its masks taken out: what is left besides secrets."""
    return MASK.sub("", text) if "[masked:" in text else text


def _window_ends(data: bytes, start: int, encoding: Encoding) -> Iterator[int]:
    """Where pieces of about 256 KiB end: with a line, and never inside a PEM block that is of reasonable length."""
    last = len(data) - (len(data) - start) % encoding.unit
    while start < last:
        end = min(last, encoding.line_end(data, start + _WINDOW)) if last - start > _WINDOW else last
        begun = data.rfind("-----BEGIN".encode(encoding.codec), start, end) if end < last else -1
        if begun >= 0 and data.find("-----END".encode(encoding.codec), begun, end) < 0:
            line = start + encoding.line_start(data[start:end], begun - start)
            end = line if line > start and end - line < _LONG_LINE else end
        yield end
        start = end


def _carry(window: bytes, encoding: Encoding) -> int:
    """From which byte on a window is looked at again: whole lines, of a very long one its last words."""
    at = encoding.line_start(window, max(0, len(window) - _CARRIED))
    if len(window) - at <= _LONG_LINE:
        return at
    blank = window.find(b" ", len(window) - _CARRIED)
    return blank if blank >= 0 and encoding.unit == 1 else len(window)


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
    """The rules of whose needles one stands in the text; a part that it lacks rules out all needles with that part."""
    parts = _PARTS if lower.isascii() else (*_PARTS, *_HAN_PARTS)
    missing = tuple([part for part in parts if part not in lower])
    if parts is _PARTS:
        missing += _HAN_PARTS
    return [*ALWAYS, *(rule for needles, rule in _needles_without(missing) if any(map(lower.__contains__, needles)))]


@lru_cache(maxsize=1024)
def _needles_without(missing: tuple[str, ...]) -> list[tuple[list[str], Rule]]:
    """The rules with those of their needles that have none of these parts."""
    found: list[tuple[list[str], Rule]] = []
    for needles, rule in (*BY_NEEDLE, *BY_PLACE, *BY_LOGIN, *BY_SENTENCE):
        left = [each for each in needles if not any(part in each for part in missing)]
        if left:
            found.append((left, rule))
    return found


def _replaced(text: str, spans: list[Span]) -> tuple[str, int]:
    """Replace spans from left to right; of overlapping ones the first and longest counts, and masks stay."""
    spans.sort(key=lambda span: (span[0], -span[1]))
    taken = [(match.start(), match.end()) for match in MASK.finditer(text)] if "[masked:" in text else []
    out: list[str] = []
    at = count = mask = 0
    for start, end, kind in spans:
        while mask < len(taken) and taken[mask][1] <= start:
            mask += 1
        if start < at or (mask < len(taken) and taken[mask][0] < end):
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

"""Takes secrets out of text before anything else sees it (docs/data.md, 1 and 2, README, promise 6).

A mask is `[masked:<kind>:<first 2 hex of sha256 of the secret>]`. The number of lines never changes,
masks are left alone, and masking twice changes nothing. Which spans are secrets is told by
the rules of the modules beside this one; literal needles decide which of them have to look at all.
"""

import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache

from .encoding import Encoding, encoding_of
from .mask_forms import ALWAYS, BY_FORM
from .mask_keyed import BY_KEY
from .mask_logins import BY_LOGIN
from .mask_numbers import ALWAYS_NUMBERS, BY_NUMBER
from .mask_pem import BY_BLOCK
from .mask_phrases import BY_PHRASE
from .mask_programs import BY_PROGRAM
from .mask_rules import Rule, Span
from .mask_tables import BY_COLUMN
from .mask_views import unhidden, view_of
from .mask_web import BY_WEB

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
_LOOKED_AT = 120
"""A value of so many characters may be the beginning of a longer one."""
_RUN = re.compile(r"[^\s\"'`,;<>\x7f-\U0010ffff]*")
_ROUNDS = 5
_VIEWS = 2
"""A sign may hide others: `%255C%2522` is a quotation mark of JSON, coded twice."""
_ALWAYS = (*ALWAYS, *ALWAYS_NUMBERS)
BY_NEEDLE: tuple[tuple[tuple[str, ...], Rule], ...] = (
    *BY_FORM, *BY_BLOCK, *BY_WEB, *BY_KEY, *BY_COLUMN, *BY_LOGIN, *BY_NUMBER, *BY_PHRASE, *BY_PROGRAM,
)  # fmt: skip
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
    spans = _found(text, _VIEWS)
    return _replaced(text, spans) if spans else (text, 0)


def _found(text: str, views: int) -> list[Span]:
    """The secrets of a text, and those that show when its hiding signs are taken off, again in what then shows."""
    spans = [span for rule in _rules_for(text.lower()) for span in rule(text)]
    view = view_of(text) if views else None
    if view is not None:
        spans += [(*view.there(start, end), kind) for start, end, kind in _found(view.text, views - 1)]
    return spans


def _rules_for(lower: str) -> list[Rule]:
    """The rules of whose needles one stands in the text; a part that it lacks rules out all needles with that part."""
    parts = _PARTS if lower.isascii() else (*_PARTS, *_HAN_PARTS)
    missing = tuple([part for part in parts if part not in lower])
    if parts is _PARTS:
        missing += _HAN_PARTS
    return [
        *ALWAYS,
        *ALWAYS_NUMBERS,
        *(rule for needles, rule in _needles_without(missing) if any(map(lower.__contains__, needles))),
    ]


@lru_cache(maxsize=1024)
def _needles_without(missing: tuple[str, ...]) -> list[tuple[list[str], Rule]]:
    """The rules with those of their needles that have none of these parts."""
    found: list[tuple[list[str], Rule]] = []
    for needles, rule in BY_NEEDLE:
        left = [each for each in needles if not any(part in each for part in missing)]
        if left:
            found.append((left, rule))
    return found


def _replaced(text: str, spans: list[Span]) -> tuple[str, int]:
    """Replace spans from left to right; of those that overlap all is one secret, and masks stay."""
    masks = [match.span() for match in MASK.finditer(text)] if "[masked:" in text else []
    out: list[str] = []
    at = count = 0
    for start, end, kind in _joined([_whole(text, span) for span in spans], masks):
        secret = text[start:end]
        out += (text[at:start], mask_of(kind, unhidden(secret)), "\n" * secret.count("\n"))
        at = end
        count += 1
    out.append(text[at:])
    return "".join(out), count


def _whole(text: str, span: Span) -> Span:
    """A span to the end of its run: of a long value a rule looks at the beginning only, and all of it is the secret."""
    start, end, kind = span
    if end - start < _LOOKED_AT:
        return span
    run = _RUN.match(text, end)
    return start, run.end() if run else end, kind


def _joined(spans: list[Span], masks: list[tuple[int, int]]) -> Iterator[Span]:
    """Spans in order, overlapping ones as one with the kind of the first and longest, none that touches a mask."""
    spans.sort(key=lambda span: (span[0], -span[1]))
    last: Span | None = None
    mask = 0
    for start, end, kind in spans:
        while mask < len(masks) and masks[mask][1] <= start:
            mask += 1
        if mask < len(masks) and masks[mask][0] < end:
            continue
        if last is not None and start < last[1]:
            last = (last[0], max(last[1], end), last[2])
            continue
        if last is not None:
            yield last
        last = (start, end, kind)
    if last is not None:
        yield last

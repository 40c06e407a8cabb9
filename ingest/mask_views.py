r"""What a text says once the signs that hide its words are taken off: the view in which secrets are looked for again.

Invisible characters, letters of other widths and styles, and signs that JSON, HTML, Markdown and addresses write
in code (`\"`, `\u5bc6`, `&quot;`, `%3D`, `\_`) keep a key or a value from being seen. A view holds the lines that
have such signs, and their neighbours, without them; it tells which characters of the text a span of it stands for.
"""

import html
import re
import unicodedata
from array import array
from bisect import bisect_right

_INVISIBLE = (
    "\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef"
)
"""Characters without a shape of their own, and marks that are written over the character before them."""
_STYLED = (
    "\u00a0\u2000-\u200a\u202f\u205f\u3000\u24b6-\u24e9\ufb00-\ufb06\uff02-\uff07\uff0a\uff0b\uff0d-\uff19\uff1c-\uff1e"
    "\uff20-\uff5d\uff66-\uff9f\U0001d400-\U0001d7ff"
)
"""Letters, digits and signs in another width or style. Not the Chinese `：，；！？（）`: the rules know these."""
_KANA = "\uff66-\uff9f"
"""Of these a letter and its mark are two, and one in the usual width."""
_HEX = "[0-9a-fA-F]"
_PERCENT = r"%(?:25){0,4}"
_CODED = (
    rf"(?<=%)(?:25){{0,4}}(?:[2-7]{_HEX}|0[aAdD]|[eE]{_HEX}(?:{_PERCENT}[89abAB]{_HEX}){{2}})"
    r"|(?<=&)(?:quot|apos|amp|lt|gt|equals|colon|nbsp|#[0-9]{2,4}|#x[0-9a-fA-F]{2,4});"
    rf"|(?<=\\)(?<!\\\\)\\{{0,15}}+(?:u[dD][89abAB]{_HEX}{{2}}\\{{1,16}}u[dD][c-fC-F]{_HEX}{{2}}|u{_HEX}{{4}}|[nrt]"
    r"|(?=[\"'/_*#=:@&$~-]))"
)
_OF_ASCII = re.compile(rf"[%&\\](?:{_CODED})")
_OF_ANY = re.compile(
    rf"[%&\\{_INVISIBLE}{_STYLED}](?:{_CODED}|(?<=[{_INVISIBLE}])[{_INVISIBLE}]*+|(?<=[{_KANA}])[{_KANA}]*+|(?<=[{_STYLED}]))"
)
_HIDDEN = re.compile(f"[{_INVISIBLE}]+")
_BLANKS = {"n": "\n", "r": "\n", "t": "\t"}
_LINES = 2
"""So many lines around a sign are looked at again: a key may stand two lines above its value."""
_GAP = "\n" * 8
"""Between lines that are no neighbours: no rule looks across it."""


class View:
    """Some lines of a text as they read without hiding signs."""

    def __init__(self) -> None:
        self.text = ""
        self._at, self._start, self._end = array("q"), array("q"), array("q")

    def there(self, start: int, end: int) -> tuple[int, int]:
        """Where in the text itself the span of the view stands."""
        return self._original(start)[0], self._original(end - 1)[1]

    def _original(self, at: int) -> tuple[int, int]:
        part = bisect_right(self._at, at) - 1
        start, end = self._start[part], self._end[part]
        behind = start + at - self._at[part]
        return (behind, behind + 1) if end < 0 else (start, end)

    def _enter(self, at: int, start: int, end: int) -> None:
        self._at.append(at)
        self._start.append(start)
        self._end.append(end)


def view_of(text: str) -> View | None:
    """The view of a text, or none if it has no hiding sign."""
    if text.isascii():
        if not ("%" in text or "&" in text or "\\" in text):
            return None
        pattern = _OF_ASCII
    else:
        pattern = _OF_ANY
    view = View()
    pieces = _Pieces(text, view)
    for match in pattern.finditer(text):
        pieces.add(match)
    view.text = pieces.done()
    return view if view.text else None


def unhidden(secret: str) -> str:
    """A secret without invisible characters and in plain letters, so that hidden and plain ones have one mask."""
    return unicodedata.normalize("NFKC", _HIDDEN.sub("", secret)) if not secret.isascii() else secret


class _Pieces:
    """Collects what a view is made of, sign by sign."""

    def __init__(self, text: str, view: View) -> None:
        self._text, self._view = text, view
        self._pieces: list[str] = []
        self._length = 0
        self._taken = 0  # up to here the text is in the view or left out
        self._line_end = -1
        self._until = -1  # where the lines around the last sign end

    def add(self, match: re.Match[str]) -> None:
        start, end = match.span()
        if start > self._line_end:  # the first sign of its line
            first = _lines_before(self._text, start)
            if self._until < 0 or first > self._until:
                self._leave()
                self._taken = first
            self._line_end = _line_end(self._text, start)
            self._until = _lines_behind(self._text, self._line_end)
        self._plain(start)
        self._put(_read(match[0]), start, end)
        self._taken = end

    def done(self) -> str:
        self._leave()
        return "".join(self._pieces)

    def _leave(self) -> None:
        if self._until >= 0:
            self._plain(self._until)
            self._put(_GAP, self._until, self._until)

    def _plain(self, end: int) -> None:
        if end > self._taken:
            self._put(self._text[self._taken : end], self._taken, -1)

    def _put(self, piece: str, start: int, end: int) -> None:
        if piece:
            self._view._enter(self._length, start, end)
            self._pieces.append(piece)
            self._length += len(piece)


def _read(sign: str) -> str:
    """What a hiding sign stands for."""
    if sign[0] == "\\":
        return _unescaped(sign.lstrip("\\"))
    if sign[0] == "&":
        return unhidden(html.unescape(sign))
    if sign[0] == "%" and len(sign) > 1:
        coded = "".join([part[-2:] for part in sign.split("%")[1:]])
        return bytes.fromhex(coded).decode("utf-8", "replace").replace("\r", "\n")
    return unhidden(sign)


def _unescaped(code: str) -> str:
    if len(code) < 2:
        return _BLANKS.get(code, "")
    return "".join(map(chr, _units(code))) if len(code) == 5 else _joined(*_units(code))


def _units(code: str) -> list[int]:
    return [int(each[:4], 16) for each in code.split("u")[1:]]


def _joined(high: int, low: int) -> str:
    return chr(0x10000 + (high - 0xD800 << 10) + low - 0xDC00)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


def _lines_before(text: str, at: int) -> int:
    """Where the line begins that stands `_LINES` above that of a place."""
    for _ in range(_LINES + 1):
        at = text.rfind("\n", 0, at)
        if at < 0:
            return 0
    return at + 1


def _lines_behind(text: str, end: int) -> int:
    for _ in range(_LINES):
        end = _line_end(text, min(end + 1, len(text)))
    return end

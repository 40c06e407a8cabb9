"""What stands around a line of a note, as far as it changes what the line claims."""

import re
from functools import lru_cache

from ..model import COMMAND_PATH
from ..store import Store
from .claims import Place

_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s")
_STRUCK = re.compile(r"(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[[ xX]\]\s+)?~~[^~]+~~[.!。]?(?:\s#\S+)*")
_NOTES_AT_ONCE = 16


class NoteLines:
    """Lines of the notes of one agent, as the store keeps them; for one call of the store thread."""

    def __init__(self, store: Store, agent_id: str) -> None:
        self._store = store
        self._agent = agent_id
        self._lines = lru_cache(maxsize=_NOTES_AT_ONCE)(self._read)
        self.is_below = lru_cache(maxsize=None)(self._is_below)
        """Whether the line may stand below another one that says whose it is; also where the text is not kept."""

    def is_struck(self, place: Place) -> bool:
        """Whether somebody struck the whole line through (`~~…~~`)."""
        if place.path == COMMAND_PATH:
            return False
        lines = self._lines(place.device, place.path)
        return 0 < place.line <= len(lines) and _STRUCK.fullmatch(lines[place.line - 1].strip()) is not None

    def _read(self, device: str, path: str) -> list[str]:
        pieces = self._store.execute(
            "SELECT c.data FROM notes n JOIN json_each(n.chunks) j JOIN chunks c ON c.sha256 = j.value"
            " WHERE n.agent_id = ? AND n.device = ? AND n.path = ? ORDER BY j.key",
            (self._agent, device, path),
        )
        whole = b"".join(data for (data,) in pieces if isinstance(data, bytes))
        return whole.decode(errors="replace").split("\n")

    def _is_below(self, place: Place) -> bool:
        lines = self._lines(place.device, place.path)
        if not 0 < place.line <= len(lines) or not lines[place.line - 1] or lines[place.line - 1][:1].isspace():
            return True
        return bool(_ITEM.match(lines[place.line - 1])) and _is_introduced(lines[: place.line - 1])


def _is_introduced(above: list[str]) -> bool:
    """Whether a list that goes on below these lines has a paragraph above it.

    A line that ends in a colon or is bold is a heading, which is compared as one.
    """
    for line in reversed(above):
        if not line.strip() or line[:1].isspace() or _ITEM.match(line):
            continue
        is_heading = line.startswith(("#", "---", "***", "===", "___", "<!--"))
        return not is_heading and not line.rstrip().endswith((":", "：", "**", "__"))
    return False

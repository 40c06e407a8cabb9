"""The marks in front of a block: check boxes, outliner states, bullets that no parser knows."""

import re

_BOX = re.compile(r"\[(?P<box>[ xX\-/>~])\](?=\s|\Z)\s*")
_STATUS = re.compile(
    r"\[(?P<status>PENDING|OPEN|TODO|IN[ _-]?PROGRESS|BLOCKED|DONE|COMPLETED?|CANCELL?ED|待办|进行中|已完成"
    r"|完成)\]\s*",
    re.IGNORECASE,
)
_WORD = re.compile(
    r"(?P<word>TODO|DOING|LATER|NOW|WAITING|WAIT|IN-PROGRESS|DONE|CANCELL?ED)(?::\s*|\s+)(?=\S)|(?P<han>待办"
    r"|待做|已完成)\s*[:：]\s*"
)
_SIGN = re.compile(r"(?:(?P<open>☐|🔲|⬜)|(?P<done>☑|✔️?|✅(?=\s*~~)))\s*")
_MAY_MARK = frozenset("[TDLNWIC待已☐🔲⬜☑✔✅")
"""With one of these begins whatever one of the marks matches."""
_BULLET = re.compile(r"[•·▪◦‣●○–—]\s+")

_FINISHED = frozenset({"x", "-", "done", "complete", "completed", "canceled", "cancelled", "已完成", "完成"})

PSEUDO_BULLET = re.compile(r"\s*(?:[•▪◦‣●○☐☑🔲⬜✔✅❌⚠🔴🟡🟢]|\d{1,2}[)）、]|[（(]\d{1,2}[)）]|[①-⑳])")
"""A line that begins like this starts a thought of its own inside a paragraph."""
BOLD_KEY = re.compile(r"\s*(?:[^\w\s*]{1,3}\s*)?\*\*[^*\n]{1,60}(?:[:：]\*\*|\*\*\s*[:：])")
BOLD_ONLY = re.compile(r"\s*+(?:[^\w\s*_]{1,3}\s*+)?(?:\*\*[^*\n]+\*\*|__[^_\n]+__)\s*+(?:[:：]\s*+)?\Z")
OWN_PROPERTY = re.compile(r"\s*(?:id|collapsed|background-color|heading|logseq\.[\w.-]+):: ?\S*\s*\Z")
BARE_CALLOUT = re.compile(r"\s*\[!(\w+)\][+-]?\s*\Z")


def split_mark(raw: str) -> tuple[str, str]:
    """The task state ('open', 'done' or '') that a block's marks say, and the block without them."""
    body = raw.lstrip()
    if (bullet := _BULLET.match(body)) is not None:
        body = body[bullet.end() :]
    for pattern in (_BOX, _STATUS, _WORD, _SIGN) if body[:1] in _MAY_MARK else ():
        if (match := pattern.match(body)) is not None:
            return _state(match), body[match.end() :]
    return "", body


def is_bare_box(raw: str) -> bool:
    """Whether the block is a check box without words."""
    return _BOX.fullmatch(raw.strip()) is not None


def _state(match: re.Match[str]) -> str:
    groups = match.groupdict()
    if "open" in groups:
        return "open" if groups["open"] else "done"
    word = str(groups.get("box") or groups.get("status") or groups.get("word") or groups.get("han")).lower()
    return "done" if word in _FINISHED else "open"

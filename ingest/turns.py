"""Session-hook transcripts: cut by turn, their untrusted metadata set aside."""

import re

import msgspec

_HEAD = re.compile(r"#\s+Session\b", re.IGNORECASE)
_SESSION_KEY = re.compile(r"\s*[-*]\s+\*\*Session (?:Key|ID)\*\*\s*:", re.IGNORECASE)
_HEAD_BULLET = re.compile(r"\s*[-*]\s+\*\*(?:Session Key|Session ID|Source|Channel|Model)\*\*\s*:", re.IGNORECASE)
_TURN = re.compile(r"(?P<role>user|assistant|system|System|tool|human|ai)\s*:(?:\s|\Z)", re.IGNORECASE)
_UNTRUSTED = re.compile(r".*\(untrusted metadata\)\s*+(?::\s*+)?\Z", re.IGNORECASE)
_CHANNEL = re.compile(
    r"\[(?=[^\]]{0,300}(?:\bid:|UTC|GMT"
    r"|\d{2}:\d{2}))[^\]]{0,300}?(?:(?P<date>\d{4}-\d{2}-\d{2})\s+)?(?P<clock>\d{2}:\d{2})?[^\]\d]{0,300}\]\s*(?:(?P<name>[^\s:：][^:：\n]{0,40})[:：]\s+)?"
)
_MESSAGE_ID = re.compile(r"\s*\[message_id: [^\]]*\]\s*\Z", re.IGNORECASE)
_CONTROL = re.compile(
    r"\s*(?:/[a-z][\w-]*(?:\s+\S+){0,3}|NO_REPLY|HEARTBEAT_OK|ANNOUNCE_SKIP|REPLY_SKIP|\(no reply\))\s*\Z"
)
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


class Stretch(msgspec.Struct):
    """Lines of one turn (or of what stands before the first): where it begins, who speaks, and its time."""

    start: int
    lines: list[str]
    role: str = ""
    name: str = ""
    clock: str = ""


class Transcript(msgspec.Struct):
    """A note cut by turn; `meta` are the lines (from 0) that are no memory."""

    stretches: list[Stretch]
    meta: set[int]


def is_transcript(lines: list[str]) -> bool:
    """Whether the note was written by a session hook: its title and a session key say so."""
    top = [line for line in lines[:30] if line.strip()]
    return bool(top) and any(_HEAD.match(line) for line in top[:3]) and any(_SESSION_KEY.match(line) for line in top)


def cut_turns(lines: list[str]) -> Transcript:
    """Cut a transcript at lines that begin with a speaker, outside of fences."""
    meta: set[int] = set()
    shown = _without_metadata(lines, meta)
    stretches = [Stretch(0, [])]
    fence = ""
    for number, line in enumerate(shown):
        turn = _TURN.match(line) if not fence else None
        if turn is not None:
            stretches.append(_turn(number, line, turn, meta))
            continue
        fence = _fence_after(line, fence)
        if number not in meta and not fence and stretches[-1].role and _CONTROL.match(line):
            meta.add(number)
        stretches[-1].lines.append("" if number in meta else line)
    return Transcript(stretches, meta)


def _turn(number: int, line: str, turn: re.Match[str], meta: set[int]) -> Stretch:
    role = turn["role"].lower()
    rest = line[turn.end() :]
    found = Stretch(number, [], role)
    if (channel := _CHANNEL.match(rest)) is not None:
        found.name, found.clock = channel["name"] or "", channel["clock"] or ""
        rest = rest[channel.end() :]
    if role == "system" or not rest.strip() or _CONTROL.match(rest) or number in meta:
        meta.add(number)
        rest = ""
    found.lines.append(rest)
    return found


def _without_metadata(lines: list[str], meta: set[int]) -> list[str]:
    """Mark the head's bullets, message ids, and each `… (untrusted metadata):` with the fence behind it."""
    number = 0
    while number < len(lines):
        line = lines[number]
        if (_HEAD_BULLET.match(line) and number < 30) or _MESSAGE_ID.match(line):
            meta.add(number)
        elif _UNTRUSTED.match(line):
            end = _fence_end(lines, number + 1)
            meta.update(range(number, end))
            number = end
            continue
        number += 1
    return lines


def _fence_end(lines: list[str], number: int) -> int:
    """The line behind the fence that begins at `number` (blank lines before it allowed); `number` if there is none."""
    start = number
    while start < len(lines) and not lines[start].strip():
        start += 1
    mark = _FENCE.match(lines[start]) if start < len(lines) else None
    if mark is None:
        return number
    for end in range(start + 1, len(lines)):
        if lines[end].strip().startswith(mark[1]):
            return end + 1
        if _TURN.match(lines[end]):
            return end
    return len(lines)


def _fence_after(line: str, fence: str) -> str:
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    if not fence:
        return mark[1]
    return "" if line.strip().startswith(fence) and not line.strip().strip(fence[0]) else fence

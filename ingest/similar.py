"""Which new fact carries on which old one when a note changed (docs/memory.md, 2: same place, ratio at least 0.6)."""

from collections.abc import Sequence
from difflib import SequenceMatcher

RATIO = 0.6
_LONGEST = 600
"""Characters compared: difflib is quadratic, and the beginning of a thought tells it from others."""
_WIDEST = 40
"""A replaced stretch with more blocks on a side is a rewrite: only the same position is compared."""


def successors(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pairs (new fact id, old fact id): old blocks that were replaced by similar ones at the same place.

    `old` and `new` are (fact id, text) in note order. A fact that still stands in the note, or stood in
    it before, is neither; each fact is used once. The most alike pairs win, in note order among equals.
    """
    old_ids, new_ids = [fact for fact, _ in old], [fact for fact, _ in new]
    stay = set(old_ids) & set(new_ids)
    found: list[tuple[str, str]] = []
    used: set[str] = set()
    for tag, a, b, c, d in SequenceMatcher(None, old_ids, new_ids, autojunk=False).get_opcodes():
        if tag != "replace":
            continue
        before = [each for each in old[a:b] if each[0] not in stay]
        after = [each for each in new[c:d] if each[0] not in stay]
        for _, j, i in sorted(_alike(before, after)):
            new_id, old_id = after[j][0], before[i][0]
            if new_id not in used and old_id not in used:
                used |= {new_id, old_id}
                found.append((new_id, old_id))
    return found


def similarity(one: str, other: str) -> float:
    """How alike two texts are, 0..1: difflib's ratio over characters, ignoring case."""
    matcher = SequenceMatcher(None, one[:_LONGEST].lower(), other[:_LONGEST].lower(), autojunk=False)
    if matcher.real_quick_ratio() < RATIO or matcher.quick_ratio() < RATIO:
        return 0.0
    return matcher.ratio()


def _alike(before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]]) -> list[tuple[float, int, int]]:
    """(−ratio, new index, old index) of the pairs that are alike enough."""
    wide = len(before) > _WIDEST or len(after) > _WIDEST
    pairs: list[tuple[float, int, int]] = []
    for j, (_, text) in enumerate(after):
        for i, (_, former) in enumerate(before):
            if wide and i != j:
                continue
            ratio = similarity(former, text)
            if ratio >= RATIO:
                pairs.append((-ratio, j, i))
    return pairs

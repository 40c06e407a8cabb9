"""Two files whose names look the same: composed and decomposed letters (NFC, NFD). The second is not taken in."""

import unicodedata
from collections.abc import Collection, Iterable

REASON = "its name is another spelling of {first}, in composed or decomposed letters: rename one of them"


def second_names(paths: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """The files that stand beside another of the same name, with the reason.

    First is the one that is known already, else the composed one; ASCII names have one spelling only.
    """
    groups: dict[str, list[str]] = {}
    for path in paths:
        if not path.isascii():
            groups.setdefault(unicodedata.normalize("NFC", path), []).append(path)
    found: dict[str, str] = {}
    for composed, group in groups.items():
        first, *others = sorted(group, key=lambda path: (path not in known, path != composed, path))
        found |= dict.fromkeys(others, REASON.format(first=first))
    return found

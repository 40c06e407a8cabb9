"""The layers of the second seed over one memory: long-term, contextual, archive (docs/original.md).

A layer is derived like a tier: a function of the rows and the day. Nothing moves on disk and nothing is
hidden; a fact that is read or stated again is back at once.
"""

from typing import Literal, TypeAlias

import msgspec

from ..model import FADED_AFTER_DAYS, FADED_READS

Layer: TypeAlias = Literal["long_term", "contextual", "archive"]
LAYERS: tuple[Layer, ...] = ("long_term", "contextual", "archive")

ARCHIVED_AFTER_DAYS = 30
"""A contextual fact that was neither stated nor read for longer is in the archive."""
REPEATS = 3
"""What was stated so often is long-term, and wordings of one thing are consolidated."""
LONG_TERM_KINDS = ("lesson", "preference", "decision")


class Referred(msgspec.Struct, frozen=True):
    """What the layer of a live fact depends on; days since 1970. `stated` counts places, also of merged wordings."""

    kind: str
    tier: str
    on_page: bool
    latest_day: int
    reads: int
    last_read: int
    stated: int


def has_faded(fact: Referred, today: int) -> bool:
    """Stated last over 90 days ago, read on fewer than two days, and not standing in MEMORY.md."""
    standing = fact.on_page or fact.tier == "hot"
    return not standing and today - fact.latest_day > FADED_AFTER_DAYS and fact.reads < FADED_READS


def layer_of(fact: Referred, today: int) -> Layer:
    """The layer of a live fact on that day."""
    if has_faded(fact, today):
        return "archive"
    if fact.on_page or fact.tier == "hot" or fact.kind in LONG_TERM_KINDS or fact.stated >= REPEATS:
        return "long_term"
    return "archive" if today - max(fact.latest_day, fact.last_read) > ARCHIVED_AFTER_DAYS else "contextual"

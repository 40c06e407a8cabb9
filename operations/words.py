"""What a text alone says of a fact: made beside the store, by whoever parses, while the store writes."""

import msgspec

from ..ingest.distil import short_forms
from ..search.index import body_of


class Words(msgspec.Struct, frozen=True, array_like=True):
    """The index's tokens of a text, and its short forms by rules."""

    body: str
    distilled: str
    summary: str


def words_of(text: str) -> Words:
    """The words of one text."""
    return Words(body_of(text), *short_forms(text))

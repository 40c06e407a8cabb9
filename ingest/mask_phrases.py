"""The words of a wallet's seed behind a name for them, on one line or in a list."""

import re
from collections.abc import Iterator

from .cues import lowered, word_set
from .mask_rules import Rule, Span, matches_at

_ITEM = r"(?:[-*][ \t]+|\d{1,2}[.):][ \t]*)?"
_BETWEEN = rf"(?:[ ,\t]{{1,3}}|[ ,\t\r]{{0,3}}\n[ \t>]{{0,12}}){_ITEM}"
_NAME = (
    r"助记词|mnemonics?|(?:seed|recovery|backup|wallet)[ _-]?(?:phrases?|words?)|(?:12|24|twelve|twenty-four)[ -]words?"
)
_HEAD = re.compile(
    rf"(?:{_NAME})[*_`\"']{{0,3}}(?:(?:[ \t]{{0,3}}[(（\[]|[ \t]{{1,3}}(?:for|of|to)[ \t])[^\n:：]{{1,40}}+(?=[:：]))?"
    r"(?:如下|见下)?[*_`\"']{0,3}[ \t]{0,3}(?:[:：=]|is(?![a-z])|是|为)?[*_ \t\r]{0,4}"
    r"(?:\n[ \t>]{0,12}(?:```[\w-]{0,12})?\r?){0,2}"
)
_WORDS = re.compile(
    rf"\n?[ \t>]{{0,12}}[*_`\"'“]{{0,3}}{_ITEM}(?P<words>[a-z]{{3,8}}(?:{_BETWEEN}[a-z]{{3,8}}){{11,23}})(?![a-z])"
)
_NEEDLES = ("助记词", "mnemonic", "seed", "recovery", "backup", "wallet", "12", "24", "twelve", "twenty-four")
_NO_PHRASE = word_set("the and for with from has was are not been our its but were his her than into them")
"""Words of sentences that no list of seed words has."""


def _seeds(text: str) -> Iterator[Span]:
    lower = lowered(text)
    for head in matches_at(_HEAD, _NEEDLES, lower):
        match = _WORDS.match(lower, head.end())
        if match is not None and _NO_PHRASE.isdisjoint(re.findall("[a-z]+", match["words"])):
            yield match.start("words"), match.end("words"), "seed_phrase"


BY_PHRASE: tuple[tuple[tuple[str, ...], Rule], ...] = (
    (("助记词", "mnemonic", "phrase", "seed words", "backup words", "wallet words", "12 word", "24 word", "12-word",
      "24-word", "twelve word", "twenty-four word", "twelve-word"), _seeds),
)  # fmt: skip
"""A rule like those of `mask_rules`: the needles that call for it, in lower case, and the rule."""

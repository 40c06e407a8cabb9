"""Whether one sentence says all that another says, and no more than a few words beyond it.

The rule is narrow on purpose, because what it joins leaves search: the fuller sentence begins with the very words
of the shorter one. Words put in front or between may speak of something else ("the spare key"), and words that
deny, doubt or limit turn a sentence round, so neither counts; nor does anything after a number ("30", "30 million").
"""

import re
import unicodedata
from functools import lru_cache

from ..search.tokens import stems

SHARE = 0.6
"""The shorter wording has at least this share of the fuller one's words, as where a block is reworded."""
FEWEST_WORDS = 3
_WORD = re.compile(
    r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"  # Chinese: each character
    r"|(?:(?:(?<=\s)|^)[-+])?\d+(?:[.,:/]\d+)*"
    r"|[^\W\d_\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+(?:['’][^\W\d_]+)*"
    r"|[^\w\s]"
)
_LIGHT = frozenset(".,;:!()[]{}\"'`*_-–—…。，！；：、“”‘’（）《》「」")
_TURNING = (
    "not no never none neither nor cannot without except excluding unless until till if when whenever only but "
    "although though however instead rather than while before after once formerly previously was were maybe perhaps "
    "possibly probably might may could should would cancelled canceled stopped stop failed wrong false denied rejected "
    "revoked obsolete deprecated says said thinks claims asked according versus vs or"
)
_TURNS = frozenset(_TURNING.split())
_TURNS_HAN = frozenset("不没未无非别勿莫否反若如但除或曾停错废取")


def is_fuller(part: str, whole: str) -> bool:
    """Whether `whole` begins with the words of `part` and adds few that change nothing; equal words count too."""
    if part.rstrip().endswith(("?", "？")) or whole.rstrip().endswith(("?", "？")):
        return False
    short, long = words(part), words(whole)
    if len(short) < FEWEST_WORDS or len(short) < SHARE * len(long) or long[: len(short)] != short:
        return False
    added = long[len(short) :]
    return not (added and short[-1][-1].isdigit()) and not any(map(_turns, added))


def beginning(text: str) -> tuple[str, ...]:
    """The words with which every wording of the same thing begins; empty where a sentence is too short for one."""
    found = words(text)
    return found[:FEWEST_WORDS] if len(found) >= FEWEST_WORDS else ()


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """The words of a sentence as they are compared: stems, numbers and signs, without case and light punctuation."""
    found = [each for each in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()) if each not in _LIGHT]
    plain = [each for each in found if each.isascii() and each.isalpha()]
    stemmed = dict(zip(plain, stems(plain), strict=True))
    return tuple(each if each in _TURNS else stemmed.get(each, each) for each in found)


def _turns(word: str) -> bool:
    return word in _TURNS or word in _TURNS_HAN or word.endswith(("n't", "n’t")) or not word[-1].isalnum()

"""What somebody likes or not, read out of one sentence: `I love X` and `I hate X` cannot both be current.

Only whole sentences of that shape count, in English and Chinese; anything longer says more than a stance.
"""

import re
from typing import NamedTuple

_LIKES = "loves?|likes?|enjoys?|adores?|prefers?"
_DISLIKES = "hates?|dislikes?|detests?|can(?:'|’)?t stand|cannot stand"
_NOT = "do(?:es)?(?: not|n(?:'|’)t)|no longer|never|did(?: not|n(?:'|’)t)"
_ENGLISH = re.compile(
    rf"(?P<who>i|we|he|she|they|(?:the )?(?:user|owner)|[A-Z][\w-]+(?: [A-Z][\w-]+)?)\s+"
    rf"(?:(?:really|also|still|now|actually)\s+)*(?:(?P<not>{_NOT})\s+(?:really\s+)?)?"
    rf"(?:(?P<yes>{_LIKES})|(?P<no>{_DISLIKES}))\s+(?P<what>[^,;.!?]+?)(?P<over>\s+any ?more)?[.!]*",
    re.IGNORECASE,
)
_HAN = re.compile(
    r"(?P<who>我们?|咱们?|他们?|她们?|用户|主人|[\u4e00-\u9fff]{2,3}?)(?:现在|其实|真的|还是|已经|也|很|最|非常|特别)*"
    r"(?P<not>不再|不太|不怎么|不)?(?:(?P<yes>喜欢|喜爱|热爱|偏爱|爱)|(?P<no>讨厌|反感|恨))(?P<what>[^，。！？；]+?)了?[。！]*"
)
_ARTICLE = re.compile(r"(?:the|a|an|to)\s+", re.IGNORECASE)


class Stance(NamedTuple):
    """Who thinks about what; `liked` or not."""

    who: str
    what: str
    liked: bool


def stance(text: str) -> Stance | None:
    """The stance that a sentence is, None if it is none."""
    match = _ENGLISH.fullmatch(text) or _HAN.fullmatch(text)
    if match is None:
        return None
    groups = match.groupdict()
    liked = (groups["yes"] is not None) != (groups["not"] is not None or groups.get("over") is not None)
    what = _ARTICLE.sub("", " ".join(groups["what"].lower().split()), count=1)
    who = groups["who"].lower().removeprefix("the ")
    return Stance(who, what, liked) if what else None

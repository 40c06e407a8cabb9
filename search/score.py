"""How well one fact answers a question, from 0 to 1, in parts that can be shown.

BM25 over fields (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009,
section 3.6) as a share of the most that the question could get. The blocks around a fact count as one more
field. Words standing together, a label that the question names, an opening with what is asked about and a day
that the question names raise the score; a block stands behind as far as it only asks, and a little where a number
is wanted that it lacks; importance and recency bend it a little, and what has faded stands a little behind.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile

import msgspec

from ..model import FADED_AFTER_DAYS, FADED_READS
from .candidates import COLUMNS
from .neighbours import WEIGHTS
from .question import Question, has_number
from .tokens import HAN, index_tokens

K1 = 0.6
B = 0.03
TYPICAL_TOKENS = 20
PHRASE = 0.25
NEAR = 0.05
DAY = 0.25
PRIOR = 0.05
FADED = 0.02
"""How far a block stands behind that has faded: a touch behind its equals, never hidden by it."""
LABEL = 0.06
"""What it adds that a block begins with a label which the question names whole: `Ada: …` where Ada is asked about."""
OPENS = 0.07
"""What it adds that a block opens with what is asked about."""
ASKS = 0.3
"""How far a block that holds nothing but questions stands behind; a mixed one by the share of its characters."""
NUMBER = 0.25
"""How far a block without a number stands behind where the question wants one."""
HEADING_WITH_WORDS = 1.1
"""What a heading counts more where the fact's own words answer at least half of the question."""
CONTEXT_ALONE = 0.8
"""What the blocks around count where the fact itself answers nothing, beside where it answers half or more."""
NEAR_TOKENS = 3

_HEADINGS, *_SIDES = list(COLUMNS.values())[1:-1]
# Who speaks, or what a block is about: up to three words or a few Chinese characters before a colon.
_LABEL = re.compile(rf"\s*(?:\w[\w.'’-]*(?: [\w.'’-]+){{0,2}}|[{HAN}]{{1,8}})\s*(?::(?=\s)|：)")
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_CLOSERS = " \t\n)]}\"'”’」』》*_~"


class Block(msgspec.Struct):
    """One fact as it is judged. The fields hold tokens, separated by blanks."""

    n: int
    agent_id: str
    fact_id: str
    text: str
    """The fact's words, or their beginning and end."""
    importance: float
    reads: int
    """Days on which it was read."""
    stands: int
    """1 while it stands in MEMORY.md, by a line or in hot state: there nothing fades."""
    first_day: int
    latest_day: int
    body: str
    headings: str
    category: str
    extra: str

    @property
    def asks(self) -> bool:
        """Whether it ends with a question, so that the next block may answer it."""
        return _is_question(self.text)

    @property
    def asking(self) -> float:
        """How much of it is questions, 0 to 1 by characters."""
        if "?" not in self.text and "？" not in self.text:
            return 0.0
        sentences = [sentence.strip() for sentence in _SENTENCE.findall(_unlabelled(self.text))]
        asked = sum(len(sentence) for sentence in sentences if _is_question(sentence))
        return asked / max(1, sum(map(len, sentences)))

    def is_of(self, question: Question) -> float:
        """1 if the question names a day of it, less in a long span or soon after; half for one that it writes out."""
        written = 0.5 * bool(question.written_days and not question.written_days.isdisjoint(self.extra.split()))
        return max([written, *(question.tells(day) for day in {self.first_day, self.latest_day})])


class Seen(msgspec.Struct, frozen=True):
    """A block at first sight: the terms in its own words, in its fields, and around it with their worth there."""

    block: Block
    own: list[str]
    fields: list[str]
    outside: dict[str, float]

    def promise(self, question: Question) -> float:
        """Roughly its relevance, from what is known already."""
        here = {*self.own, *self.fields}
        around = sum([question.worth[term] * weight for term, weight in self.outside.items() if term not in here])
        return question.share(here) + 0.7 * around / question.most + DAY * self.block.is_of(question)


class Judged(msgspec.Struct, frozen=True):
    """One fact and its score. `own` and `matched` are the terms found in it, and in it or around it."""

    block: Block
    relevance: float
    own: list[str]
    matched: list[str]
    parts: dict[str, float]


class Glance:
    """Looks at blocks for a question's terms, at each text once however often it is asked for."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._own: dict[int, list[str]] = {}
        self._fields: dict[str, list[str]] = {}

    def seen(self, blocks: Mapping[int, Block], around: Callable[[int], Iterable[tuple[int, int]]]) -> list[Seen]:
        """All blocks that hold or are near a term or lie on a named day.

        `around` gives distance and number of the blocks around one.
        """
        question, own = self._question, self._own
        own |= {n: question.terms_in(block.body.split()) for n, block in blocks.items() if n not in own}
        found = []
        for n, block in blocks.items():
            fields = self._in_fields(block)
            outside: dict[str, float] = {}
            for distance, other in () if question.alone else around(n):
                if other != n and own.get(other):
                    # What follows a question answers it.
                    weight = WEIGHTS[distance] * (2 if distance == -1 and blocks[other].asks else 1)
                    for term in own[other]:
                        outside[term] = outside.get(term, 0.0) + weight
            if own[n] or fields or outside or block.is_of(question):
                found.append(Seen(block, own[n], fields, outside))
        return found

    def _in_fields(self, block: Block) -> list[str]:
        # Headings and categories repeat from block to block.
        side = block.headings if self._question.alone else f"{block.headings} {block.category} {block.extra}"
        if side not in self._fields:
            self._fields[side] = self._question.terms_in(side.split())
        return self._fields[side]


def judge(question: Question, at: Seen) -> Judged:
    """Score one fact."""
    block, outside = at.block, at.outside
    tokens = block.body.split()
    places = _places(question, tokens) if at.own else {}
    own = _own(question, at, places)
    slack = K1 * (1 - B + B * len(tokens) / TYPICAL_TOKENS)
    weight = CONTEXT_ALONE + (1 - CONTEXT_ALONE) * min(1.0, 2 * question.share(own))
    counts = own | {term: own.get(term, 0.0) + weight * outside[term] for term in outside}
    words, with_context = _bm25(question, own, slack), _bm25(question, counts, slack)
    parts = {
        "words": words,
        "context": with_context - words,
        "phrase": PHRASE * (_stands_alone(question.alone, tokens) if question.alone else _phrase(question, block.body)),
        "near": NEAR * _near(question, places),
        "opens": OPENS * _opens(question, tokens),
        "label": LABEL * _is_labelled(question, block.text),
        "asks": 1 - ASKS * block.asking,
        "number": 1 - NUMBER * (question.wants_number and not has_number(_unlabelled(block.text))),
        "day": DAY * block.is_of(question),
        "faded": 1 - FADED * has_faded(block, question.today),
        "prior": 1 - PRIOR + PRIOR * _prior(block.importance, question.today - block.latest_day),
    }
    matched = [term for term in question.worth if term in counts]
    return Judged(block, _sum(parts), [term for term in question.worth if term in own], matched, parts)


def has_faded(block: Block, today: int) -> bool:
    """Whether nobody has stated it for long and hardly anybody read it; what stands in MEMORY.md does not fade."""
    return not block.stands and today - block.latest_day > FADED_AFTER_DAYS and block.reads < FADED_READS


def _sum(parts: Mapping[str, float]) -> float:
    added = parts["words"] + parts["context"] + parts["phrase"] + parts["near"] + parts["label"] + parts["opens"]
    said = added / (1 + PHRASE + NEAR + LABEL + OPENS) * parts["asks"] * parts["number"]
    return min(1.0, (said * (1 - DAY) + parts["day"]) * parts["faded"] * parts["prior"])


def _own(question: Question, at: Seen, places: Mapping[str, list[int]]) -> dict[str, float]:
    """How often each term stands in the fact, its fields weighed."""
    block = at.block
    counts = {term: float(len(positions)) for term, positions in places.items()}
    if at.fields:
        weights = (_HEADINGS + HEADING_WITH_WORDS * min(1.0, 2 * question.share(places)), *_SIDES)
        for weight, field in zip(weights, (block.headings, block.category, block.extra), strict=True):
            # Once a field: a heading that repeats a word does not say it twice.
            for term in question.terms_in(field.split()) if field else ():
                counts[term] = counts.get(term, 0.0) + weight
    return counts


def _places(question: Question, tokens: list[str]) -> dict[str, list[int]]:
    """Where each of the question's terms stands."""
    if question.prefixes:
        tokens = [question.begun(token) for token in tokens]
    places: dict[str, list[int]] = {}
    for position, token in enumerate(tokens):
        if token in question.worth:
            places.setdefault(token, []).append(position)
    return places


def _bm25(question: Question, counts: Mapping[str, float], slack: float) -> float:
    return sum([question.worth[term] * count / (count + slack) for term, count in counts.items()]) / question.most


def _phrase(question: Question, body: str) -> float:
    sequence = question.sequence
    return float(len(sequence) > 1 and f" {' '.join(sequence)} " in f" {body} ")


def _stands_alone(character: str, tokens: Sequence[str]) -> float:
    """1 where the character is a word for certain, with no other beside it; half where one side of it is free.

    Each character stands between the pairs that it is part of, so the pairs beside it tell its neighbours.
    """
    free = [
        (not (place and len(tokens[place - 1]) == 2 and tokens[place - 1].endswith(character)))
        + (not (place + 1 < len(tokens) and len(tokens[place + 1]) == 2 and tokens[place + 1].startswith(character)))
        for place, token in enumerate(tokens)
        if token == character
    ]
    return max(free, default=0) / 2


def _near(question: Question, places: Mapping[str, list[int]]) -> float:
    """The share of neighbouring terms of the question that stand close together, in order, here too."""
    if len(places) < 2:
        return 0.0
    pairs = list(pairwise(question.worth))
    close = sum(
        any(0 < after - here <= NEAR_TOKENS for here in places[left] for after in places[right])
        for left, right in pairs
        if left in places and right in places
    )
    return close / len(pairs)


def _opens(question: Question, tokens: Sequence[str]) -> float:
    """How much of the question a block begins with, 0 to 1: it is about that, and often says first what it is."""
    return question.share(dict.fromkeys(takewhile(question.worth.__contains__, tokens)))


def _is_labelled(question: Question, text: str) -> bool:
    """Whether the question names all of the block's label."""
    label = _label_of(text)
    return label is not None and question.worth.keys() >= set(_label_tokens(label.group()))


@lru_cache(maxsize=256)
def _label_tokens(label: str) -> list[str]:
    return index_tokens(label)


def _is_question(text: str) -> bool:
    return text.rstrip(_CLOSERS).endswith(("?", "？"))


def _label_of(text: str) -> re.Match[str] | None:
    # Most texts have no colon, and the pattern tries many ways before it gives up.
    return _LABEL.match(text) if ":" in text or "：" in text else None


def _unlabelled(text: str) -> str:
    label = _label_of(text)
    return text[label.end() :] if label is not None else text


def _prior(importance: float, age_days: int) -> float:
    """0..1, half from importance, half from recency that falls by half in a year and never to nothing."""
    return 0.5 * importance + 0.5 / (1 + max(age_days, 0) / 365)

"""What the language process compares with a question: each of the best hits as a whole, with what leads up to it.

The ranking looks for the words that tell something, each by itself. The cosine of TF-IDF vectors takes texts as
wholes, small words included: how something is said, and to whom, tells two facts of the same words apart. An answer
often does not repeat its question, so what stands before a fact belongs to its text as much as its own words do.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from .candidates import COLUMNS
from .question import Question
from .score import Block

POOL = 20
"""So many of the best hits are compared."""
SHARE = 0.3
"""How far the hit stands behind that has nothing in common with the question, beside the closest one."""
AROUND = {-3: 0.2, -2: 0.5, -1: 1.0, 1: 0.2}
"""What the block at this distance counts beside the fact's own words; its fields count as in the index."""
TOKENS = 200
"""Of each text so many tokens from its beginning."""


class Documents(msgspec.Struct, frozen=True):
    """Texts as tokens between blanks, each once; documents as weighted sums of them, by number; and the question."""

    texts: list[str]
    documents: list[list[tuple[int, float]]]
    question: str


def documents_of(
    question: Question,
    hits: Sequence[Block],
    blocks: Mapping[int, Block],
    around: Mapping[int, Iterable[tuple[int, int]]],
) -> Documents:
    """The hits as they are compared; `around` has distance and number of the blocks that stand around each.

    Nothing is compared where only one hit is, or only one word is asked for, which all hits hold alike.
    """
    if len(hits) < 2 or len(question.sequence) < 2:
        return Documents([], [], "")
    numbers: dict[str, int] = {}

    def number(text: str) -> int:
        return numbers.setdefault(_beginning(text), len(numbers))

    def parts(block: Block) -> Iterator[tuple[int, float]]:
        fields = (block.body, block.headings, block.category, block.extra)
        for field, weight in zip(fields, COLUMNS.values(), strict=False):
            if field:
                yield number(field), weight
        for distance, other in around[block.n]:
            if distance in AROUND and other in blocks and other != block.n:
                yield number(blocks[other].body), AROUND[distance]

    documents = [list(parts(block)) for block in hits]
    # Words that may stand for what was asked are asked for, too.
    asked = [*question.sequence, *(term for term in question.worth if term not in question.sequence)]
    return Documents(list(numbers), documents, " ".join(asked))


def _beginning(text: str) -> str:
    return text if text.count(" ") < TOKENS else " ".join(text.split(" ", TOKENS)[:TOKENS])


def factors(cosines: Sequence[float], hits: int) -> list[float]:
    """What the relevance of each hit is worth, 1 for the closest; what was not compared is as the least close."""
    best = max(cosines, default=0.0)
    compared = [1 - SHARE + SHARE * cosine / best if best else 1.0 for cosine in cosines]
    return compared + [min(compared, default=1.0)] * (hits - len(compared))

"""Finds facts for a question: few candidates from the index and the blocks around them, ranked with all it says."""

from collections.abc import Sequence
from datetime import date, timedelta
from heapq import nlargest
from typing import Any

import msgspec

from ..store import Store
from .candidates import candidates, end_days, of_days, scope_of, weigh
from .cosine import POOL, Documents, documents_of, factors
from .dates import named_days, named_ends, written_days
from .descriptions import Node, nodes_about, of_nodes, spoken, widened
from .neighbours import Surroundings, surroundings
from .question import Question, question_of
from .score import Block, Glance, Judged, judge
from .tokens import QueryTokens, Term, folded, query_tokens, with_words
from .typos import corrected

CUT = 0.3
"""A hit so far below the best, as a share of its score, is noise and left out."""
CUT_ALONE = 0.5
"""The same for a hit that no own word, no heading and no day speaks for, only the blocks around it."""
FULL = 0.8
"""Where the best hit answers this share of the question in its own words, nothing else has to answer for its block."""
LOOKED_AROUND = 15
"""Of so many candidates, those that look best by themselves, the blocks around them are looked at."""
ALIAS = 0.7
"""What an alias is worth beside the words that were asked."""
DAY_IN_WORDS = 0.5
"""What a day that a fact writes out, in whatever spelling, is worth beside an asked word when candidates are chosen."""
JUDGED = 30
"""How many more than asked for are judged in full, of those that look best at first sight."""
_FETCHED_AT_ONCE = 200
_TEXT = 600
"""Characters of a long fact that are looked at from its beginning; and its last ones."""


class Found(msgspec.Struct, frozen=True):
    """One hit. `relevance` 0..1; `matched` and `unmatched` are the question's terms; `parts` how it came about."""

    n: int
    agent_id: str
    fact_id: str
    relevance: float
    matched: list[str]
    unmatched: list[str]
    method: str
    """`keyword`, or `keyword-tree` where only its category speaks for it."""
    parts: dict[str, float]


class Ranked(msgspec.Struct, frozen=True):
    """Hits in the index's order, some more than asked for, and what the language process can order them by."""

    hits: list[Found]
    documents: Documents

    def best(self, limit: int, cosines: Sequence[float] | None = None) -> list[Found]:
        """The best `limit` hits, best first; with the cosines of the documents each part `cosine` tells what it did."""
        if not cosines:
            return self.hits[:limit]
        hits = [_by(hit, factor) for hit, factor in zip(self.hits, factors(cosines, len(self.hits)), strict=True)]
        hits.sort(key=lambda hit: (hit.relevance, hit.n), reverse=True)
        return hits[:limit]


def _by(hit: Found, factor: float) -> Found:
    return msgspec.structs.replace(hit, relevance=hit.relevance * factor, parts=hit.parts | {"cosine": factor})


def find(
    store: Store,
    query: str,
    *,
    agents: Sequence[str] | None,
    limit: int,
    today: int,
    words: Sequence[str] | None = None,
    aliases: Sequence[str] = (),
) -> list[Found]:
    """The live facts that answer `query` best, best first, at most `limit`, as the index alone orders them."""
    ranked = rank(store, query, agents=agents, limit=limit, today=today, words=words, aliases=aliases)
    return ranked.best(limit)


def rank(
    store: Store,
    query: str,
    *,
    agents: Sequence[str] | None,
    limit: int,
    today: int,
    words: Sequence[str] | None = None,
    aliases: Sequence[str] = (),
) -> Ranked:
    """The live facts that may be among the `limit` that answer `query` best.

    `agents` None searches everybody's memory. `today` in days since 1970. `words` is the question cut into words
    by the language process, if it was there; `aliases` are words that may stand for some of the question's.
    Any text is a legal query; one without letters, digits and dates finds nothing.
    """
    asked = query_tokens(query)
    if words is not None:
        asked = with_words(asked, words)
    scope = scope_of(store, agents, limit)
    counted = weigh(store, scope, asked.terms)
    others = weigh(store, scope, _alias_terms(asked, aliases))
    nodes = nodes_about(store, scope, [*counted, *others])
    said = spoken([*counted, *others], nodes)
    known = {each.term.text for each in said}
    terms = corrected(store, scope, [each for each in counted if each.term.text not in known]) + others
    named = named_days(query, date(1970, 1, 1) + timedelta(today))
    days = written_days(named)
    named += end_days(store, scope, named_ends(folded(query)), today)
    question = question_of(asked, [*terms, *said], scope.size, named, days, today)
    terms += weigh(store, scope, [Term(token, DAY_IN_WORDS) for token in days])
    numbers = dict.fromkeys(candidates(store, scope, terms))
    if question.days:
        numbers |= dict.fromkeys(of_days(store, scope, question.days))
    numbers |= dict.fromkeys(of_nodes(store, scope, nodes))
    judged, blocks, around = _judged(store, question, list(numbers), nodes, limit)
    hits = _without_noise(question, judged)[: max(limit, POOL)]
    compared = {each.block.n: list(around.around(each.block.n)) for each in hits[:POOL]}
    documents = documents_of(question, [each.block for each in hits[:POOL]], blocks, compared)
    return Ranked([_found(question, each) for each in hits], documents)


def _alias_terms(asked: QueryTokens, aliases: Sequence[str]) -> list[Term]:
    known = {term.text for term in asked.terms}
    terms = {term.text: term for alias in aliases for term in query_tokens(alias).terms if term.text not in known}
    return [Term(term.text, term.weight * ALIAS, term.prefix) for term in terms.values()]


def _judged(
    store: Store, question: Question, numbers: Sequence[int], nodes: Sequence[Node], limit: int
) -> tuple[list[Judged], dict[int, Block], Surroundings]:
    """The most promising of the candidates and of the blocks around them, best first; and all that was looked at."""
    blocks, glance = _blocks(store, numbers, nodes), Glance(question)
    alone = nlargest(LOOKED_AROUND, glance.seen(blocks, lambda _: ()), key=lambda each: each.promise(question))
    around = surroundings(store, [(each.block.n, each.block.agent_id, each.block.fact_id) for each in alone])
    blocks |= _blocks(store, [n for n in around.numbers() if n not in blocks], nodes)
    promising = glance.seen(blocks, around.around)
    if len(promising) > limit + JUDGED:
        promising = nlargest(limit + JUDGED, promising, key=lambda each: each.promise(question))
    judged = [judge(question, each) for each in promising]
    judged.sort(key=lambda each: (each.relevance, each.block.n), reverse=True)
    return judged, blocks, around


def _without_noise(question: Question, judged: list[Judged]) -> list[Judged]:
    if not judged:
        return []
    best = judged[0]
    told = sum(question.worth[term] for term in best.own) >= FULL * question.most
    alone = best.relevance if told else CUT_ALONE * best.relevance
    return [
        each for each in judged if each.relevance >= (CUT * best.relevance if each.own or each.parts["day"] else alone)
    ]


def _blocks(store: Store, numbers: Sequence[int], nodes: Sequence[Node]) -> dict[int, Block]:
    found: dict[int, Block] = {}
    for start in range(0, len(numbers), _FETCHED_AT_ONCE):
        # Our own small integers; as text because the library counts parameters one by one.
        listed = ", ".join(map(str, numbers[start : start + _FETCHED_AT_ONCE]))
        rows: list[tuple[Any, ...]] = store.execute(
            "SELECT d.n, d.agent_id, d.fact_id, CASE WHEN length(f.text) > 640 THEN"
            f" substr(f.text, 1, {_TEXT}) || substr(f.text, -40) ELSE f.text END,"
            " d.importance, d.access_days, d.on_page OR d.tier = 'hot', d.created_at / 86400000, d.latest_day,"
            " s.body, s.headings, s.category, s.extra, d.category"
            " FROM derived AS d CROSS JOIN search_index AS s ON s.rowid = d.n CROSS JOIN facts AS f ON f.n = d.n"
            f" WHERE d.n IN ({listed})"
        )
        for *row, category in rows:
            block = found[row[0]] = Block(*row)
            if nodes:
                block.category = widened(nodes, block.agent_id, category, block.category)
    return found


def _found(question: Question, judged: Judged) -> Found:
    block = judged.block
    matched = judged.matched
    unmatched = [term for term in question.worth if term not in matched]
    return Found(
        block.n,
        block.agent_id,
        block.fact_id,
        judged.relevance,
        matched,
        unmatched,
        _method(question, block),
        judged.parts,
    )


def _method(question: Question, block: Block) -> str:
    by_words = question.terms_in([*block.body.split(), *block.headings.split(), *block.extra.split()])
    return "keyword-tree" if not by_words and question.terms_in(block.category.split()) else "keyword"

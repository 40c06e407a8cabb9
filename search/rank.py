"""Finds facts for a question: few candidates from the index, ranked anew with everything the question says.

The score is BM25 over fields (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
Beyond", 2009, section 3.6) as a share of the most that the question could get, raised by words standing
together and by a day that the question names, and bent a little by importance and recency.
"""

import math
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import pairwise

import msgspec

from ..store import ResultRow, Store
from .candidates import COLUMNS, Weighed, candidates, of_days, scope_of, weigh
from .dates import DayRange, named_days
from .tokens import index_tokens, query_tokens

_K1 = 0.6
_B = 0.1
_TYPICAL_TOKENS = 20
_PHRASE = 0.25
_NEAR = 0.1
_DAY = 0.25
_PRIOR = 0.05
_NEAR_TOKENS = 3
_PHRASE_TOKENS = 12
_FETCHED_AT_ONCE = 200
_FIELD_WEIGHTS = tuple(COLUMNS.values())[1:]


class Found(msgspec.Struct, frozen=True):
    """One hit. `relevance` 0..1; `matched` and `unmatched` are the question's terms; `parts` how it came about."""

    n: int
    agent_id: str
    fact_id: str
    relevance: float
    matched: list[str]
    unmatched: list[str]
    method: str
    parts: dict[str, float]


class Question(msgspec.Struct, frozen=True):
    """What the ranking knows of one question: its terms, their worth, its tokens in order, the days it names."""

    worth: dict[str, float]
    prefixes: tuple[str, ...]
    sequence: list[str]
    days: list[DayRange]
    today: int
    most: float
    """The sum of all terms' worth."""


class Judged(msgspec.Struct, frozen=True):
    """One candidate, its score, and the parts of it."""

    relevance: float
    row: ResultRow
    frequency: dict[str, float]
    parts: tuple[float, ...]


def find(store: Store, query: str, *, agents: Sequence[str] | None, limit: int, today: int) -> list[Found]:
    """The live facts that answer `query` best, best first, at most `limit`.

    `agents` None searches everybody's memory. `today` in days since 1970. Any text is a legal query;
    one without letters, digits and dates finds nothing.
    """
    asked = query_tokens(query)
    scope = scope_of(store, agents, limit)
    terms = weigh(store, scope, asked.terms)
    days = named_days(asked.phrase, date(1970, 1, 1) + timedelta(today))
    worth = {each.term.text: _worth(each, scope.size) for each in terms}
    question = Question(
        worth,
        tuple(each.text for each in asked.terms if each.prefix),
        index_tokens(asked.phrase)[:_PHRASE_TOKENS],
        days,
        today,
        sum(worth.values()) or 1.0,
    )
    numbers = dict.fromkeys(candidates(store, scope, terms))
    numbers |= dict.fromkeys(of_days(store, scope, days) if days else ())
    judged = [_judge(question, row) for row in _rows(store, list(numbers))]
    judged.sort(key=lambda each: (each.relevance, each.row[0]), reverse=True)
    return [_found(question, each) for each in judged[:limit]]


def _worth(each: Weighed, size: int) -> float:
    """Inverse document frequency, weighed by how much of the asked word the term stands for."""
    return each.term.weight * math.log1p((max(size, each.count) - each.count + 0.5) / (each.count + 0.5))


def _rows(store: Store, numbers: Sequence[int]) -> list[ResultRow]:
    found: list[ResultRow] = []
    for start in range(0, len(numbers), _FETCHED_AT_ONCE):
        some = numbers[start : start + _FETCHED_AT_ONCE]
        # Our own small integers; as text because the library counts parameters one by one.
        listed = ", ".join(map(str, some))
        found += store.execute(
            "SELECT d.n, d.agent_id, d.fact_id, d.importance, d.created_at / 86400000, d.latest_day, "
            f"s.{', s.'.join(COLUMNS)} "
            f"FROM derived AS d CROSS JOIN search_index AS s ON s.rowid = d.n WHERE d.n IN ({listed})"
        )
    return found


def _judge(question: Question, row: ResultRow) -> Judged:
    _, _, _, importance, first_day, latest_day, body, *fields = row
    tokens = str(body).split()
    places = _places(question, tokens)
    frequency = {term: float(len(positions)) for term, positions in places.items()}
    for weight, field in zip(_FIELD_WEIGHTS, fields, strict=True):
        # Once a field: a heading that repeats a word does not say it twice.
        for term in _terms_in(question, str(field).split()) if field else ():
            frequency[term] = frequency.get(term, 0.0) + weight
    words = _words_score(question, frequency, len(tokens))
    phrase = _PHRASE * _phrase_score(question, str(body))
    near = _NEAR * _near_score(question, places)
    day = _DAY * _day_score(question, _whole(first_day), _whole(latest_day)) if question.days else 0.0
    prior = 1.0 - _PRIOR + _PRIOR * _prior(float(importance or 0), question.today - _whole(latest_day))
    relevance = ((words + phrase + near) / (1 + _PHRASE + _NEAR) * (1 - _DAY) + day) * prior
    return Judged(min(1.0, relevance), row, frequency, (words, phrase, near, day, prior))


def _found(question: Question, judged: Judged) -> Found:
    n, agent_id, fact_id = judged.row[:3]
    return Found(
        _whole(n),
        str(agent_id),
        str(fact_id),
        judged.relevance,
        [term for term in question.worth if term in judged.frequency],
        [term for term in question.worth if term not in judged.frequency],
        "fts",
        dict(zip(("words", "phrase", "near", "day", "prior"), judged.parts, strict=True)),
    )


def _places(question: Question, tokens: list[str]) -> dict[str, list[int]]:
    """Where each of the question's terms stands."""
    if question.prefixes:
        tokens = [_begun(question, token) for token in tokens]
    return {
        term: [position for position, token in enumerate(tokens) if token == term]
        for term in _terms_in(question, tokens)
    }


def _terms_in(question: Question, tokens: list[str]) -> list[str]:
    """The question's terms that stand there, in the question's order: sums of the same numbers stay the same."""
    present = {_begun(question, token) for token in tokens} if question.prefixes else set(tokens)
    return [term for term in question.worth if term in present]


def _begun(question: Question, token: str) -> str:
    return next((prefix for prefix in question.prefixes if token.startswith(prefix)), token)


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _words_score(question: Question, frequency: dict[str, float], length: int) -> float:
    slack = _K1 * (1 - _B + _B * length / _TYPICAL_TOKENS)
    return sum(question.worth[term] * count / (count + slack) for term, count in frequency.items()) / question.most


def _phrase_score(question: Question, body: str) -> float:
    sequence = question.sequence
    return float(len(sequence) > 1 and f" {' '.join(sequence)} " in f" {body} ")


def _near_score(question: Question, places: dict[str, list[int]]) -> float:
    """The share of neighbouring terms of the question that stand close together, in order, here too."""
    if len(places) < 2:
        return 0.0
    terms = list(question.worth)
    pairs = list(pairwise(terms))
    close = sum(
        any(0 < after - here <= _NEAR_TOKENS for here in places.get(left, ()) for after in places.get(right, ()))
        for left, right in pairs
    )
    return close / len(pairs) if pairs else 0.0


def _day_score(question: Question, first_day: int, latest_day: int) -> float:
    return float(any(first <= day <= last for first, last in question.days for day in (first_day, latest_day)))


def _prior(importance: float, age_days: int) -> float:
    """0..1, half from importance, half from recency that falls by half in a year and never to nothing."""
    return 0.5 * importance + 0.5 / (1 + max(age_days, 0) / 365)

"""Ordering the best hits by the cosine of TF-IDF vectors: what is compared, and what the cosines do."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
from memoryd.search.cosine import AROUND, POOL, SHARE, TOKENS, factors
from memoryd.search.language_worker import load_cosines
from memoryd.search.rank import Found, Ranked, rank

TODAY = 20_500  # the fixture's

cosines = load_cosines()


def ranked(memory: Any, query: str, limit: int = 5, aliases: Sequence[str] = ()) -> Ranked:
    return rank(memory.store, query, agents=["default"], limit=limit, today=TODAY, aliases=aliases)


def ordered(memory: Any, query: str, limit: int = 5) -> list[Found]:
    found = ranked(memory, query, limit)
    return found.best(limit, cosines(*_request(found)))


def _request(found: Ranked) -> tuple[list[str], list[list[tuple[int, float]]], str]:
    return found.documents.texts, found.documents.documents, found.documents.question


def vector(memory: Any, query: str, n: int) -> dict[str, float]:
    """What a hit's document holds: text to weight."""
    found = ranked(memory, query)
    document = found.documents.documents[[hit.n for hit in found.hits].index(n)]
    return {found.documents.texts[text]: weight for text, weight in document}


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("did they move the server to Oslo", "They did move the server to Oslo", "Move the server: Oslo, or elsewhere"),
        ("who of us has the server moved", "The server has been moved by one of us", "Moved servers cost money"),
        ("服务器是谁迁移的", "服务器是小林迁移的", "服务器迁移费用"),
    ],
)
def test_of_equals_the_closest_as_a_whole_comes_first(memory: Any, question: str, near: str, far: str) -> None:
    """Small words count too, which the ranking leaves out."""
    for text in (near, far):
        memory.add(text)

    assert memory.texts[ordered(memory, question)[0].n] == near


def test_the_cosine_is_a_part_of_its_own(memory: Any) -> None:
    """The relevance is what the index says of a hit times its part `cosine`, which is 1 for the closest."""
    for text in (
        "The school's boiler was repaired by Okonkwo",
        "School: boiler, repaired",
        "Boiler of the school, repaired",
    ):
        memory.add(text)
    alone = {hit.n: hit for hit in ranked(memory, "who repaired the boiler of the school").hits}

    found = ordered(memory, "who repaired the boiler of the school")

    assert [hit.relevance for hit in found] == sorted((hit.relevance for hit in found), reverse=True)
    assert max(hit.parts["cosine"] for hit in found) == 1
    for hit in found:
        assert 1 - SHARE <= hit.parts["cosine"] <= 1
        assert math.isclose(hit.relevance, alone[hit.n].relevance * hit.parts["cosine"])
        assert {**alone[hit.n].parts, "cosine": hit.parts["cosine"]} == hit.parts


def test_without_cosines_the_same_hits_come_as_the_index_orders_them(memory: Any) -> None:
    """Nothing is hidden and nothing is found by them, at whatever limit; and no part tells of one."""
    for n in range(POOL + 15):
        memory.add(f"The boiler number {n} was repaired {'and cleaned ' * (n % 4)}")
    question = "which boiler was repaired and cleaned"

    for limit in (1, 5, POOL, 60):
        found = ranked(memory, question, limit)
        alone, full = found.best(limit), found.best(limit, cosines(*_request(found)))
        assert [hit.n for hit in alone] == [hit.n for hit in found.hits[:limit]]
        assert len(alone) == len(full)
        assert not any("cosine" in hit.parts for hit in alone)
    assert {hit.n for hit in alone} == {hit.n for hit in full}


def test_hits_that_were_not_compared_keep_their_place_behind(memory: Any) -> None:
    """They count as the least close one, so that none of them overtakes any that was compared."""
    for n in range(POOL + 10):
        memory.add(f"The boiler number {n} was repaired")
    found = ranked(memory, "the boiler was repaired", 60)

    best = found.best(60, [0.5] + [0.1] * (POOL - 1))

    assert [hit.n for hit in best] == [hit.n for hit in found.hits]
    assert {hit.parts["cosine"] for hit in best[POOL:]} == {min(hit.parts["cosine"] for hit in best)}


def test_the_order_is_the_same_each_time(memory: Any) -> None:
    """Of hits that are equal in all the newest number comes first, as without cosines."""
    for n in range(20):
        memory.add("The boiler was repaired", agent=f"a{n}", day=TODAY - 3)
    found = rank(memory.store, "the boiler was repaired", agents=None, limit=50, today=TODAY)

    orders = [[hit.n for hit in found.best(50, cosines(*_request(found)))] for _ in range(3)]

    assert orders == [sorted(range(1, 21), reverse=True)] * 3


def test_one_word_and_one_hit_are_not_compared(memory: Any) -> None:
    """One word says nothing of a whole: its hits stay in the order of the index, the newest first."""
    memory.add("The boiler was repaired by Okonkwo at last")
    memory.add("A boiler, repaired again")

    assert ranked(memory, "boiler").documents.documents == []
    assert ranked(memory, "okonkwo last").documents.documents == []
    assert len(ranked(memory, "boiler repaired").documents.documents) == 2


def test_a_document_holds_the_fields_and_what_leads_up_to_a_fact(memory: Any) -> None:
    """Its own words, headings, extras, and the blocks around it, at their weights; each text is sent once."""
    lines = ["Zeroth", "First", "Second", "Third", "The boiler was repaired", "Fifth", "Sixth"]
    numbers = [memory.add(line, note="memory/a.md", headings=["Home"], extra="https://example.org") for line in lines]
    memory.add("Another boiler, repaired")

    found = vector(memory, "the boiler was repaired", numbers[4])

    assert found == {
        "the boiler was repair": 1.0, "home": 0.9, "https://example.org https example.org exampl org": 0.7,
        "third": AROUND[-1], "second": AROUND[-2], "first": AROUND[-3], "fifth": AROUND[1],
    }  # fmt: skip
    texts = ranked(memory, "the boiler was repaired").documents.texts
    assert len(texts) == len(set(texts))


def test_of_a_long_text_the_beginning_is_compared(memory: Any) -> None:
    """A page pasted into one block costs no more than a long paragraph."""
    memory.add("The boiler was repaired " + " ".join(f"w{n}" for n in range(3_000)))
    memory.add("The boiler was repaired")

    assert max(len(text.split()) for text in ranked(memory, "boiler repaired").documents.texts) == TOKENS


def test_what_stands_for_the_asked_words_is_asked_for_too(memory: Any) -> None:
    """An alias and the right spelling of a word are part of the question that is compared."""
    memory.add("The furnace was repaired by Okonkwo")
    memory.add("Okonkwo looked at the furnace, repaired or not")

    assert "furnac" in ranked(memory, "who repaired the boiler", aliases=["furnace"]).documents.question.split()
    assert "okonkwo" in ranked(memory, "what did Okonkvo repair").documents.question.split()


@pytest.mark.parametrize("found", [[0.0, 0.0], [0.2, 0.1], []])
def test_factors_are_relative_to_the_closest(found: list[float]) -> None:
    """1 for the closest; where nothing is close at all, all are alike."""
    assert factors(found, len(found)) == ([1.0, 1 - SHARE / 2] if any(found) else [1.0] * len(found))


def test_rare_words_weigh_more_than_common_ones() -> None:
    """Rarity is counted among the documents, and a text that is nothing but the question is as close as can be."""
    texts = ["the boiler", "the kettle", "the door", "the boiler of okonkwo"]

    common, _, _, rare, same = cosines([*texts, "okonkwo"], [[(n, 1.0)] for n in range(5)], "okonkwo the")

    assert 0 < common < rare
    assert math.isclose(cosines(["a b"], [[(0, 1.0)]], "a b")[0], 1)
    assert same > rare

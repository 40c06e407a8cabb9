"""How the language process takes part in answers: added when it is there, never waited for, never needed."""

import asyncio
import math
import os
import re

import pytest
from memoryd.clock import day_number
from memoryd.operations.retrieve import described
from memoryd.search import find

NOTES = {
    "memory/2026-02-13.md": "- The boiler of the school was repaired by Okonkwo\n- 锅炉是小林修理的\n",
    "memory/2026-02-14.md": "- Costs of a repaired boiler, school budget\n- 锅炉修理费用很高\n",
    "memory/2026-02-15.md": "- Boiler repaired, school closed\n",
}
QUESTION = "who repaired the boiler of the school"


@pytest.fixture
async def daemon(mind):
    """The memory as a daemon keeps it."""
    for path, text in NOTES.items():
        await mind.note(path, text)
    mind.memory.resident = True
    return mind


async def ask(mind, query=QUESTION, **fields):
    return await mind.ask("retrieve", query=query, envelope=True, explain=True, limit=10, **fields)


async def full(mind, query=QUESTION):
    """The first answer that the process took part in."""
    for _ in range(300):
        if (answer := await ask(mind, query))["ranker"] == "full":
            return answer
        await asyncio.sleep(0.02)
    raise AssertionError("the language process never took part")


def relevance(hit):
    """The sum of a hit's parts as docs/memory.md gives it."""
    part = hit["why"]["parts"]
    words = sum(part[name] for name in ("words", "context", "phrase", "near", "opens", "label")) / (1 + 0.43)
    said = words * part["asks"] * part["number"] * 0.75 + part["day"]
    return said * part["faded"] * part["prior"] * part.get("cosine", 1)


async def test_the_first_answer_comes_without_it_and_later_ones_with_it(daemon):
    """`ranker` says which: the same hits each time, ordered better; the parts say how they came about."""
    before = await ask(daemon)
    after = await full(daemon)

    assert before["ranker"] == "fts"
    assert not any("cosine" in hit["why"]["parts"] for hit in before["results"])
    assert {hit["text"] for hit in before["results"]} == {hit["text"] for hit in after["results"]}
    assert after["results"][0]["text"] == "The boiler of the school was repaired by Okonkwo"
    assert after["results"][0]["why"]["parts"]["cosine"] == 1
    for hit in before["results"] + after["results"]:
        assert math.isclose(hit["relevance"], relevance(hit), abs_tol=2e-4)
    assert [hit["id"] for hit in (await full(daemon))["results"]] == [hit["id"] for hit in after["results"]]


async def test_chinese_is_full_with_words_and_cosines(daemon):
    """One process gives both; an English-only memory's has no dictionary."""
    await full(daemon)
    assert await daemon.memory.language.loaded(5) == ["scikit-learn"]

    answer = await full(daemon, "锅炉是谁修理的")

    assert await daemon.memory.language.loaded(5) == ["jieba", "scikit-learn"]
    assert answer["results"][0]["text"] == "锅炉是小林修理的"


async def test_one_hit_and_one_word_are_full_while_the_process_is_there(daemon):
    """There is nothing to order then, and nothing lacks."""
    await full(daemon)

    assert [(await ask(daemon, query))["ranker"] for query in ("boiler", "Okonkwo", "nothing of that kind")] == [
        "full"
    ] * 3


async def test_a_killed_process_costs_no_answer(daemon):
    """The next answers come from the index, until a new process is there."""
    await full(daemon)
    pid = daemon.memory.language.pid
    os.kill(pid, 9)

    answer = await ask(daemon)

    assert answer["results"]
    await full(daemon)
    assert daemon.memory.language.pid != pid


async def test_a_command_without_a_daemon_starts_no_process(mind):
    """It would only wait for it."""
    await mind.note("memory/2026-02-13.md", NOTES["memory/2026-02-13.md"])

    assert {(await ask(mind, query))["ranker"] for query in (QUESTION, "锅炉是谁修理的")} == {"fts"}
    assert mind.memory.language.pid is None
    assert not await mind.memory.language.ready()


async def test_what_was_forgotten_meanwhile_is_not_answered(daemon):
    """Between choosing the hits and showing them others may write: what is gone by then is not shown."""
    await full(daemon)
    cosines = daemon.memory.language.cosines

    async def slowly(documents):
        await daemon.ask("forget", text="Costs of a repaired boiler, school budget", only=True)
        return await cosines(documents)

    daemon.memory.language.cosines = slowly

    texts = [hit["text"] for hit in (await ask(daemon))["results"]]
    assert "Costs of a repaired boiler, school budget" not in texts
    assert "The boiler of the school was repaired by Okonkwo" in texts


async def test_only_the_facts_that_were_found_are_read_to_be_shown(daemon, monkeypatch):
    """No statement walks through all facts or places of an agent: each goes by a fact's id or row."""
    today = day_number(daemon.clock.today())

    def plans(store):
        found, seen = find(store, QUESTION, agents=["default"], limit=5, today=today), []
        ask = store.db.execute
        monkeypatch.setattr(
            store.db, "execute", lambda sql, values=(): (seen.append((sql, values)), ask(sql, values))[1]
        )
        assert len(described(store, "default", found)) == len(found) > 2
        monkeypatch.undo()
        return [str(row[3]) for sql, values in seen for row in ask(f"EXPLAIN QUERY PLAN {sql}", values)]

    steps = [step for step in await daemon.memory.thread.call(plans) if re.match(r"(SCAN|SEARCH) [a-z]\b", step)]

    assert [
        step for step in steps if not re.search(r"fact_id=\?|rowid=\?|\bn=\?|\bpath=\?|\bid=\?|\bvalue=\?", step)
    ] == []
    assert len(steps) >= 2

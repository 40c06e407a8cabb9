"""Self-recall: in idle time the memory asks itself for its own words, and status says how often it finds them.

A probe is a few words of a stored fact: one to four Chinese characters, or two neighbouring English words. It is
found when any of the first hits holds those words. A dictionary or an index that broke shows in the rate.
"""

import random
import re
from functools import partial

import msgspec

from ..clock import day_number
from ..search.rank import find
from ..store import Store
from ..store.thread import Priority
from .memory import Memory
from .replies import SelfRecall

PROBES = 20
"""How many probes one round asks."""
KEPT = 500
"""How many of the latest probes the rate is of."""
WARN_UNDER = 0.99
"""A rate below it, of at least `ENOUGH` probes, is worth a warning."""
ENOUGH = 50
NAMED = 5
"""Missed probes that status names, at most."""
_TOP = 50
_HAN = re.compile(r"[\u4e00-\u9fff]{1,12}")
_WORD_PAIR = re.compile(r"\b[A-Za-z]{3,20} [A-Za-z]{3,20}\b")


class Probe(msgspec.Struct, frozen=True):
    """Some words of one fact."""

    agent: str
    fact: str
    query: str


async def probe(memory: Memory, chance: random.Random) -> SelfRecall:
    """Ask some probes one by one, each a short step of its own; nothing counts as read. Status shows the outcome.

    While the memory is busy nothing is asked.
    """
    if memory.pending or memory.activity != "idle":
        return await _show(memory)
    size = await memory.thread.call(_size, priority=Priority.BULK)
    for _ in range(PROBES if size else 0):
        pick = partial(_pick, n=chance.randint(1, size), chance=chance)
        if (picked := await memory.thread.call(pick, priority=Priority.BULK)) is not None:
            await _ask(memory, picked)
    return await _show(memory)


def is_low(recall: SelfRecall) -> bool:
    """Whether a warning is due."""
    return recall.asked >= ENOUGH and recall.found < WARN_UNDER * recall.asked


async def remember(memory: Memory) -> None:
    """Show in status what an earlier process found."""
    if (await _show(memory)).asked == 0:
        memory.recall = None


async def _show(memory: Memory) -> SelfRecall:
    memory.recall = await memory.thread.call(_recall, priority=Priority.BULK)
    return memory.recall


def _recall(store: Store) -> SelfRecall:
    rows = store.execute("SELECT query, found FROM probes ORDER BY at DESC LIMIT ?", (KEPT,))
    found = sum(hit == 1 for _, hit in rows)
    rate = round(found / len(rows), 4) if rows else None
    return SelfRecall(len(rows), found, rate, [str(query) for query, hit in rows if hit != 1][:NAMED])


def probe_words(text: str, chance: random.Random) -> str:
    """A piece of a text that only it or its like can be asked by; '' where there is none."""
    han, pairs = _HAN.findall(text), _WORD_PAIR.findall(text)
    if han and (not pairs or chance.random() < 0.5):
        run = chance.choice(han)
        length = min(len(run), chance.randint(1, 4))
        start = chance.randint(0, len(run) - length)
        return str(run[start : start + length])
    return str(chance.choice(pairs)) if pairs else ""


def _size(store: Store) -> int:
    found = store.execute("SELECT max(n) FROM facts")[0][0]
    return found if isinstance(found, int) else 0


def _pick(store: Store, n: int, chance: random.Random) -> Probe | None:
    rows = store.execute(
        "SELECT d.agent_id, d.fact_id, f.text FROM derived d JOIN facts f ON f.n = d.n"
        " WHERE d.n >= ? AND d.state = 'live' LIMIT 1",
        (n,),
    )
    for agent, fact, text in rows:
        if query := probe_words(str(text)[:2000], chance):
            return Probe(str(agent), str(fact), query)
    return None


async def _ask(memory: Memory, asked: Probe) -> None:
    """Ask as a person does, with the dictionary's words and the aliases; but nothing starts its process for this."""
    words = await memory.language.words(asked.query) if memory.language.pid is not None else None
    aliases = memory.aliases.of(asked.query)
    today, now_ms = day_number(memory.clock.today()), memory.clock.now_ms()

    def ask(store: Store) -> None:
        hits = find(store, asked.query, agents=[asked.agent], limit=_TOP, today=today, words=words, aliases=aliases)
        with store.transaction() as tx:
            found = int(_holds(store, [hit.n for hit in hits], asked.query))
            tx.run(
                "INSERT OR REPLACE INTO probes VALUES (?, ?, ?, ?, ?)",
                (asked.agent, asked.fact, asked.query, now_ms, found),
            )
            tx.run(
                "DELETE FROM probes WHERE at < (SELECT min(at) FROM (SELECT at FROM probes ORDER BY at DESC LIMIT ?))",
                (KEPT,),
            )

    await memory.thread.call(ask, priority=Priority.BULK)


def _holds(store: Store, numbers: list[int], query: str) -> bool:
    listed = ", ".join(map(str, numbers))
    rows = store.execute(f"SELECT text FROM facts WHERE n IN ({listed})")
    return any(query.casefold() in str(text).casefold() for (text,) in rows)

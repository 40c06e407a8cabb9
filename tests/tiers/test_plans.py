"""No step reads all of memory: the library holds every thread while a statement runs (docs/engine.md)."""

import re

import pytest
from memoryd.model import Metadata
from memoryd.store.versions import record_access, set_hot_item, state_fact
from memoryd.tiers.derive import derive
from memoryd.tiers.evidence import later_wordings
from memoryd.tiers.hot import hot_state
from memoryd.tiers.tiering import retier, retier_rest, tier_counts
from memoryd.tiers.tree import tree

LARGE = re.compile(r"(SCAN|SEARCH) (facts|mentions|edits|access|derived|forgotten|notes|[defmn])\b")
"""A step of a plan that reads a table which grows with memory."""
NARROW = re.compile(
    r"\bid=\?|\bpath=\?|fact_id=\?|rowid[=>]|latest_day|tier=\?|value=\?|derived_used|category=\?"
    r"|COVERING INDEX derived_tier|json_each"
)
"""What keeps such a step short: it goes by fact, by row, by day, by tier, or reads counts from an index."""


@pytest.fixture
def memory(world):
    """Facts of every kind, with reads, a written lesson and an earlier wording."""
    for n in range(30):
        kind = ("fact", "decision", "task", "event")[n % 4]
        fact = world.say(f"fact {n}", date=world.day(n), importance=0.8, kind=kind, task_state="open")
        with world.store.transaction() as tx:
            record_access(tx, world.agent, [fact], n)
    with world.store.transaction() as tx:
        fact = state_fact(tx, world.agent, "Measure twice", "craft", 0.9, Metadata(), kind="lesson", date=world.day())
        set_hot_item(tx, world.agent, "lessons", fact, "{}")
        # A lost device whose notes this one took over.
        tx.run("INSERT INTO devices VALUES ('bbbbbbbb', 'lost', 'x', 1, '[]', '[]', 0)")
        tx.run("INSERT OR REPLACE INTO devices VALUES (?, 'here', 'x', 2, '[]', '[\"bbbbbbbb\"]', 1)", (tx.device,))
        tx.run(
            "INSERT INTO mentions SELECT agent_id, 'bbbbbbbb', path, n, fact_id, line_from, line_to, date, headings,"
            " category, importance, kind, task_state, metadata, code, 0 FROM mentions WHERE path <> ''"
        )
    world.settle()
    return world


def statements(world, work, monkeypatch):
    """Every statement that `work` runs, with its parameters."""
    seen = []
    for name in ("execute", "run"):
        ask = getattr(world.store.db, name)
        monkeypatch.setattr(
            world.store.db, name, lambda sql, values=(), ask=ask: (seen.append((sql, values)), ask(sql, values))[1]
        )
    work()
    monkeypatch.undo()
    return [(sql, values) for sql, values in seen if re.match(r"\s*(SELECT|WITH|UPDATE|INSERT .* SELECT)", sql)]


def work(world):
    """Everything that happens while a memory lives."""
    derive(world.store, world.agent, [world.id("fact 1")], world.today)
    later_wordings(world.store, world.agent, [world.id("fact 1")])
    with world.store.transaction() as tx:
        tx.run("UPDATE derived SET tier = 'warm', score = 0 WHERE n < 5")
        retier(tx, world.agent, world.today + 40, world.settings)
        retier_rest(tx, world.agent, world.today + 40, world.settings)
    hot_state(world.store, world.agent, world.today, world.settings)
    tier_counts(world.store, world.agent)
    tree(world.store, world.agent, world.settings)


def test_every_statement_finds_its_rows_by_an_index(memory, monkeypatch):
    """No plan walks through a table, or through all live facts."""
    found = statements(memory, lambda: work(memory), monkeypatch)
    plans = [
        (str(row[3]), sql)
        for sql, values in found
        if "score = 0 WHERE n < 5" not in sql
        for row in memory.store.execute(f"EXPLAIN QUERY PLAN {sql}", values)
    ]
    bad = [(step, sql) for step, sql in plans if LARGE.match(step) and not NARROW.search(step)]

    assert len(found) > 15
    assert bad == []

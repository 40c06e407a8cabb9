"""`restore` of a whole memory with a real sqld: what it brings back is what the old device had, word for word."""

import gc
import random

import pytest
from memoryd.clock import day_number
from memoryd.search.rank import find

QUERIES = 100
_WHO = ("Mira", "Tomas", "小林", "Oksana", "Bram", "阿梅", "Idris")
_DID = ("moved the heron feeder to", "decided against", "修复 了", "ordered", "prefers", "measured", "wrote to")
_WHAT = (
    "the old pier",
    "gate {n}",
    "`make step-{n}`",
    "合同 {n}",
    "https://h{n}.example/a",
    "harbour {n}",
    "~/n/{n}.txt",
)
_TOLD = (
    "agent_id, path, n, fact_id, line_from, line_to, date, headings, category, importance, kind, task_state,"
    " metadata, code"
)


def sentence(chance):
    return f"{chance.choice(_WHO)} {chance.choice(_DID)} {chance.choice(_WHAT).format(n=chance.randrange(90))}"


def note(chance, lines):
    marks = ("- ", "- ", "- [ ] ", "- [x] ", "> ", "\n## ", "- 10:40 ")
    return "# Day\n\n" + "".join(f"{chance.choice(marks)}{sentence(chance)}\n" for _ in range(lines))


@pytest.fixture
async def old(new_mind, sqld):
    """A device with forty notes of two agents that has sent everything."""
    chance = random.Random(5)
    one = await new_mind(url=sqld.url, token=sqld.token())
    for day in range(1, 21):
        for folder in ("", "robin/"):
            file = one.workspace / f"memory/{folder}2026-01-{day:02d}.md"
            file.parent.mkdir(exist_ok=True)
            file.write_text(note(chance, 12), "utf-8")
    (one.workspace / "MEMORY.md").write_text("# Mine\n\n- The wagtail nests in March\n", "utf-8")
    (one.workspace / "memory/2026-01-21.md").write_text(
        "- password: hunter2secret\n- Used a tool\n```sh\nopen", "utf-8"
    )
    await one.memory.rescan()
    await one.ask("sync", wait=True)
    return one


async def answers(mind, queries):
    """Hits with their relevance, as `retrieve` ranks them, without counting as a read."""
    today = day_number(mind.clock.today())

    def ask(store):
        return [
            [
                (hit.fact_id, round(hit.relevance, 9))
                for hit in find(store, query, agents=[agent], limit=10, today=today)
            ]
            for agent, query in queries
        ]

    return await mind.memory.thread.call(ask)


async def test_a_hundred_saved_queries_answer_as_on_the_old_device(old, new_mind, sqld):
    """Same facts, same order, same relevance, at once after the restore; the index is ready on return."""
    chance = random.Random(7)
    queries = [(chance.choice(("default", "robin")), sentence(chance)) for _ in range(QUERIES)]
    saved = await answers(old, queries)
    assert sum(map(bool, saved)) == QUERIES
    new = await new_mind(url=sqld.url, token=sqld.token())

    assert (await new.ask("restore"))["verified"]

    assert await answers(new, queries) == saved


async def test_a_restored_note_is_held_as_if_it_had_been_read(old, new_mind, sqld):
    """Its rows are the log's; the first scan afterwards adds totals and findings and changes nothing that is sent."""
    new = await new_mind(url=sqld.url, token=sqld.token())
    await new.ask("restore")
    told = f"SELECT {_TOLD} FROM mentions WHERE device = ? ORDER BY agent_id, path, n"
    assert await new.sql(told, new.memory.device) == await old.sql(told, old.memory.device)
    assert (await new.ask("status"))["notes"]["known"] == 42
    await new.ask("sync", wait=True)
    assert (await new.ask("verify", deep=True))["equal"]
    before = await new.sql("SELECT v FROM meta WHERE k = 'rev'")

    await new.memory.rescan()

    assert await new.sql("SELECT v FROM meta WHERE k = 'rev'") == before
    assert await new.sql("SELECT * FROM dirty") == []
    read = "SELECT path, totals FROM files WHERE agent_id <> '' ORDER BY path"
    masked = ("memory/2026-01-21.md",)
    assert [row for row in await new.sql(read) if row[0] not in masked] == [
        row for row in await old.sql(read) if row[0] not in masked
    ]


async def test_a_restore_that_was_cut_off_between_its_notes_goes_on(old, new_mind, sqld, monkeypatch):
    """Half of the notes are rows here already, the others come with the second run."""
    new = await new_mind(url=sqld.url, token=sqld.token())
    monkeypatch.setattr("memoryd.sync.restore_plan._BATCH_FILES", 7)
    monkeypatch.setattr("memoryd.sync.restore._COPIED_TOGETHER", 7)
    monkeypatch.setattr("memoryd.sync.restore.crash_point", _fall_at("restore copied", 3))
    with pytest.raises(KeyboardInterrupt):
        await new.ask("restore")
    monkeypatch.undo()

    assert (await new.ask("restore"))["verified"]

    told = f"SELECT {_TOLD} FROM mentions WHERE device = ? ORDER BY agent_id, path, n"
    assert await new.sql(told, new.memory.device) == await old.sql(told, old.memory.device)
    assert (await new.ask("restore", from_=old.memory.device))["notes"] == 42


@pytest.mark.parametrize("collects", [True, False])
async def test_a_restore_that_fails_leaves_pythons_search_for_cycles_as_it_was(
    old, new_mind, sqld, monkeypatch, collects
):
    """Rarer while it lasts, and afterwards as before, whether it was on or off."""
    new, during = await new_mind(url=sqld.url, token=sqld.token()), []

    def fall(_):
        during.append((gc.isenabled(), gc.get_threshold()[0]))
        raise KeyboardInterrupt

    monkeypatch.setattr("memoryd.operations.restore.crash_point", fall)
    usual = gc.get_threshold()
    if not collects:
        gc.disable()
    try:
        with pytest.raises(KeyboardInterrupt):
            await new.ask("restore")
        after = gc.isenabled(), gc.get_threshold()
    finally:
        gc.enable()

    assert during == [(collects, 500_000)]
    assert after == (collects, usual)


def _fall_at(name, times):
    seen = []

    def fall(here):
        seen.extend([here] * (here == name))
        if len(seen) == times:
            raise KeyboardInterrupt

    return fall

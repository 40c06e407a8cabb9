"""`retrieve`: what it explains, aliases, and never a miss after a write."""

import asyncio

import pytest

NOTE = """# 2026-02-13

## Home

- The boiler was repaired by Okonkwo
- The garden needs water

## Work

- Trust verification needs two approvals
- Deploy with `make ship`
"""


@pytest.fixture
async def home(new_mind):
    mind = await new_mind()
    await mind.note("memory/2026-02-13.md", NOTE)
    return mind


async def test_explain_says_why(home):
    """A hit says its category's path, the terms found and not found, the parts of its score, and its line."""
    hit = (await home.ask("retrieve", query="who repaired the boiler quickly", explain=True))[0]

    why = hit["why"]
    assert hit["text"] == "The boiler was repaired by Okonkwo"
    assert why["matched"] == ["repair", "boiler"]
    assert why["unmatched"] == ["quick"]
    assert (why["file"], why["line"]) == ("memory/2026-02-13.md", 5)
    assert why["category_path"][-1] == hit["category"]
    assert {"words", "context", "day", "prior"} <= why["parts"].keys()
    assert "why" not in (await home.ask("retrieve", query="boiler"))[0]


async def test_gate_of_the_second_seed(home):
    """five-factor finds trust verification once aliases.txt says so, without a restart."""
    assert await home.hits("five-factor") == []

    (home.workspace / "memory" / "aliases.txt").write_text("five-factor, trust verification, 五元组审查\n", "utf-8")

    assert (await home.hits("five-factor"))[0] == "Trust verification needs two approvals"
    assert (await home.hits("五元组审查"))[0] == "Trust verification needs two approvals"


async def test_after_write_never_misses(new_mind):
    """What is on disk when a question with after_write comes is found, sixty times in a row."""
    mind = await new_mind()
    file = mind.workspace / "memory" / "2026-02-13.md"
    for turn in range(60):
        with file.open("a", encoding="utf-8") as note:
            note.write(f"- Reading number{turn}x of the boiler\n")

        found = await mind.ask("retrieve", query=f"number{turn}x", after_write=True, envelope=True)

        assert f"number{turn}x" in found["results"][0]["text"]
        assert not found["stale"]


async def test_a_miss_is_never_without_stale(new_mind):
    """While a change is on its way in, an answer that lacks it says that it is stale."""
    mind = await new_mind()
    await mind.memory.rescan()
    file = mind.workspace / "memory" / "2026-02-13.md"
    for turn in range(60):
        with file.open("a", encoding="utf-8") as note:
            note.write(f"- Reading number{turn}x of the boiler\n")
        taking = asyncio.ensure_future(mind.memory.hint(["memory/2026-02-13.md"]))
        await asyncio.sleep(0)

        found = await mind.ask("retrieve", query=f"number{turn}x", envelope=True)

        assert found["stale"] or f"number{turn}x" in found["results"][0]["text"]
        await taking

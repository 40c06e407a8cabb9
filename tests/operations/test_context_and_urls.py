"""`context`, `search-url`, and the cloud commands where there is no cloud."""

import pytest
from memoryd.errors import ConfigError, UsageError
from memoryd.operations import search_url

NOTE = (
    "# Tools\n\n- Z-Image model, see https://docs.Comfy.org/z-image\n- LTX at https://github.com/Lightricks/LTX-Video\n"
)


async def test_urls_are_found_by_any_piece_in_any_case(mind):
    """Substring of the URL; whole facts with their sources; the other fact is not among them."""
    await mind.note("memory/2026-02-13.md", NOTE)

    found = await mind.ask("search-url", url="COMFY.org")

    assert (found["query"], found["results_count"]) == ("COMFY.org", 1)
    (hit,) = found["results"]
    assert hit["metadata"]["urls"] == ["https://docs.Comfy.org/z-image"]
    assert hit["sources"][0]["file"] == "memory/2026-02-13.md"


async def test_all_urls_are_listed_and_limits_hold(mind):
    """`--all` lists every fact with a URL; `--limit` cuts a search."""
    await mind.note("memory/2026-02-13.md", NOTE + "- Nothing to click here\n")

    assert (await mind.ask("search-url", all=True))["results_count"] == 2
    assert (await mind.ask("search-url", url="https://", limit=1))["results_count"] == 1
    assert (await mind.ask("search-url", url="nowhere.example"))["results"] == []
    for fields in ({}, {"url": "x", "all": True}):
        with pytest.raises(UsageError):
            await mind.ask("search-url", **fields)


@pytest.mark.parametrize("piece", ["hub.com/Lig", "X-V", "-V", "ricks", "s://github"])
async def test_any_piece_is_enough(mind, piece):
    """Not only whole words of a URL, and one character or two as well."""
    await mind.note("memory/2026-02-13.md", NOTE)

    found = (await mind.ask("search-url", url=piece))["results"]

    assert [hit["text"] for hit in found] == ["LTX at https://github.com/Lightricks/LTX-Video"]


@pytest.mark.parametrize("piece", ['"', '" OR "', "hub.com Lig", "git*", "%", "_"])
async def test_a_piece_is_no_pattern(mind, piece):
    """Quotes, stars and marks of other tools mean themselves."""
    await mind.note("memory/2026-02-13.md", NOTE)

    assert (await mind.ask("search-url", url=piece))["results"] == []


async def test_the_strongest_of_all_steps_come_first(mind, monkeypatch):
    """However many steps a large memory takes, the order is by score and the limit holds over all."""
    monkeypatch.setattr(search_url, "_FACTS", 2)
    monkeypatch.setattr(search_url, "_SHOWN", 2)
    lines = [f"- Page {n} of https://wiki.example/{n}\n" for n in range(7)]
    await mind.note("memory/2026-02-10.md", "# Old\n\n" + "".join(lines[:4]))
    await mind.note("memory/2026-02-13.md", "# New\n\n" + "".join(lines[4:]))

    every = (await mind.ask("search-url", all=True))["results"]
    some = (await mind.ask("search-url", url="wiki.example", limit=3))["results"]

    assert len(every) == 7
    assert [hit["score"] for hit in every] == sorted((hit["score"] for hit in every), reverse=True)
    assert some == every[:3]


async def test_a_forgotten_url_leaves_the_index(mind):
    """Nothing of it is left to be found or read in the file."""
    await mind.note("memory/2026-02-13.md", NOTE)
    (hit,) = (await mind.ask("search-url", url="comfy"))["results"]
    await mind.ask("forget", id=hit["id"])

    assert (await mind.ask("search-url", url="comfy"))["results"] == []
    assert await mind.sql("SELECT count(*) FROM url_index") == [(1,)]


async def test_a_retracted_fact_has_no_url_any_more(mind):
    """What no note says is not found by its URL."""
    await mind.note("memory/2026-02-13.md", NOTE)
    await mind.note("memory/2026-02-13.md", "# Tools\n\n- Nothing to click here\n")

    assert (await mind.ask("search-url", all=True))["results"] == []


async def test_another_agents_urls_stay_there(mind):
    """One agent never sees another's memory."""
    await mind.note("memory/robin/2026-02-13.md", NOTE)

    assert (await mind.ask("search-url", all=True))["results"] == []
    assert (await mind.ask("search-url", all=True, agent_id="robin"))["results_count"] == 2


async def test_context_holds_hot_state_tree_and_hits(mind):
    """One text to load; hits carry their place, and count as read."""
    await mind.note("memory/2026-02-13.md", NOTE)
    await mind.ask("hot", update=["identity", '{"agent_name": "Robin"}'])

    found = await mind.ask("context", query="z-image model")
    await mind.rest()

    assert "**Agent Name:** Robin" in found["context"]
    assert "## Tree" in found["context"]
    assert "memory/2026-02-13.md:3" in found["context"]
    assert found["size_bytes"] == len(found["context"].encode()) <= found["max_bytes"] == 15_360
    assert found["left_out"] == 0
    assert (await mind.ask("metrics"))["reinforcements_today"] == len(found["hits"]) > 0


async def test_context_without_a_query_is_what_is_always_loaded(mind):
    """No hits, nothing counted."""
    await mind.note("memory/2026-02-13.md", NOTE)

    found = await mind.ask("context")

    assert found["hits"] == []
    assert "## Found" not in found["context"]
    assert (await mind.ask("metrics"))["retrieval_count"] == 0


@pytest.mark.parametrize("room", [256, 300, 400, 600, 1000])
async def test_context_never_exceeds_its_bytes(mind, room):
    """What does not fit goes from the end, and only hits that are shown are listed and counted."""
    await mind.note("memory/2026-02-13.md", "".join(f"- 盒子 {n} holds screws of size {n}\n" for n in range(30)))

    found = await mind.ask("context", query="screws", max_bytes=room)

    assert len(found["context"].encode()) <= room
    assert found["left_out"] > 0
    assert all(hit["text"] in found["context"] for hit in found["hits"])
    assert found["context"].count("\n- 盒子") == len(found["hits"])


async def test_cloud_commands_say_that_there_is_no_cloud(mind):
    """78 with a hint, never an empty success (docs/original.md, F4)."""
    with pytest.raises(ConfigError):
        await mind.ask("sync-critical")
    with pytest.raises(ConfigError):
        await mind.ask("cold", init=True)
    with pytest.raises(ConfigError):
        await mind.ask("cold", query="nothing of that kind")
    for fields in ({}, {"query": " "}, {"init": True, "query": "x"}):
        with pytest.raises(UsageError):
            await mind.ask("cold", **fields)


async def test_cold_answers_from_here_and_says_so(mind, monkeypatch):
    """Without a cloud what matches here is given, marked as local, with the reason and by the cloud's own rule."""
    monkeypatch.setattr("memoryd.operations.cold._WALKED", 2)
    await mind.note("memory/2026-02-13.md", NOTE)
    for text, importance in (("The blue kettle", 0.3), ("A KETTLE that is 100% blue", 0.9), ("The kettle is red", 0.9)):
        await mind.ask("store", text=text, category="home/bluebird" if "red" in text else "x", importance=importance)
    await mind.ask("store", text="The blue kettle is Robin's", category="x", agent_id="robin")

    rows = await mind.ask("cold", query="kettle blue")

    assert {each["text"] for each in rows[:2]} == {"A KETTLE that is 100% blue", "The kettle is red"}
    assert [each["text"] for each in rows[2:]] == ["The blue kettle"]
    assert {(each["answered_by"], each["reason"]) for each in rows} == {("local", "No cloud is configured.")}
    assert set(rows[0]) == {"id", "text", "category", "importance", "created_at", "tier", "answered_by", "reason"}
    assert [each["text"] for each in await mind.ask("cold", query="0%")] == ["A KETTLE that is 100% blue"]
    assert len(await mind.ask("cold", query="kettle", limit=2)) == 2
    assert (await mind.ask("cold", query="z-image"))[0]["answered_by"] == "local"
    with pytest.raises(ConfigError, match="Nothing here matches either"):
        await mind.ask("cold", query="kettle green")

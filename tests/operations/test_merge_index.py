"""The full-text index is kept in few segments while nobody needs the memory."""

from memoryd.operations.merge_index import merge_index

SEGMENTS = "SELECT count(*) FROM (SELECT DISTINCT segid FROM search_index_idx)"


async def _grown(mind, lines: int) -> int:
    for day in range(1, 8):
        text = "".join(f"- Reading {day} {n} of the {'x' * (n % 40)}{n} boiler\n" for n in range(lines))
        await mind.note(f"memory/2026-01-0{day}.md", text)
    ((segments,),) = await mind.sql(SEGMENTS)
    return segments


async def test_many_segments_become_one(mind):
    """And every line is found as before."""
    assert await _grown(mind, 250) > 3

    await merge_index(mind.memory)

    assert await mind.sql(SEGMENTS) == [(1,)]
    assert await mind.sql("SELECT count(*) FROM search_index WHERE search_index MATCH 'boiler'") == [(7 * 250,)]


async def test_a_busy_memory_is_left_alone(mind):
    """The next turn comes in some hours."""
    segments = await _grown(mind, 250)
    mind.memory.activity = "scanning"

    await merge_index(mind.memory)

    assert await mind.sql(SEGMENTS) == [(segments,)]

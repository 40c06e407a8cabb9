"""How rows become segments: order of revisions, size, what the log holds."""

import hashlib
import os
import zlib
from typing import get_args

import msgspec
import pytest
from memoryd.model import Row, fact_id
from memoryd.store.forget import forget_fact
from memoryd.store.lines import next_lines
from memoryd.store.log import NEWER, TABLES, count_live, count_unsent, measure, next_page, page_end, rows_between
from memoryd.store.notes import delete_note
from memoryd.store.versions import record_access, set_edit, set_hot_item, set_tree_node
from memoryd.sync import push

from .conftest import AGENT, Peer, SimulatedCloud


@pytest.fixture
async def one(tmp_path, clock):
    """A device on a simulated cloud."""
    cloud = SimulatedCloud()
    peer = Peer(tmp_path / "one" / "memory.db", clock, cloud)
    peer.cloud = cloud
    await peer.thread.start()
    yield peer
    await peer.close()
    cloud.db.close()


def segments(one):
    """`(rows, payload)` of every segment."""
    return one.cloud.db.execute("SELECT rows, payload FROM segments ORDER BY idx").fetchall()


def lines(payload):
    """The rows of a payload as their JSON lines."""
    return zlib.decompress(payload).decode().splitlines()


async def test_a_note_row_comes_after_everything_it_names(one):
    """Chunks, facts and mentions have their revision before their note."""
    await one.note("memory/2026-02-13.md", "The heron fishes\nThe ibis came\n")
    await one.sync.exchange()
    kinds = [line.split('"')[1] for line in lines(segments(one)[0][1])]
    assert kinds.index("note") == len(kinds) - 1
    assert sorted(kinds) == ["chunk", "device", "fact", "fact", "mention", "mention", "note"]


async def test_a_push_begins_to_read_where_the_last_one_ended(one):
    """Every table is searched from the revision that was asked for on, not from its beginning."""
    for table in TABLES[:-1]:
        sql = f"EXPLAIN SELECT {table.columns} FROM {table.name} WHERE {NEWER} AND rev <= ?"
        steps = await one.call(lambda store, sql=sql: store.execute(sql, (1, 2)))

        # opcode, p1, p2, p3: `Variable 1` puts the first parameter into register p2, `SeekGT` reads it as p3.
        ((_, _, register, *_),) = [step[1:] for step in steps if step[1:3] == ("Variable", 1)]
        (seek,) = [step for step in steps if step[1] == "SeekGT"]
        assert seek[4] == register, table.name


async def test_a_large_memory_is_cut_into_segments(one, monkeypatch):
    """No segment has more rows than the limit allows; together they hold everything once."""
    monkeypatch.setattr(push, "SEGMENT_ROWS", 20)
    monkeypatch.setattr("memoryd.store.lines.PAGE_ROWS", 7)
    for n in range(9):
        await one.note(f"memory/2026-02-0{n + 1}.md", "".join(f"Line {k} of {n}\n" for k in range(5)))
    await one.sync.exchange()
    found = segments(one)
    assert len(found) > 3
    everything = [line for _, payload in found for line in lines(payload)]
    assert len(everything) == len(set(everything)) == sum(rows for rows, _ in found)
    assert await one.call(count_unsent) == 0
    assert await one.call(count_live) == len(everything)


async def test_text_that_cannot_be_packed_makes_more_and_not_larger_segments(one):
    """Random bytes stay under 1 MB a segment."""
    for n in range(3):
        await one.note(f"memory/2026-02-0{n + 1}.md", os.urandom(500_000).hex() + "\n")
    await one.sync.exchange()
    sizes = [len(payload) for _, payload in segments(one)]
    assert len(sizes) > 1
    assert max(sizes) <= 1_000_000


async def test_an_edited_line_sends_little(one):
    """One reworded line of a long note sends its own rows and one chunk, not the note."""
    text = [f"Line {n} of a long note about herons and ibises\n" for n in range(2000)]
    await one.note("memory/2026-02-13.md", "".join(text))
    await one.sync.exchange()
    text[1000] = "Line 1000 was reworded\n"
    await one.note("memory/2026-02-13.md", "".join(text))
    await one.sync.exchange()
    rows, payload = segments(one)[-1]
    kinds = [line.split('"')[1] for line in lines(payload)]
    assert kinds.count("fact") == kinds.count("mention") == kinds.count("note") == 1
    assert kinds.count("chunk") in (1, 2)
    assert rows == len(kinds)


async def test_a_fact_that_was_only_known_from_elsewhere_enters_the_log_when_it_is_stated_here(one, tmp_path, clock):
    """A log stands alone: it names every fact that its mentions name."""
    other = Peer(tmp_path / "other" / "memory.db", clock, one.cloud)
    await other.thread.start()
    try:
        await other.note("memory/2026-02-13.md", "The heron fishes\n")
        await other.sync.exchange()
        await one.sync.exchange()
        fact = fact_id(AGENT, "The heron fishes")
        assert await one.rows(f"SELECT rev FROM facts WHERE id = '{fact}'") == [(0,)]
        await one.note("memory/2026-02-14.md", "The heron fishes\n")
        await one.sync.exchange()
        own = [row for row in segments(one) if b"2026-02-14" in zlib.decompress(row[1])]
        assert b"The heron fishes" in zlib.decompress(own[0][1])
    finally:
        await other.close()


def test_a_page_ends_at_its_limits_but_holds_a_row_at_least():
    """Rows and bytes both end a page; a single huge row makes one of its own."""
    sizes = [(1, 10), (3, 10), (4, 10), (9, 10)]
    assert page_end(sizes, rows=2, size=1000) == 3
    assert page_end(sizes, rows=100, size=25) == 3
    assert page_end(sizes, rows=100, size=1) == 1
    assert page_end(sizes, rows=100, size=1000) == 9


async def test_pages_follow_each_other_without_gap_or_overlap(one, monkeypatch):
    """Reading page by page gives the rows of one reading, in the order of their revisions."""
    monkeypatch.setattr("memoryd.store.lines.PAGE_ROWS", 4)
    for n in range(4):
        await one.note(f"memory/2026-02-0{n + 1}.md", f"A {n}\nB {n}\n")

    def read(store):
        found, position = [], 0
        while position < store.rev:
            rows, position = next_page(store, position, store.rev)
            found += rows
        revs = [rev for rev, _ in measure(store, 0, store.rev, 1000)]
        return found == rows_between(store, 0, store.rev), revs == sorted(set(revs)), len(found) == len(revs)

    assert await one.call(read) == (True, True, True)


async def test_the_lines_made_by_sql_are_those_of_the_row_types(one):
    """Every table, with quotes, control characters, 17 digits, NULLs, booleans and bytes that are no UTF-8."""
    nasty = 'He said "no"\\ \x01\t今天 😀 </script>'
    fact = fact_id(AGENT, nasty)
    await one.note("memory/2026-02-13.md", f"{nasty}\nPlain\n")

    def fill(tx):
        tx.run("UPDATE mentions SET importance = 0.1 + 0.2, code = ?, rev = ? WHERE n = 0", (nasty, tx.next_rev()))
        set_edit(tx, AGENT, fact, "importance", nasty)
        set_edit(tx, AGENT, fact, "pin", None)
        record_access(tx, AGENT, [fact], 20_000)
        set_hot_item(tx, AGENT, "projects", nasty, '{"a": [1, null]}')
        set_hot_item(tx, AGENT, "projects", "gone", None, deleted=True)
        set_tree_node(tx, AGENT, "birds/herons", nasty)
        set_tree_node(tx, AGENT, "birds/gone", "", deleted=True)
        forget_fact(tx, AGENT, fact_id(AGENT, "Plain"))
        for data in (b"caf\xe9 latin\n", b"nul \x00 inside\n", b""):
            sha = hashlib.sha256(data).hexdigest()
            tx.run("INSERT INTO chunks VALUES (?, ?, ?)", (sha, data, tx.next_rev()))
        delete_note(tx, AGENT, "memory/2026-02-13.md")

    await one.write(fill)
    await one.note("memory/2026-02-14.md", f"{nasty}\n")
    found, rows = await one.call(lambda store: (next_lines(store, 0, store.rev), rows_between(store, 0, store.rev)))

    assert {type(row) for row in rows} == set(get_args(Row))
    assert found.rows == len(rows)
    assert msgspec.json.Decoder(Row).decode_lines(found.lines) == rows

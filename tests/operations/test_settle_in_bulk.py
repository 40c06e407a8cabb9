"""Deriving by large steps, as in a restore without a daemon: the same memory as by small ones."""

from memoryd.operations import settle

NOTES = {
    "memory/2026-02-13.md": "".join(f"- [ ] Sighting {n} of a heron at https://h{n}.example/a\n" for n in range(30)),
    "memory/2026-02-14.md": "# Lake\n\n- Sighting 3 of a heron at https://h3.example/a\n- 苍鹭在湖边\n",
    "memory/robin/2026-02-13.md": "".join(f"- decided against lake {n} #birds\n" for n in range(20)),
}
DERIVED = "SELECT * FROM derived ORDER BY n"
ENTRIES = "SELECT rowid, body, headings, category, extra, agent FROM search_index ORDER BY rowid"
URLS = "SELECT rowid, url FROM url_index ORDER BY rowid"


async def all_anew(mind):
    """Nothing is derived any more, and everything waits."""

    def forget(store):
        with store.transaction() as tx:
            for table in ("derived", "search_index", "url_index"):
                tx.run(f"DELETE FROM {table}")
            tx.run("INSERT INTO dirty SELECT agent_id, id FROM facts")

    await mind.memory.thread.call(forget)


async def settled(mind):
    await all_anew(mind)
    await mind.memory.settler.settle(mind.clock.today())
    return [await mind.sql(sql) for sql in (DERIVED, ENTRIES, URLS)]


async def test_large_steps_derive_what_small_ones_do(mind, monkeypatch):
    """Wherever a step or a slice of it ends, between agents too, each fact is derived once and nothing waits."""
    monkeypatch.setattr(settle, "BULK", 17)
    monkeypatch.setattr(settle, "BULK_SLICE", 5)
    for path, text in NOTES.items():
        await mind.note(path, text)
    by_small_steps = await settled(mind)
    before = mind.memory.settler.steps

    async with mind.memory.thread.roomy(alone=True):
        by_large_steps = await settled(mind)

    assert by_large_steps == by_small_steps
    assert [len(rows) for rows in by_large_steps] == [51, 51, 30]
    assert mind.memory.settler.steps - before == 3
    assert await mind.sql("SELECT * FROM dirty") == []

"""Problems that others' tools had with sync and privacy, each reproduced here (docs/problems.md)."""

import asyncio
import base64
import hashlib
import re
import zlib

import httpx
import pytest
from memoryd.errors import CloudStoppedError, UnavailableError
from memoryd.model import fact_id
from memoryd.store.forget import forget_fact
from memoryd.store.notes import delete_note
from memoryd.sync.hrana import CloudError
from memoryd.sync.verify import verify

from .conftest import AGENT
from .test_faults import LosesReplies
from .test_restore import ingest, restore


async def test_sy2_rows_older_than_the_last_push_are_sent(peer):
    """Notes of old days, taken in before sync was turned on or after later ones, all leave; status counts rows."""
    one = await peer("one")
    await one.note("memory/2026-02-13.md", "Of today\n")
    await one.sync.exchange()
    for n in range(50):
        await one.note(f"memory/1999-01-{n % 28 + 1:02d}-{n}.md", f"Old sighting {n}\n")
    await one.sync.count()
    assert one.sync.status.pending_rows >= 200
    await one.sync.exchange()
    assert one.sync.status.pending_rows == 0
    two = await peer("two")
    await two.sync.exchange()
    assert len(await two.texts()) == 51


async def test_sy3_an_edit_of_a_synced_note_reaches_the_others(peer):
    """Also the second and third one."""
    one, two = await peer("one"), await peer("two")
    for version in ("First", "Second", "Third"):
        await one.note("memory/2026-02-13.md", f"{version} words\n")
        await one.sync.exchange()
        await two.sync.exchange()
        assert await two.texts() == {f"{version} words"}


async def test_sy4_a_shorter_history_in_the_cloud_deletes_nothing(peer, sqld):
    """An empty answer, or one without the newest segments, stops sync and asks; every local row stays."""
    one = await peer("one")
    for n in range(3):
        await one.note(f"memory/2026-02-0{n + 1}.md", f"Sighting {n}\n")
        await one.sync.exchange()
    before = await one.rows("SELECT * FROM mentions ORDER BY path, n")
    for damage in ("DELETE FROM segments WHERE idx > 1", "DELETE FROM segments", "DELETE FROM meta"):
        sqld.query(damage)
        with pytest.raises(CloudStoppedError) as caught:
            await one.sync.exchange()
        assert caught.value.hint
        assert await one.rows("SELECT * FROM mentions ORDER BY path, n") == before


async def test_sy5_a_delete_whose_reply_was_lost_does_not_rise_again(peer, sqld):
    """It is kept until it is confirmed, and "not fetched yet" is never "deleted here"."""
    one, two = await peer("one"), await peer("two")
    await one.note("memory/2026-02-13.md", "The heron fishes\n")
    await one.note("memory/2026-02-14.md", "The ibis came\n")
    await one.sync.exchange()
    await two.sync.exchange()
    transport = LosesReplies()
    real, one.sync.client._http = (
        one.sync.client._http,
        httpx.AsyncClient(transport=transport, headers={"Authorization": f"Bearer {sqld.token()}"}),
    )
    await real.aclose()
    await one.write(lambda tx: delete_note(tx, AGENT, "memory/2026-02-13.md"))
    with pytest.raises(UnavailableError):
        await one.sync.exchange()
    assert one.sync.status.pending_rows > 0
    transport.active = False
    for each in (one, two, one):
        await each.sync.exchange()
        assert await each.texts() == {"The ibis came"}

    three = await peer("three")
    real_query, asked = three.sync.client.query, []

    async def breaks_once(*statements):
        asked.append(1)
        if len(asked) == 4:
            raise CloudError("The cloud does not answer.")
        return await real_query(*statements)

    three.sync.client.query = breaks_once
    with pytest.raises(CloudError):
        await three.sync.exchange()
    await three.sync.exchange()
    for each in (three, one, two):
        await each.sync.exchange()
        assert await each.texts() == {"The ibis came"}


async def test_sy8_forgotten_text_does_not_return(peer, sqld, tmp_path):
    """Not by taking the note in again, not by a restore, not from a device that was away."""
    words = "The code word is hyrax"
    one, away = await peer("one"), await peer("away")
    for each in (one, away):
        await each.note("memory/2026-02-13.md", f"{words}\nStays\n")
        await each.sync.exchange()
    await one.write(lambda tx: forget_fact(tx, AGENT, fact_id(AGENT, words)))
    await one.note("memory/2026-02-13.md", f"{words}\nStays\n")
    await one.sync.exchange()
    await away.note("memory/2026-02-20.md", f"{words}\nMore\n")
    for each in (away, one, away):
        await each.sync.exchange()
    root = tmp_path / "workspace"
    root.mkdir()
    new = await peer("new")
    done = await restore(new, root, from_=await one.device())
    await ingest(new, root, ["memory/2026-02-13.md"])
    assert done.masked_lines == 1
    for each in (new, one, away, new):
        await each.sync.exchange()
    for each in (new, one, away):
        assert words not in await each.texts()
        assert await each.rows("SELECT * FROM facts WHERE text LIKE '%hyrax%'") == []
        assert (await verify(each.sync, deep=True)).differences == []
    assert "hyrax" not in (root / "memory/2026-02-13.md").read_text()
    assert sqld.query("SELECT count(*) FROM cold_memories WHERE text LIKE '%hyrax%'") == [["0"]]


async def test_what_leaves_is_exactly_what_the_receipts_say(peer, sqld):
    """The segments in the request bodies are the receipts' bytes and hashes, no more and no less."""
    bodies = []

    class Listens(httpx.AsyncHTTPTransport):
        async def handle_async_request(self, request):
            bodies.append(request.content)
            return await super().handle_async_request(request)

    one = await peer("one")
    await one.sync.client._http.aclose()
    one.sync.client._http = httpx.AsyncClient(transport=Listens(), headers={"Authorization": f"Bearer {sqld.token()}"})
    for n in range(4):
        await one.note("memory/2026-02-13.md", f"Sighting {n}\n")
        await one.sync.exchange()
    payloads = [
        base64.b64decode(text + b"=" * (-len(text) % 4))
        for body in bodies
        if b"INSERT INTO segments" in body
        for text in re.findall(rb'"base64":"([^"]*)"', body)
    ]
    sent, before = [], ""
    for payload in payloads:
        before = hashlib.sha256(before.encode() + payload).hexdigest()
        sent.append((before, len(payload), len(zlib.decompress(payload).splitlines())))
    assert sent == await one.rows("SELECT sha256, bytes, rows FROM receipts WHERE confirmed = 1 ORDER BY idx")
    assert one.sync.status.bytes_today == sum(map(len, payloads))


async def test_an_unexpected_error_is_logged_without_its_words(peer, caplog):
    """Type and place stand in the log; what the error says may be a note's text."""
    one = await peer("one")

    failed_twice = asyncio.Event()

    async def fails(*_):
        if one.sync.status.attempts:
            failed_twice.set()
        raise ValueError("The secret of the heron")

    async def sleeps(_):
        one.clock.advance(600)

    one.sync.client.query, one.sync._sleep = fails, sleeps
    running = asyncio.create_task(one.sync.run())
    await failed_twice.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert one.sync.status.state == "backoff"
    assert "ValueError in fails" in caplog.text
    assert "heron" not in caplog.text

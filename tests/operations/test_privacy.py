"""Secrets and copies: nothing of them reaches the database, the cloud or memory (SY-6 and SY-7)."""

import httpx

DAY = "memory/2026-02-13.md"


def secrets_of_all_kinds():
    """Made here from pieces, so that no scanner takes this file for a leak."""
    return [
        "AKIA" + "IOSFODNN7" + "EXAMPLQ",
        "ghp_" + "a1B2c3D4" * 4 + "e5F6",
        "sk-" + "proj-" + "Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1H",
        "hunter2" + "correcthorse",
        "pa55" + "w0rdInUrl",
    ]


async def test_sy7_no_secret_of_a_note_is_stored_or_sent(new_mind, sqld, monkeypatch, unpacked):
    """No needle stands in any file of the state folder, any request body (unpacked) or any file of the cloud."""
    bodies = []
    post = httpx.AsyncClient.post

    async def heard(self, url, **options):
        bodies.append(options["content"])
        return await post(self, url, **options)

    monkeypatch.setattr(httpx.AsyncClient, "post", heard)
    aws, github, openai, password, in_url = needles = secrets_of_all_kinds()
    one = await new_mind(url=sqld.url, token=sqld.token())
    await one.note(
        DAY,
        f"- The key is {aws}\n- token: {github}\n- OPENAI_API_KEY={openai}\n- password: {password}\n"
        f"- see https://ada:{in_url}@example.org/x\n- A plain line\n",
    )
    latin = one.workspace / "memory/2026-02-14.md"
    latin.write_bytes(f"- caf\xe9 password: {password}\n".encode("latin-1"))
    await one.memory.rescan()
    await one.ask("sync", wait=True)
    await one.ask("sync", dry_run=True)
    await one.sql("PRAGMA wal_checkpoint(TRUNCATE)")

    sent = [piece for body in bodies for piece in unpacked(body)]
    assert any(b"A plain line" in piece for piece in sent)
    assert any("caf\xe9".encode("latin-1") in piece for piece in sent)
    kept = [file for file in one.places.state.rglob("*") if file.is_file()]
    cloud = [file for file in sqld.folder.rglob("*") if file.is_file()]
    for needle in needles:
        assert needle in (one.workspace / DAY).read_text()
        assert not [piece for piece in sent if needle.encode() in piece]
        assert not [file for file in [*kept, *cloud] if needle.encode() in file.read_bytes()]
    assert sum(record.masked for record in one.memory.intake.records.values()) >= len(needles)


async def test_sy6_a_sync_conflict_copy_is_no_note(mind):
    """It is reported and left alone, and what it says is not memory."""
    await mind.note(DAY, "- The heron fishes\n")
    copy = "memory/2026-02-13.sync-conflict-20260213-120000-ABCDEFG.md"
    await mind.note(copy, "- The copy says this\n")
    assert set(await mind.facts()) == {"The heron fishes"}
    assert copy in mind.memory.intake.last_walk.conflicts
    assert (mind.workspace / copy).read_text() == "- The copy says this\n"

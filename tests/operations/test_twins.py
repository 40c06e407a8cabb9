"""Two names that look the same are two files; the second is listed and not taken in."""

import unicodedata

from memoryd.operations.twins import second_names

NFC, NFD = (unicodedata.normalize(form, "memory/2026-02-13-café.md") for form in ("NFC", "NFD"))


def test_the_composed_name_comes_first_and_a_known_one_before_it():
    """ASCII names have no twin; among twins the one that is in already stays."""
    assert second_names(["memory/2026-02-13.md", "memory/2026-02-13.md"], ()) == {}
    assert list(second_names([NFD, NFC], ())) == [NFD]
    assert list(second_names([NFC, NFD], {NFD})) == [NFC]
    assert second_names([NFD], ()) == {}


async def test_the_second_spelling_is_said_and_taken_in_when_the_first_is_gone(mind):
    """Status lists it as a name clash, its words are not memory, and nothing is deleted (docs/memory.md, 1)."""
    await mind.note(NFC, "- cup number one\n")
    second = await mind.note(NFD, "- cup number two\n")
    await mind.memory.hint([NFD])

    status = await mind.ask("status")
    assert await mind.hits("cup number") == ["cup number one"]
    assert [each["path"] for each in status["notes"]["quarantined"]] == [NFD]
    assert "name_clash" in {each["code"] for each in status["warnings"]}
    assert second.read_text() == "- cup number two\n"

    (mind.workspace / NFC).unlink()
    await mind.ask("rescan", confirm_deletes=True)

    assert await mind.hits("cup number") == ["cup number two"]
    assert (await mind.ask("status"))["notes"]["quarantined"] == []


async def test_a_save_and_its_latency_are_told(mind):
    """What a watcher hinted is listed with the time from its writing to being searchable; a scan lists nothing."""
    await mind.note("memory/2026-02-12.md", "- from the archive\n")
    file = mind.workspace / "memory/2026-02-13.md"
    file.write_text("- just saved\n")
    mind.clock.jump(file.stat().st_mtime + 0.4 - mind.clock.now_ms() / 1000)

    await mind.memory.hint(["memory/2026-02-13.md"])

    (save,) = (await mind.ask("status"))["saves"]
    assert save["path"] == "memory/2026-02-13.md"
    assert 0.3 < save["latency_s"] < 0.5

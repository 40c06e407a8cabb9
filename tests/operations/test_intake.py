"""Notes into memory: what changed is taken in, what vanished is held, what cannot be read is never deleted."""

import os
import unicodedata

import pytest

DAY = "memory/2026-02-13.md"


async def test_a_saved_note_is_found_and_a_removed_line_is_not(mind):
    """Search follows the file: new lines come, edited ones replace, removed ones leave."""
    await mind.note(DAY, "- The alpaca weighs 60 kg\n- The llama is called Rosa\n")
    assert "The alpaca weighs 60 kg" in await mind.hits("alpaca")

    await mind.note(DAY, "- The alpaca weighs 72 kg\n")

    assert await mind.hits("alpaca") == ["The alpaca weighs 72 kg"]
    assert await mind.hits("llama Rosa") == []


async def test_scanning_again_changes_nothing(mind):
    """A second scan reads nothing new and writes no row."""
    await mind.note(DAY, "- one fact\n")
    before = await mind.sql("SELECT rev FROM mentions UNION SELECT rev FROM notes")
    mind.clock.advance(10)

    reply = await mind.ask("rescan")

    assert reply["changed"] == 0
    assert await mind.sql("SELECT rev FROM mentions UNION SELECT rev FROM notes") == before


async def test_a_second_write_within_the_same_time_stamp_is_seen(mind):
    """Same size and stamps, other bytes: a stamp that is younger than 2 s is not trusted (IN-8, borg#3536)."""
    file = await mind.note(DAY, "- the word is aaaa\n")
    stamp = file.stat()
    mind.clock.jump(stamp.st_mtime - mind.clock.now_ms() / 1000)
    await mind.ask("rescan")
    with file.open("r+b") as opened:
        opened.write(b"- the word is bbbb\n")
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    await mind.ask("rescan")

    assert await mind.hits("bbbb") == ["the word is bbbb"]


async def test_many_notes_gone_at_once_are_held_and_believed_after_ten_minutes(mind):
    """More than half of five known notes: nothing is deleted until a second scan ten minutes later."""
    files = [await mind.note(f"memory/2026-02-{n:02}.md", f"- bird number {n} is a wren\n") for n in range(1, 7)]
    for file in files[:4]:
        file.unlink()

    reply = await mind.ask("rescan")
    assert reply["held"] == 4
    assert "bird number 1 is a wren" in await mind.hits("wren")
    mind.clock.advance(599)
    await mind.ask("rescan")
    assert "bird number 1 is a wren" in await mind.hits("wren")

    mind.clock.advance(2)
    await mind.ask("rescan")
    assert "bird number 1 is a wren" not in await mind.hits("wren")


async def test_a_confirmed_deletion_is_believed_at_once(mind):
    """`--confirm-deletes` ends the hold, and a file that comes back brings its facts back."""
    files = [await mind.note(f"memory/2026-02-{n:02}.md", f"- bird number {n} is a wren\n") for n in range(1, 7)]
    for file in files[:4]:
        file.unlink()
    await mind.ask("rescan")
    await mind.ask("rescan", confirm_deletes=True)
    assert "bird number 1 is a wren" not in await mind.hits("wren")

    await mind.note("memory/2026-02-01.md", "- bird number 1 is a wren\n")
    assert "bird number 1 is a wren" in await mind.hits("wren")


async def test_deleting_slowly_is_still_a_mass_deletion(mind):
    """Notes that vanish one look after the other within a minute are counted together."""
    files = [await mind.note(f"memory/2026-02-{n:02}.md", f"- bird number {n} is a wren\n") for n in range(1, 7)]
    for n, file in enumerate(files[:5]):
        file.unlink()
        mind.clock.advance(5)
        await mind.memory.hint([f"memory/2026-02-{n + 1:02}.md"])

    left = [text for text in await mind.hits("wren") if "bird number" in text]
    assert len(left) >= 3
    assert mind.memory.intake.hold.paths


async def test_one_deleted_note_of_many_leaves_at_once(mind):
    """Tidying up a single note is no accident."""
    files = [await mind.note(f"memory/2026-02-{n:02}.md", f"- bird number {n} is a wren\n") for n in range(1, 7)]
    files[0].unlink()

    await mind.memory.hint(["memory/2026-02-01.md"])

    assert "bird number 1 is a wren" not in await mind.hits("wren")
    assert await mind.sql("SELECT state FROM notes WHERE path = 'memory/2026-02-01.md'") == [("deleted",)]


async def test_a_note_that_becomes_empty_is_held(mind):
    """An editor that truncates before it writes, or an accident: the facts stay until it is certain."""
    await mind.note(DAY, "- the kettle is blue\n")
    await mind.note(DAY, "")

    assert "the kettle is blue" in await mind.hits("kettle")
    assert mind.memory.intake.hold.paths[DAY].reason == "it became empty"


async def _no_process():
    raise OSError


async def test_a_note_that_can_no_longer_be_parsed_is_held_for_that_reason(mind, monkeypatch):
    """Status told that it became empty, of a note full of words."""

    def fail(*_args, **_kwargs):
        raise KeyError

    await mind.note(DAY, "- the kettle is blue\n")
    monkeypatch.setattr("memoryd.operations.prepare.parse_note", fail)
    monkeypatch.setattr("memoryd.operations.preparing.ProcessReader.start", _no_process)
    await mind.note(DAY, "- the kettle is red\n")

    assert "the kettle is blue" in await mind.hits("kettle")
    assert "to parse" in mind.memory.intake.hold.paths[DAY].reason


async def test_an_empty_mount_point_deletes_nothing(mind):
    """The whole folder gone is an unplugged drive, not a wish (IN-6, syncthing#762)."""
    for n in range(1, 7):
        await mind.note(f"memory/2026-02-{n:02}.md", f"- bird number {n} is a wren\n")
    (mind.workspace / "memory").rename(mind.root / "unplugged")
    await mind.ask("rescan")
    (mind.workspace / "memory").mkdir()
    await mind.ask("rescan")

    assert len([text for text in await mind.hits("wren") if "bird number" in text]) == 6


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
async def test_an_unreadable_note_keeps_its_facts_and_is_named(mind):
    """EACCES means unknown, not gone (IN-4, IN-7, syncthing#4573)."""
    file = await mind.note(DAY, "- the kettle is blue\n")
    file.chmod(0)
    await mind.ask("rescan")

    assert "the kettle is blue" in await mind.hits("kettle")
    assert [each["path"] for each in (await mind.ask("status"))["notes"]["unreadable"]] == [DAY]


async def test_a_folder_in_a_notes_place_is_no_deletion(mind):
    """What is not a regular file is listed, and the others go on (WA-10)."""
    await mind.note("memory/2026-02-14.md", "- the good one\n")
    (mind.workspace / "memory" / "2026-02-15.md").mkdir()
    (mind.workspace / "memory" / "2026-02-16.md").symlink_to("/nonexistent")
    await mind.ask("rescan")

    skipped = {each["path"] for each in (await mind.ask("status"))["notes"]["skipped"]}
    assert "memory/2026-02-16.md" in skipped
    assert await mind.hits("good") == ["the good one"]


async def test_a_linked_memory_folder_is_followed_once(mind):
    """`memory` itself may lie in a vault elsewhere (WA-9)."""
    vault = mind.root / "vault"
    vault.mkdir()
    (vault / "2026-02-13.md").write_text("- from the vault\n")
    (mind.workspace / "memory").rmdir()
    (mind.workspace / "memory").symlink_to(vault)
    await mind.ask("rescan")

    assert await mind.hits("vault") == ["from the vault"]


async def test_a_linked_folder_among_the_notes_is_listed(mind):
    """It is not followed, and status names it (WA-9)."""
    (mind.root / "else").mkdir()
    (mind.root / "else/2026-02-13.md").write_text("- said elsewhere\n")
    (mind.workspace / "memory/carol").symlink_to(mind.root / "else")

    await mind.ask("rescan")

    assert "memory/carol" in {each["path"] for each in (await mind.ask("status"))["notes"]["skipped"]}
    assert await mind.hits("elsewhere") == []


async def test_a_folder_that_a_link_took_the_place_of_has_vanished(mind):
    """Its notes are held as if it were gone, and go when somebody says that they may (WA-9)."""
    for day in range(10, 13):
        await mind.note(f"memory/bob/2026-02-{day}.md", f"- Bob said {day}\n")
    (mind.workspace / "memory/bob").rename(mind.root / "bob")
    (mind.workspace / "memory/bob").symlink_to(mind.root / "bob")

    held = await mind.ask("rescan")
    await mind.memory.hint(["memory/bob/2026-02-10.md"])
    kept = list(await mind.facts("bob"))
    await mind.ask("rescan", confirm_deletes=True)

    assert held["held"] == 3
    assert len(kept) == 3
    assert {state for state, _ in (await mind.facts("bob")).values()} <= {"retracted"}
    assert (await mind.ask("status"))["notes"]["unreadable"] == []


async def test_extra_globs_are_walked_where_they_point_and_nowhere_else(mind):
    """A wildcard enters neither hidden folders nor those that tools fill, and follows no link (WA-7, WA-9)."""
    mind.settings.notes.extra = ["**/log.md", "web/node_modules/docs/*.md", "journals/*.md"]
    for path in (
        "projects/kestrel/log.md", "log.md", "projects/.git/log.md", "projects/node_modules/x/log.md", "venv/log.md",
        "web/node_modules/docs/api.md", "journals/one.md", "journals/deep/two.md", "projects/other.md",
    ):  # fmt: skip
        (mind.workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (mind.workspace / path).write_text(f"- said in {path}\n")
    (mind.workspace / "linked").symlink_to(mind.workspace / "projects")
    await mind.ask("rescan")

    assert set(mind.memory.intake.records) == {
        "projects/kestrel/log.md", "log.md", "web/node_modules/docs/api.md", "journals/one.md",
    }  # fmt: skip


async def test_a_chinese_path_works_everywhere(mind):
    """Names in Chinese round-trip through search, status and ledger (IN-1)."""
    path = "memory/2026-01-05-日记.md"
    await mind.note(path, "- 今天下雨\n")
    found = await mind.ask("retrieve", query="下雨")

    assert found[0]["sources"][0]["file"] == path
    assert (await mind.ask("ledger", file=str(mind.workspace / path)))["file"] == path


async def test_what_a_crash_left_to_derive_is_derived_at_the_next_start(mind):
    """Rows committed, derived values not: opening makes up for it."""
    await mind.note(DAY, "- one fact about gulls\n")
    await mind.sql("INSERT INTO dirty SELECT agent_id, id FROM facts")
    await mind.sql("DELETE FROM derived")
    await mind.sql("DELETE FROM search_index")
    await mind.close()
    await mind.open()

    assert await mind.hits("gulls") == ["one fact about gulls"]
    assert await mind.sql("SELECT count(*) FROM dirty") == [(0,)]


async def test_agents_that_differ_by_case_only_are_refused(mind):
    """On some file systems `Robin` and `robin` are one folder (ST-4)."""
    await mind.note("memory/Robin/2026-02-13.md", "- said by Robin\n")
    await mind.note("memory/robin/2026-02-13.md", "- said by robin\n")
    skipped = {each["path"]: each["reason"] for each in (await mind.ask("status"))["notes"]["skipped"]}

    assert list(skipped) == ["memory/robin/2026-02-13.md"]
    assert "case" in skipped["memory/robin/2026-02-13.md"]


async def test_of_two_forms_of_one_name_the_second_is_named_and_not_taken_in(mind):
    """NFC and NFD names side by side: the first is memory, the second is listed with its reason, never silent."""
    first, second = (unicodedata.normalize(form, "memory/2026-02-13-café.md") for form in ("NFC", "NFD"))
    await mind.note(first, "- cup number 0\n")
    await mind.note(second, "- cup number 1\n")
    notes = (await mind.ask("status"))["notes"]

    told = {each["path"]: each["reason"] for group in ("quarantined", "skipped") for each in notes[group]}
    assert await mind.hits("cup number") == ["cup number 0"]
    assert list(told) == [second]
    assert told[second]


async def test_a_hold_ends_when_the_notes_are_back(mind):
    """A folder moved away and put back leaves no hold behind that would later believe the next accident at once."""
    for n in range(1, 9):
        await mind.note(f"memory/2026-02-{n:02}.md", f"- bird number {n} is a wren\n")
    mind.clock.jump(10)
    await mind.ask("rescan")
    folder, aside = mind.workspace / "memory", mind.root / "aside"
    folder.rename(aside)
    assert (await mind.ask("rescan"))["held"] == 8
    aside.rename(folder)

    assert (await mind.ask("rescan"))["held"] == 0
    mind.clock.advance(700)
    folder.rename(aside)
    assert (await mind.ask("rescan"))["held"] == 8
    assert len([text for text in await mind.hits("wren") if "bird number" in text]) == 8

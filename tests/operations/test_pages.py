"""MEMORY.md: only the block changes, a hand edit wins, nobody plays ping-pong."""

import asyncio
import errno
import json
import os
import re

import pytest
from memoryd.operations import pages
from memoryd.tiers.page import managed_block

BLOCK = re.compile(r"<!-- memoryd:begin -->.*?<!-- memoryd:end -->", re.DOTALL)
LESSON = json.dumps({"text": "Measure twice", "category": "craft", "importance": 0.9})


async def test_a_page_is_made_only_when_there_is_something_to_say(mind):
    """A fresh workspace gets no page; the first lesson makes one."""
    await mind.note("memory/2020-02-13.md", "- nothing of weight\n")
    page = mind.workspace / "MEMORY.md"
    assert not page.exists()

    await mind.ask("hot", update=("lesson", LESSON))

    assert "Measure twice" in page.read_text("utf-8")


async def test_every_byte_outside_the_block_stays(mind):
    """Tabs, trailing blanks, CRLF and a missing final newline survive."""
    page = mind.workspace / "MEMORY.md"
    mine = b"\xef\xbb\xbf# My rules\r\n\r\n* Never on Fridays   \r\n\ttab, no newline at the end"
    page.write_bytes(mine)
    await mind.ask("rescan")
    await mind.ask("hot", update=("lesson", LESSON))
    data = page.read_bytes()

    assert data.startswith(mine)
    assert BLOCK.sub("", data.decode("utf-8-sig")).strip() == mine.decode("utf-8-sig").strip()


async def test_a_line_removed_from_the_block_by_hand_stays_removed(mind):
    """The person wins: what they struck out is out of hot state."""
    page = mind.workspace / "MEMORY.md"
    await mind.ask("hot", update=("lesson", LESSON))
    await mind.ask("hot", update=("lesson", json.dumps({"text": "Cut once"})))
    page.write_text(page.read_text("utf-8").replace("- **[craft]** Measure twice\n", ""), "utf-8")
    mind.clock.advance(10)
    await mind.ask("rescan")

    state = await mind.ask("hot")
    assert [each["text"] for each in state["critical_lessons"]] == ["Cut once"]
    assert "Measure twice" not in page.read_text("utf-8")


async def test_a_line_added_to_the_block_by_hand_becomes_a_lesson(mind):
    """What they wrote into the block is in hot state and searchable."""
    page = mind.workspace / "MEMORY.md"
    await mind.ask("hot", update=("lesson", LESSON))
    text = page.read_text("utf-8")
    page.write_text(
        text.replace("- **[craft]** Measure twice", "- **[craft]** Measure twice\n- Sharpen the saw"), "utf-8"
    )
    mind.clock.advance(10)
    await mind.ask("rescan")

    state = await mind.ask("hot")
    assert {each["text"] for each in state["critical_lessons"]} == {"Measure twice", "Sharpen the saw"}
    assert "Sharpen the saw" in await mind.hits("saw")


async def test_the_page_is_written_only_when_its_content_changes(mind):
    """Scans, reads and another day's score leave the file alone."""
    page = mind.workspace / "MEMORY.md"
    await mind.ask("hot", update=("lesson", LESSON))
    before = page.stat()
    for _ in range(3):
        mind.clock.advance(60)
        await mind.ask("rescan")
        await mind.hits("measure")

    assert page.stat().st_ctime_ns == before.st_ctime_ns


async def test_a_block_of_another_memoryd_stands_until_our_own_hot_state_changes(mind, new_mind):
    """A page that comes from another device is not rewritten in a loop."""
    await mind.ask("hot", update=("lesson", LESSON))
    other = await new_mind()
    page = other.workspace / "MEMORY.md"
    page.write_bytes((mind.workspace / "MEMORY.md").read_bytes())
    await other.ask("rescan")
    assert page.read_bytes() == (mind.workspace / "MEMORY.md").read_bytes()

    await other.ask("hot", update=("lesson", json.dumps({"text": "Cut once"})))
    assert "Cut once" in page.read_text("utf-8")


async def test_a_block_taken_out_by_hand_stays_out_until_something_changes(mind):
    """Deleting the block is an edit too."""
    page = mind.workspace / "MEMORY.md"
    page.write_text("# Mine\n", "utf-8")
    await mind.ask("hot", update=("lesson", LESSON))
    page.write_text("# Mine\n", "utf-8")
    mind.clock.advance(10)
    await mind.ask("rescan")
    assert page.read_text("utf-8") == "# Mine\n"


async def test_the_lines_of_the_block_are_no_new_facts(mind):
    """Our own output is never read as memory (TR-7)."""
    await mind.ask("hot", update=("lesson", LESSON))
    await mind.ask("rescan")

    assert len(await mind.sql("SELECT id FROM facts")) == 1


async def test_another_agents_page_is_its_own(mind):
    """`MEMORY-robin.md` holds robin's hot state only."""
    await mind.ask("hot", agent_id="robin", update=("lesson", LESSON))

    assert "Measure twice" in (mind.workspace / "MEMORY-robin.md").read_text("utf-8")
    assert not (mind.workspace / "MEMORY.md").exists()


async def test_a_mark_that_lost_its_partner_hides_nobodys_lines(mind):
    """After a deleted end mark the person's lines below are still facts, wherever the new block goes."""
    page = mind.workspace / "MEMORY.md"
    page.write_text("# P\n- top line\n", "utf-8")
    await mind.ask("rescan")
    await mind.ask("hot", update=("lesson", LESSON))
    text = page.read_text("utf-8").replace("<!-- memoryd:end -->\n", "") + "\n## Mine\n- keepmetoo below\n"
    page.write_text(text, "utf-8")
    mind.clock.advance(10)
    await mind.ask("rescan")
    await mind.ask("hot", update=("lesson", json.dumps({"text": "Cut once"})))

    assert await mind.hits("keepmetoo") == ["keepmetoo below"]
    assert "top line" in await mind.hits("top line")
    assert "- keepmetoo below\n" in page.read_text("utf-8")


async def test_a_page_that_could_not_be_written_is_written_once_there_is_room(mind, monkeypatch):
    """A full disk is told in status and made up for at the next scan, without a new lesson."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(pages, "rewrite_page", full)
        await mind.ask("hot", update=("lesson", LESSON))
    assert not (mind.workspace / "MEMORY.md").exists()
    assert "No space left" in repr((await mind.ask("status"))["warnings"])

    await mind.ask("rescan")

    assert "Measure twice" in (mind.workspace / "MEMORY.md").read_text("utf-8")
    assert "No space left" not in repr((await mind.ask("status"))["warnings"])


async def test_a_line_that_is_reworded_back_and_forth_is_never_lost(mind):
    """The words that stand on the page now are the current ones, however often they stood there before."""
    await mind.ask("hot", update=["lesson", json.dumps({"text": "Measure twice", "importance": 0.9})])
    page = mind.workspace / "MEMORY.md"
    now = "Measure twice"
    for then in ("Measure thrice", "Measure twice", "Measure thrice"):
        mind.clock.advance(5)
        page.write_text(page.read_text("utf-8").replace(now, then), "utf-8")
        await mind.ask("rescan")

        now = then
        assert [each["text"] for each in (await mind.ask("hot"))["critical_lessons"]] == [now]
        assert now in page.read_text("utf-8")
        assert await mind.hits("measure") == [now]
    assert (await mind.outcome("audit")).exit_code == 0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("identity", {"motto": "a\0b"}),
        ("owner_profile", {"likes": ["a\0b", {"c\0d": "\0\0"}]}),
        ("project", {"name": "kestrel", "status": "a\0b"}),
        ("lesson", {"text": "Measure a\0b twice"}),
    ],
)
async def test_a_nul_in_what_comes_in_does_not_stop_the_page(mind, key, value):
    """It becomes U+FFFD, and the page follows."""
    await mind.ask("hot", update=(key, json.dumps(value)))

    assert "a\ufffdb" in (mind.workspace / "MEMORY.md").read_text("utf-8")
    assert await mind.sql(r"SELECT 1 FROM hot_items WHERE value LIKE '%\u0000%'") == []
    await mind.ask("store", text="The kettle is blue", category="home")


async def test_letters_that_look_like_an_escaped_nul_stay(mind):
    r"""`\\u0000` in JSON is a backslash and five letters."""
    await mind.ask("hot", update=("identity", r'{"motto": "\\u0000 \\\u0000"}'))

    assert (await mind.ask("hot"))["identity"] == {"motto": "\\u0000 \\\ufffd"}


async def test_a_nul_that_is_in_the_rows_already_does_not_stop_the_page(mind):
    """From an older version or another device; a block that was written with one is written anew."""
    await mind.ask("hot", update=("identity", '{"motto": "a?b", "lead": "x"}'))
    await mind.sql(r"UPDATE hot_items SET value = replace(value, '?', '\u0000')")
    body = (await mind.sql("SELECT body FROM blocks"))[0][0].replace("a?b", "a\0b")
    page = mind.workspace / "MEMORY.md"
    page.write_text(managed_block(body) + "\n", "utf-8")
    await mind.ask("rescan")

    await mind.ask("hot", update=("lesson", LESSON))

    assert "- **Motto:** a\ufffdb\n" in page.read_text("utf-8")
    assert "\0" not in page.read_text("utf-8")
    page.write_text(page.read_text("utf-8").replace("- **Lead:** x\n", "- **Lead:** y\n"), "utf-8")
    await mind.ask("rescan")
    assert (await mind.ask("hot"))["identity"]["lead"] == "y"


async def test_an_undo_brings_no_nul_back(mind):
    """What an older version kept is cured on its way."""
    await mind.ask("hot", update=("identity", '{"motto": "a?b"}'))
    await mind.sql(r"UPDATE hot_items SET value = replace(value, '?', '\u0000')")
    await mind.ask("hot", update=("identity", '{"motto": "c"}'))

    await mind.ask("undo")

    assert (await mind.ask("hot"))["identity"] == {"motto": "a\ufffdb"}


@pytest.mark.parametrize("seconds", [-1e15, -63_000_000_000, 1e15])
async def test_an_event_of_a_time_that_no_date_has_does_not_stop_the_page(mind, seconds):
    """Such a time can stand in rows of an older version or another device."""
    await mind.ask("hot", update=("event", '{"text": "The kiln was lit"}'))
    await mind.sql("UPDATE hot_items SET value = ?", json.dumps({"timestamp": seconds}))

    await mind.ask("hot", update=("event", '{"text": "The kiln was cold"}'))

    assert "The kiln was lit" in (mind.workspace / "MEMORY.md").read_text("utf-8")
    await mind.ask("hot", update=("event", '{"text": "The kiln was lit"}'))


@pytest.mark.parametrize("value", ["5", '"hot"', "[1]", '{"status": "hot"}', '{"name": null}', "null", None])
async def test_a_project_of_another_shape_does_not_stop_the_page(mind, value):
    """An import or another device can bring any JSON."""
    await mind.ask("hot", update=("project", '{"name": "kestrel"}'))
    await mind.sql("UPDATE hot_items SET value = ?", value)

    await mind.ask("hot", update=("identity", '{"motto": "Measure twice"}'))

    assert "- **Motto:** Measure twice" in (mind.workspace / "MEMORY.md").read_text("utf-8")
    assert len((await mind.ask("hot"))["active_context"]["projects"]) == 1


async def test_a_nul_typed_into_the_block_loses_nothing_and_is_told(mind, caplog):
    """It is read as U+FFFD, as everywhere; the edited field has its new value, and other control characters stay."""
    await mind.ask("hot", update=("identity", '{"name": "Kestrel", "mood": "fine"}'))
    await mind.ask("hot", update=("lesson", LESSON))
    page = mind.workspace / "MEMORY.md"
    text = page.read_text("utf-8").replace("Kestrel", "Kes\0trel").replace("fine", "fi\x08ne")
    page.write_text(text.replace("Measure twice", "Measure twice\n- Cut\0 once\n- Ring the \x07 bell"), "utf-8")

    await mind.ask("rescan")

    state = await mind.ask("hot")
    assert state["identity"] == {"name": "Kes\ufffdtrel", "mood": "fi\x08ne"}
    lessons = {"Measure twice", "Cut\ufffd once", "Ring the \x07 bell"}
    assert {each["text"] for each in state["critical_lessons"]} == lessons
    assert "\0" not in page.read_text("utf-8")
    assert "MEMORY.md: 2 NUL characters in its block are read as U+FFFD" in caplog.text
    written = page.read_bytes()
    await mind.ask("rescan")
    assert page.read_bytes() == written


async def test_bytes_that_are_no_utf_8_remove_nothing_from_their_section(mind, caplog):
    """The line moves below the block as it is; what it may have been meant to replace stays."""
    await mind.ask("hot", update=("identity", '{"name": "Kestrel"}'))
    await mind.ask("hot", update=("lesson", LESSON))
    await mind.ask("hot", update=("lesson", '{"text": "Sleep well"}'))
    page = mind.workspace / "MEMORY.md"
    data = page.read_bytes().replace(b"Kestrel", b"Kestr\xe9l")
    page.write_bytes(data.replace(b"- **[general]** Sleep well\n", b""))

    await mind.ask("rescan")

    state = await mind.ask("hot")
    assert state["identity"] == {"name": "Kestrel"}
    assert [each["text"] for each in state["critical_lessons"]] == ["Measure twice"]
    assert page.read_bytes().rstrip().endswith(b"<!-- memoryd:end -->\n\n- **Name:** Kestr\xe9l")
    assert "1 lines of its block are no UTF-8" in caplog.text


def _linked(page):
    (page.parent.parent / "elsewhere.md").write_text("# Mine\n")
    page.symlink_to(page.parent.parent / "elsewhere.md")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_linked, "a link inside the notes is not followed"),
        (lambda page: page.symlink_to(page.parent / "nowhere.md"), "a link inside the notes is not followed"),
        (lambda page: page.mkdir(), "Is a directory"),
        (os.mkfifo, "it is no regular file"),
        (lambda page: (page.write_text("# Mine\n"), page.chmod(0o444)), "it is read-only"),
    ],
    ids=["link", "dangling link", "folder", "pipe", "read-only"],
)
async def test_a_page_that_is_no_file_to_write_is_told_and_left_alone(mind, make, reason):
    """Nothing hangs, nothing is written through it, and it is kept up to date once it is a plain file again."""
    page = mind.workspace / "MEMORY.md"
    make(page)
    before = page.lstat()

    async with asyncio.timeout(10):
        await mind.ask("hot", update=("lesson", LESSON))
        await mind.memory.rescan()

    (warning,) = (await mind.ask("status"))["warnings"]
    assert warning["code"] == "page"
    assert reason in warning["message"]
    assert (page.lstat().st_mode, page.lstat().st_ino) == (before.st_mode, before.st_ino)
    elsewhere = mind.root / "elsewhere.md"
    assert not elsewhere.exists() or elsewhere.read_text() == "# Mine\n"
    assert (await mind.ask("hot"))["critical_lessons"][0]["text"] == "Measure twice"

    page.rmdir() if page.is_dir() else page.unlink()
    page.write_text("# Mine\n")
    await mind.memory.rescan()

    assert (await mind.ask("status"))["warnings"] == []
    assert "Measure twice" in page.read_text("utf-8")


async def test_a_pipe_in_the_place_of_a_page_that_was_written_is_told(mind):
    """Also where there is nothing new to write."""
    await mind.ask("hot", update=("lesson", LESSON))
    page = mind.workspace / "MEMORY.md"
    page.unlink()
    os.mkfifo(page)

    async with asyncio.timeout(10):
        await mind.memory.rescan()

    (warning,) = (await mind.ask("status"))["warnings"]
    assert warning["message"] == "MEMORY.md is neither read nor kept up to date: not a regular file."


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o664])
async def test_a_page_stays_as_open_as_it_was(mind, mode):
    """The daemon's own umask, which keeps its files private, is not the page's."""
    page = mind.workspace / "MEMORY.md"
    page.write_text("# Mine\n")
    page.chmod(mode)
    usual = os.umask(0o077)
    try:
        await mind.ask("hot", update=("lesson", LESSON))
    finally:
        os.umask(usual)

    assert "Measure twice" in page.read_text("utf-8")
    assert page.stat().st_mode & 0o777 == mode

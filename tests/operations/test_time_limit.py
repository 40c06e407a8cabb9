"""A note that hangs the parser, or ends it, stops nobody (IN-5). The parser hangs in the real process."""

import sys
import time

import pytest
from memoryd.config import NotesSettings, Settings
from memoryd.ingest import parse
from memoryd.operations import preparing, reading

_LIMIT_S = 0.4
_FAULTS = """
import os, time
from memoryd.ingest import mask, parse
from memoryd.operations import prepare, reading
def faulty(whole):
    def run(data, *args, **named):
        while b"MAKES IT HANG" in data or (whole is mask_bytes and b"MASKING TOO" in data):
            time.sleep(0.01)
        if b"ENDS THE PROCESS" in data:
            os._exit(9)
        return whole(data, *args, **named)
    return run
mask_bytes, parse_note = mask.mask_bytes, parse.parse_note
prepare.parse_note = faulty(parse_note)
prepare.mask_bytes = lambda data: faulty(mask_bytes)(data.replace(b"MAKES IT HANG", b"").replace(b"ENDS THE", b""))
reading.main()
"""
"""A process like the real one, but that these words in a note make its parser hang, or end it."""


@pytest.fixture(autouse=True)
def _faulty_parser(monkeypatch):
    monkeypatch.setattr(reading, "COMMAND", (sys.executable, "-P", "-c", _FAULTS))
    monkeypatch.setattr(preparing, "LARGE_NOTE", 5_000)


@pytest.fixture
async def hurried(new_mind):
    """A memory that gives a note 0.4 s."""
    return await new_mind(Settings(notes=NotesSettings(max_ingest_seconds=_LIMIT_S)))


def _write(mind, count: int, bad: dict[int, str]) -> list[str]:
    names = [f"memory/2025-{1 + n // 28:02}-{1 + n % 28:02}.md" for n in range(count)]
    for n, name in enumerate(names):
        text = f"- hay {n}\n- {bad[n]}\n- password: hunter2x{n}\n" if n in bad else f"- hay {n}\n"
        (mind.workspace / name).write_text(text)
    return names


async def test_a_note_that_hangs_the_process_leaves_the_others_in(hurried):
    """IN-5: of a long queue all but the slow note are in; it is `too_large` with the limit, backed up and named."""
    names = _write(hurried, 60, {30: "MAKES IT HANG"})

    await hurried.memory.rescan()

    status = await hurried.ask("status")
    assert len(await hurried.facts()) == 59
    assert [each["path"] for each in status["notes"]["quarantined"]] == [names[30]]
    assert "takes longer than 0.4 s to parse" in status["notes"]["quarantined"][0]["reason"]
    assert "backed up" in status["notes"]["quarantined"][0]["reason"]
    assert status["pending"] == 0
    ((state, size),) = await hurried.sql("SELECT state, size FROM notes WHERE path = ?", names[30])
    assert (state, size) == ("too_large", (hurried.workspace / names[30]).stat().st_size)
    ((stored,),) = await hurried.sql("SELECT data FROM chunks WHERE instr(data, 'hay 30') > 0")
    assert b"[masked:password:" in stored


async def test_a_note_that_ends_the_process_leaves_the_others_in(hurried):
    """IN-5: what kills the reader is not tried in the daemon itself."""
    names = _write(hurried, 60, {0: "ENDS THE PROCESS", 59: "ENDS THE PROCESS"})

    await hurried.memory.rescan()

    status = await hurried.ask("status")
    assert len(await hurried.facts()) == 58
    assert {each["path"] for each in status["notes"]["quarantined"]} == {names[0], names[59]}


async def test_a_saved_note_that_hangs_is_ended_too(hurried):
    """IN-5: a process that can be ended reads a single large note; where not even masking ends, nothing is kept."""
    path = "memory/2026-02-13.md"

    await hurried.note(path, "- MAKES IT HANG MASKING TOO\n" + "- hay\n" * 1_000)

    status = await hurried.ask("status")
    assert [each["path"] for each in status["notes"]["quarantined"]] == [path]
    assert "neither parsed nor backed up" in status["notes"]["quarantined"][0]["reason"]
    assert len(hurried.memory.intake.records[path].raw_sha256) == 64
    assert await hurried.sql("SELECT count(*) FROM chunks") == [(0,)]


async def test_a_slow_note_is_tried_again_when_its_bytes_change(hurried, monkeypatch):
    """IN-5, IN-9: the same bytes are never parsed twice, others at once."""
    path = "memory/2026-02-13.md"
    await hurried.note(path, "- MAKES IT HANG\n" + "- hay\n" * 1_000)
    with monkeypatch.context() as patch:
        patch.setattr("memoryd.operations.prepare.parse_note", None)
        patch.setattr(reading, "COMMAND", ("/nonexistent",))
        await hurried.memory.rescan()  # its stamp is young: it is read, and known by its hash

    assert hurried.memory.intake.records[path].state == "too_large"
    warned = {each["code"]: each["message"] for each in (await hurried.ask("status"))["warnings"]}
    assert path in warned["too_large"]

    await hurried.note(path, "- straw\n")

    assert list(await hurried.facts()) == ["straw"]
    assert (await hurried.ask("status"))["notes"]["quarantined"] == []


async def test_a_small_note_that_hangs_its_thread_goes_to_a_process(hurried, monkeypatch):
    """IN-5: the thread is left behind, the process is ended, and the other notes are in."""
    stop = time.monotonic() + 20
    real = parse.parse_note

    def hang(data, **named):
        while b"MAKES IT HANG" in data and time.monotonic() < stop:
            time.sleep(0.01)
        return real(data, **named)

    monkeypatch.setattr("memoryd.operations.prepare.parse_note", hang)
    names = _write(hurried, 3, {1: "MAKES IT HANG"})

    await hurried.memory.rescan()
    stop = 0.0

    assert len(await hurried.facts()) == 2
    assert hurried.memory.intake.records[names[1]].state == "too_large"


async def test_commands_that_name_a_slow_note_answer(hurried, monkeypatch, tmp_path):
    """The ledger counts its lines, and why-not names the limit, without parsing it again; so of a file elsewhere."""
    path, text = "memory/2026-02-13.md", "- MAKES IT HANG\n" + "- hay\n" * 1_000
    (tmp_path / "wild.md").write_text(text)
    await hurried.note(path, text)

    elsewhere = (await hurried.ask("ledger", file=str(tmp_path / "wild.md")))["totals"]
    monkeypatch.setattr("memoryd.operations.prepare.parse_note", None)
    monkeypatch.setattr(reading, "COMMAND", ("/nonexistent",))
    totals = (await hurried.ask("ledger", file=path))["totals"]
    answer = await hurried.ask("why-not", sentence="MAKES IT HANG")

    assert totals == elsewhere == {"too_large": 1_001}
    assert answer["places"][0]["state"] == "too_large"
    assert "0.4 s" in answer["reason"]

"""A long queue is read by a process of its own, and nothing depends on its life (docs/architecture.md)."""

import asyncio
import io
import logging
import os
import signal
from contextlib import aclosing
from pathlib import Path

import msgspec
import pytest
from memoryd.config import NotesSettings
from memoryd.ingest import parse
from memoryd.ingest.names import classify
from memoryd.operations import reading
from memoryd.operations.prepare import Prepared
from memoryd.operations.preparing import LONG_QUEUE, Preparer
from memoryd.operations.reading import Batch, Job, ThreadReader, work
from memoryd.operations.unfinished import Unfinished

_MANY = LONG_QUEUE + 30


def _write(folder: Path, count: int = _MANY) -> list[str]:
    (folder / "memory").mkdir(parents=True, exist_ok=True)
    paths = [f"memory/2025-{1 + n // 28:02}-{1 + n % 28:02}.md" for n in range(count)]
    for n, path in enumerate(paths):
        (folder / path).write_text(f"# {path[7:17]}\n- 浇花 number {n}\n- password: hunter2x{n}\n", "utf-8")
    return paths


def _job(path: str) -> Job:
    return Job(path, classify(path), None)


def _unfinished(folder: Path, *suspects: str) -> Unfinished:
    (folder / "reading").write_bytes(b"\0".join(map(os.fsencode, suspects)))
    unfinished = Unfinished(folder / "reading")
    unfinished.load()
    return unfinished


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def _all(preparer: Preparer, paths: list[str], on_batch=lambda number: None) -> dict[str, Prepared]:
    found = {}
    batches = [paths[at : at + 16] for at in range(0, len(paths), 16)]
    number = 0
    async for _, prepared in preparer.in_turn(batches, _job, lambda: 1_000):
        found.update({each.path: each for each in prepared})
        on_batch(number)
        number += 1
    return found


async def test_the_process_prepares_what_a_thread_would(tmp_path):
    """Whatever goes through the pipes arrives unchanged, and the process ends with the queue."""
    paths = _write(tmp_path)
    (tmp_path / paths[3]).write_bytes(b"\xff\xfe bad \0 bytes \xed\xa0\x80\n- x\n")
    (tmp_path / paths[4]).unlink()
    batch = Batch(str(tmp_path), NotesSettings(), 1_000, [_job(path) for path in paths])
    here = [batch.prepared(job) for job in batch.jobs]

    async with Preparer(tmp_path, NotesSettings(), len(paths), _unfinished(tmp_path)) as preparer:
        pid = preparer.pid
        there = await _all(preparer, paths)

    assert pid
    assert not _is_alive(pid)
    assert msgspec.to_builtins(list(there.values())) == msgspec.to_builtins(here)


async def test_a_queue_outlives_its_process(tmp_path, caplog):
    """When the process is killed in the middle, another one prepares the rest, and the log says so."""
    paths = _write(tmp_path)

    async with Preparer(tmp_path, NotesSettings(), len(paths), _unfinished(tmp_path)) as preparer:
        with caplog.at_level(logging.WARNING):
            found = await _all(preparer, paths, lambda n: n == 1 and os.kill(preparer.pid, signal.SIGKILL))

    assert sorted(found) == sorted(paths)
    assert all(each.parsed is not None for each in found.values())
    assert "The reader of" in caplog.text


async def test_without_a_process_to_be_had_a_thread_does_it(tmp_path, monkeypatch, caplog):
    """At the limit of tasks the queue is read all the same."""
    paths = _write(tmp_path)

    async def refuse(*_args, **_more):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", refuse)
    async with Preparer(tmp_path, NotesSettings(), len(paths), _unfinished(tmp_path)) as preparer:
        found = await _all(preparer, paths)

    assert len(found) == len(paths)
    assert "no process can be started" in caplog.text


@pytest.mark.parametrize("queued", [0, 1, LONG_QUEUE])
async def test_a_short_queue_starts_no_process(tmp_path, queued):
    """A saved note, or fifty, are not worth a process."""
    async with Preparer(tmp_path, NotesSettings(), queued, _unfinished(tmp_path)) as preparer:
        assert preparer.pid == 0


async def test_a_name_that_no_frame_holds_is_prepared_here(tmp_path, caplog):
    """A file name that is not UTF-8 stops neither its batch nor the queue."""
    paths = _write(tmp_path)
    odd = os.fsdecode(b"memory/2024-01-01-\xff.md")
    (tmp_path / odd).write_text("- tea\n")

    async with Preparer(tmp_path, NotesSettings(), len(paths), _unfinished(tmp_path)) as preparer:
        (found,) = await preparer.prepare([Job(odd, classify(odd), None)], 1_000)

    assert found.parsed is not None
    assert [each.text for each in found.parsed.mentions] == ["tea"]


def test_work_ends_when_the_pipe_does(tmp_path):
    """An orphaned process sees the end of its pipe and stops."""
    target = io.BytesIO()

    work(io.BytesIO(), target)

    assert target.getvalue() == b"\1"


def _raise(*_, **__):
    raise KeyError("the kettle is blue")


async def test_a_parser_that_fails_puts_no_words_into_the_log(tmp_path, caplog, monkeypatch):
    """The message of an error may quote the note: its type and place are told, by the thread and by the process."""
    (name,) = _write(tmp_path, 1)
    monkeypatch.setattr("memoryd.operations.prepare.parse_note", _raise)
    frame = msgspec.msgpack.encode(Batch(str(tmp_path), NotesSettings(), 0, [_job(name)]))

    async with aclosing(ThreadReader().answers(Batch(str(tmp_path), NotesSettings(), 0, [_job(name)]))) as answers:
        with pytest.raises(EOFError):
            await anext(answers)
    with pytest.raises(SystemExit) as ended:
        work(io.BytesIO(len(frame).to_bytes(8) + frame), io.BytesIO())

    for told in (caplog.text, str(ended.value)):
        assert f"{name} cannot be parsed: KeyError in _raise" in told
        assert "kettle" not in told


async def test_newer_words_win_over_prepared_ones(mind):
    """A note that is saved and taken in after it was prepared ahead is not set back to its older words."""
    paths = _write(mind.workspace)
    intake = mind.memory.intake
    late = sorted(paths, reverse=True)[20]
    settle, calls = intake.after_batch, []

    async def save_the_late_one() -> None:
        if not calls:
            calls.append(late)
            (mind.workspace / late).write_text("- the newest words\n", "utf-8")
            await intake.look_at([late])
        await settle()

    intake.after_batch = save_the_late_one
    await mind.memory.rescan()

    rows = await mind.sql(
        "SELECT f.text FROM mentions m JOIN facts f ON f.agent_id = m.agent_id AND f.id = m.fact_id WHERE m.path = ?",
        late,
    )
    assert rows == [("the newest words",)]
    assert len(intake.records) == _MANY


async def test_what_a_thread_reads_is_written_down_as_long(tmp_path, monkeypatch):
    """The names of the notes stand in the file while they are parsed, whatever bytes they have, and not after."""
    paths = [*_write(tmp_path, 2), os.fsdecode(b"memory/2024-01-01-\xff.md")]
    (tmp_path / paths[2]).write_text("- tea\n")
    seen = []
    real = parse.parse_note
    monkeypatch.setattr(
        "memoryd.operations.prepare.parse_note",
        lambda data, **named: seen.append((tmp_path / "reading").read_bytes()) or real(data, **named),
    )

    async with Preparer(tmp_path, NotesSettings(), 3, _unfinished(tmp_path)) as preparer:
        await preparer.prepare([_job(path) for path in paths], 1_000)

    both = b"\0".join(os.fsencode(path) for path in sorted(paths[:2]))
    assert seen == [both, both, os.fsencode(paths[2])]
    assert not (tmp_path / "reading").exists()


async def test_a_note_that_ended_an_earlier_process_is_read_by_one_of_its_own(tmp_path):
    """The queue of it goes to a process, and its name stays written down until all has its state."""
    paths = _write(tmp_path, 3)
    unfinished = _unfinished(tmp_path, paths[1])

    async with Preparer(tmp_path, NotesSettings(), 3, unfinished) as preparer:
        done = await preparer.prepare([_job(path) for path in paths], 1_000)
        assert preparer.pid

    assert all(each.parsed is not None for each in done)
    assert (tmp_path / "reading").read_bytes() == paths[1].encode()
    unfinished.acquit()
    assert not (tmp_path / "reading").exists()


@pytest.mark.parametrize("why", ["no process is to be had", "no frame holds its name"])
async def test_a_note_that_ended_an_earlier_process_is_never_read_here(tmp_path, monkeypatch, why):
    """Where no process can read it, it is given up with a reason, and the others are read."""
    paths = _write(tmp_path, 3)
    if why == "no process is to be had":
        monkeypatch.setattr(reading, "COMMAND", ("/nonexistent",))
    else:
        paths[1] = os.fsdecode(b"memory/2024-01-01-\xff.md")
        (tmp_path / paths[1]).write_text("- tea\n")

    async with Preparer(tmp_path, NotesSettings(), 3, _unfinished(tmp_path, paths[1])) as preparer:
        found = {each.path: each async for _, some in preparer.in_turn([paths], _job, lambda: 1_000) for each in some}

    assert sorted(found) == sorted(paths)
    assert [path for path in paths if found[path].parsed is None] == [paths[1]]
    assert found[paths[1]].record.state == "too_large"
    assert "ends the process" in found[paths[1]].record.reason


async def test_a_scan_that_ends_does_not_acquit_what_waits_in_a_queue_beside_it(tmp_path, monkeypatch):
    """A note that is set aside there is still not read here."""
    monkeypatch.setattr(reading, "COMMAND", ("/nonexistent",))
    paths = _write(tmp_path, 2)
    unfinished = _unfinished(tmp_path, paths[1])

    async with Preparer(tmp_path, NotesSettings(), 2, unfinished) as preparer:
        done = await preparer.prepare([_job(path) for path in paths], 1_000)
        unfinished.acquit()
        late = [each async for _, some in preparer.in_turn([], _job, lambda: 1_000) for each in some]

    assert [each.path for each in done] == paths[:1]
    assert [(each.path, each.parsed, each.record.state) for each in late] == [(paths[1], None, "too_large")]


def test_a_file_that_cannot_be_written_or_read_stops_nobody(tmp_path, caplog):
    """What is read is told for the case of a crash only: without room for it reading goes on."""
    (tmp_path / "reading").mkdir()
    unfinished = Unfinished(tmp_path / "reading")

    unfinished.load()
    with unfinished.reading(["memory/2026-02-13.md"]):
        pass

    assert unfinished.suspects == frozenset()
    assert "cannot be read" in caplog.text

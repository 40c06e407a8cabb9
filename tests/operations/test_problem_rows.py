"""Problems of other tools' users (docs/problems.md), replayed on a whole memory: a state each, never a crash."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from memoryd.config import NotesSettings, Settings
from memoryd.errors import StoreError
from memoryd.operations import prepare, records
from memoryd.operations.batch_writer import BatchWriter

_SCAN = """
import asyncio, sys
from pathlib import Path
from memoryd.config import Settings
from memoryd.places import Places
from memoryd.operations.memory import Memory

async def main(root):
    places = Places("default", root / "state", root / "state", root / "s", root / "c.toml", root / "notes")
    memory = await Memory.open(places, Settings())
    await memory.rescan()
    await memory.close()
    print("states", {path: record.state for path, record in memory.intake.records.items()})
    # Not ru_maxrss: that starts at the size of the process which forked this one.
    status = Path("/proc/self/status").read_text()
    print("peak", int(status.split("VmHWM:")[1].split()[0]) // 1024)

if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
"""
_DAY = "memory/2026-02-13.md"


def _big(path: Path, size: int, line: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        piece = line * (1_000_000 // len(line))
        for _ in range(size // len(piece)):
            file.write(piece)


async def test_in2_a_renamed_note_is_never_found_under_its_old_name(mind):
    """IN-2: as soon as the rename was seen, hits name the new file alone; the facts are the same ones."""
    file = await mind.note(_DAY, "- the heron stands in the pond\n")
    before = await mind.ask("retrieve", query="heron")
    file.rename(file.with_name("2026-02-14.md"))
    await mind.memory.hint([_DAY, "memory/2026-02-14.md"])

    after = await mind.ask("retrieve", query="heron")

    assert [hit["id"] for hit in after] == [hit["id"] for hit in before]
    assert [source["file"] for hit in after for source in hit["sources"]] == ["memory/2026-02-14.md"]


async def test_in3_a_failing_store_loses_no_note(mind, monkeypatch):
    """IN-3: a note that could not be written stays pending however often it fails, and a rescan takes it in."""
    (mind.workspace / _DAY).write_text("- the heron stands in the pond\n")

    def fail(*_args):
        raise StoreError("The database cannot be written: disk I/O error.", "Check the disk.")

    with monkeypatch.context() as broken:
        broken.setattr(BatchWriter, "write", fail)
        for _ in range(3):
            with pytest.raises(StoreError):
                await mind.memory.rescan()
            assert mind.memory.intake.waiting == {_DAY}
            assert mind.memory.pending >= 1

    await mind.memory.rescan()

    assert await mind.hits("heron") == ["the heron stands in the pond"]
    assert not mind.memory.intake.waiting


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_in5_huge_notes_cost_bounded_memory_and_harm_nobody(tmp_path):
    """IN-5: 50 MB, 150 MB, and one line of 5 MB: each `too_large`, below 300 MB in all, the other notes taken in."""
    notes = tmp_path / "notes"
    _big(notes / "memory/2026-02-10.md", 50_000_000, b"- the heron stands in the pond and looks at the water\n")
    _big(notes / "memory/2026-02-11.md", 150_000_000, b"- the heron stands in the pond and looks at the water\n")
    _big(notes / "memory/2026-02-12.md", 5_000_000, b"heron ")
    for day in range(13, 20):
        (notes / f"memory/2026-02-{day}.md").write_text(f"- heron {day}\n")
    (tmp_path / "scan.py").write_text(_SCAN)

    done = subprocess.run(
        [sys.executable, tmp_path / "scan.py", tmp_path], capture_output=True, text=True, timeout=110, check=True
    )

    told = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert told["states"].count("'too_large'") == 3
    assert told["states"].count("'ok'") == 7
    assert int(told["peak"]) < 300


async def test_a_name_that_is_no_date_and_a_folder_named_like_a_note(mind):
    """`2026-02-30.md` is a note with a finding; a folder `2026-02-14.md` is listed and stops nothing."""
    await mind.note(_DAY, "- tea\n")
    (mind.workspace / "memory/2026-02-14.md").mkdir()
    (mind.workspace / "memory/2026-02-14.md/2026-02-15.md").write_text("- inside\n")
    (mind.workspace / "memory/2026-02-30.md").write_text("- milk\n")
    os.mkfifo(mind.workspace / "memory/2026-02-16.md")

    await mind.memory.rescan()

    records = mind.memory.intake.records
    assert [finding.code for finding in records["memory/2026-02-30.md"].findings] == ["false_date"]
    assert set(records) >= {_DAY, "memory/2026-02-30.md"}
    assert "memory/2026-02-16.md" in mind.memory.intake.last_walk.skipped
    assert await mind.hits("milk") == ["milk"]


async def test_deep_nesting_and_odd_bytes_harm_no_other_note(mind):
    """Ten thousand levels, NUL, bad UTF-8 and UTF-16 without a mark: a state each, and the neighbours are in."""
    odd = {
        "01": b"> " * 10_000 + b"deep", "02": b"- " * 10_000 + b"deep", "03": b"\0" * 4_096, "04": b"\xff\xfe\xff",
        "05": "- wide heron\n".encode("utf-16-le"), "06": b"- a\r\n- b\r\n\r\n", "07": b"\xef\xbb\xbf- mark\n",
        "08": b"", "09": b"\xc3\x28 heron\n", "10": b"---\na: [\n---\n- broken front\n", "11": b"[" * 10_000,
    }  # fmt: skip
    for day, data in odd.items():
        (mind.workspace / f"memory/2026-02-{day}.md").write_bytes(data)
    await mind.note(_DAY, "- plain heron\n")

    records = mind.memory.intake.records
    ledgers = {day: (await mind.ask("ledger", file=f"memory/2026-02-{day}.md"))["totals"] for day in odd}

    assert {records[f"memory/2026-02-{day}.md"].state for day in odd} <= {"ok", "findings"}
    assert "utf16" in [finding.code for finding in records["memory/2026-02-05.md"].findings]
    assert all(sum(totals.values()) == sum(records[f"memory/2026-02-{day}.md"].totals.values())
               for day, totals in ledgers.items())  # fmt: skip
    assert {"plain heron", "wide heron"} <= set(await mind.hits("heron"))


async def test_in5_the_other_notes_come_first(new_mind):
    """IN-5: a note that is too large to parse is read after all others, however new its name is."""
    mind = await new_mind(Settings(notes=NotesSettings(max_ingest_bytes=1_000)))
    for day in range(1, 25):
        (mind.workspace / f"memory/2026-01-{day:02}.md").write_text(f"- heron {day}\n")
    (mind.workspace / _DAY).write_text("- a line of a huge note\n" * 300)
    waiting = []

    async def look() -> None:
        waiting.append(set(mind.memory.intake.waiting))

    mind.memory.intake.after_batch = look
    await mind.memory.intake.scan()

    assert _DAY in waiting[0]
    assert not waiting[-1]


async def test_newer_rules_read_every_note_again(mind, monkeypatch):
    """When masks or the text rule have a new number, each stored note is read again, although no byte changed."""
    await mind.note(_DAY, "- password: hunter2secret\n")
    assert (await mind.memory.rescan()).changed == 0
    monkeypatch.setattr(prepare, "RULES", 99)
    monkeypatch.setattr(records, "RULES", 99)

    again = await mind.memory.rescan()

    assert again.changed == 1
    assert mind.memory.intake.records[_DAY].rules == 99
    assert (await mind.memory.rescan()).changed == 0

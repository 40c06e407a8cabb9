"""A note that holds the whole daemon still ends it once, and not again after the restart (IN-5)."""

import importlib.util
import sys
from pathlib import Path

import pytest

_FILE = Path(__file__).with_name("test_process.py")
_SPEC = importlib.util.spec_from_file_location("memoryd_process", _FILE)
process = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(process)
machine = process.machine

_FAULTY = """
import re, sys
from memoryd.ingest import parse
from memoryd.operations import prepare, reading
parse_note = parse.parse_note
def faulty(data, **named):
    if b"MAKES IT HANG" in data:
        re.match("(?:a+)+$", "a" * 64 + "b")  # no thread of this process gets a turn
    return parse_note(data, **named)
prepare.parse_note = faulty
reading.COMMAND = (sys.executable, "-P", "-c", sys.argv[1], sys.argv[1], "reads")
if sys.argv[2] == "reads":
    reading.main()
else:
    from memoryd.cli.main import run
    sys.exit(run(["run"]))
"""
"""The real daemon and its real reader, but that these words in a note keep the regular expression engine busy."""
_NOTE = "2026-02-13.md"
_LIMIT_S = 2
"""Time for one note: the hanging one costs it twice, and no other one may need it, however busy the machine is."""


def _is_silent(machine) -> bool:
    """Whether the daemon gives no answer while a note of its thread is written down."""
    if not (machine.root / "state" / "reading").exists():
        return False
    connection = process.Connection(machine.socket)
    try:
        connection.connect()
        connection.sock.settimeout(0.5)
        connection.request("GET", "/v1/status")
        connection.getresponse()
    except TimeoutError:
        return True
    finally:
        connection.close()
    return False


@pytest.mark.parametrize("when", ["saved while it runs", "there at its start"])
def test_a_note_that_holds_the_daemon_still_does_so_once(machine, when):
    """Killed by its watchdog, the daemon then has a process read that note, and sets it aside; the others are in."""
    machine.command = [sys.executable, "-P", "-c", _FAULTY, _FAULTY, "runs"]
    (machine.root / "config.toml").write_text(f"[notes]\nmax_ingest_seconds = {_LIMIT_S}.0\n")
    (machine.notes / "2026-02-12.md").write_text("- The marmot sleeps\n")
    if when == "saved while it runs":
        machine.start()
        machine.settled()
        (machine.notes / _NOTE).write_text("- MAKES IT HANG\n")
    else:
        (machine.notes / _NOTE).write_text("- MAKES IT HANG\n")
        machine.process = machine.spawn()
    process.wait_for(lambda: _is_silent(machine), 20, "the daemon hangs")
    machine.kill()  # as the watchdog, or the last resort, does after its time

    (machine.notes / "2026-02-14.md").write_text("- The pika gathers hay\n")
    machine.start()
    status = machine.settled()

    reasons = {each["path"]: each["reason"] for each in status["notes"]["quarantined"]}
    assert f"takes longer than {_LIMIT_S} s to parse" in reasons[f"memory/{_NOTE}"]
    assert status["pending"] == 0
    assert machine.finds("marmot")
    assert machine.finds("pika")
    assert not (machine.root / "state" / "reading").exists()

    (machine.notes / _NOTE).write_text("- MAKES IT HANG no more: the vole digs\n".replace("HANG", "STOP"))
    process.wait_for(lambda: machine.finds("vole"), 20, "the corrected note is in")

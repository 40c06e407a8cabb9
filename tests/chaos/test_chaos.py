"""A short run of the chaos script; the long one is `make chaos`."""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("chaos.py")


def test_killed_at_random_nothing_is_lost_doubled_or_half_in(sqld_binary, short_path):
    """After six kills under edits, with a cloud that comes and goes, memory and cloud equal a clean ingest (ST-1)."""
    done = subprocess.run(
        [sys.executable, SCRIPT, "--kills", "6", "--notes", "12", "--life", "1.5", "--seed", str(os.getpid())],
        env={**os.environ, "SQLD_BIN": str(sqld_binary), "TMPDIR": str(short_path)},
        capture_output=True,
        text=True,
        timeout=100,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout)
    assert figures["kills"] == 6
    assert figures["edits"] > 0
    assert figures["live_facts"] > 0


def test_saves_are_found_while_the_folder_is_replaced(short_path):
    """Saves in every style are found in time while the folder is remade and exchanged; long: `make saves` (WA-2)."""
    done = subprocess.run(
        [sys.executable, SCRIPT.with_name("saves.py"), "--saves", "40", "--minutes", "0.15", "--replacements", "2"],
        env={**os.environ, "TMPDIR": str(short_path)},
        capture_output=True,
        text=True,
        timeout=100,
    )

    figures = json.loads(done.stdout) if done.stdout else {}
    assert done.returncode == 0, done.stdout + done.stderr
    assert figures["re-arms"] >= 1
    assert figures["faults"] == []

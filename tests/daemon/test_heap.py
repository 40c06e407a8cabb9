"""Memory goes back after work that needed much of it."""

import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
from memoryd.daemon.heap import give_back


def resident_mb() -> float:
    """Resident memory of this process."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps free memory and can be asked for it")
def test_free_memory_below_a_living_piece_goes_back_to_the_system():
    """One small object at the end of the heap keeps everything below it, until it is asked for."""
    pieces = [bytes([n % 256]) * 60_000 for n in range(1_000)]
    living = [piece for n, piece in enumerate(pieces) if n % 100 == 99]
    pieces.clear()
    before = resident_mb()

    give_back()

    assert before - resident_mb() > 20
    assert len(living) == 10


def test_a_daemon_without_a_cloud_loads_no_http_client_and_no_library_of_the_language_process():
    """They are many MB that nobody asked for; the one with a cloud or an endpoint, the others never in this process."""
    program = (
        "import sys, memoryd.daemon.run, memoryd.daemon.daemon, memoryd.operations.table as table\n"
        "for operation in table.OPERATIONS.values(): operation.load()\n"
        "print(*sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)

    assert not {"httpx", "rich", "pygments", "cryptography", "jieba", "sklearn", "scipy", "numpy"} & set(
        done.stdout.split()
    )

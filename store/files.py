"""What was compared last for each watched file (local only, never sent)."""

from typing import Any

import msgspec

from ..model import Finding, LineState, NoteState
from .store import Store, Tx

_JSON = msgspec.json.Encoder()
_findings = msgspec.json.Decoder(list[Finding])
_totals = msgspec.json.Decoder(dict[LineState, int])


class FileRecord(msgspec.Struct):
    """One watched file as it was compared last. Times of the file in ns, `seen_at` in ms.

    `agent_id` is '' for the text files that are no notes; `raw_sha256` is the hash of the bytes on
    disk, '' when they could not be read; `reason` says why a state is not `ok`.
    """

    path: str
    agent_id: str
    size: int
    mtime_ns: int
    ctime_ns: int
    ino: int
    raw_sha256: str
    rules: int
    state: NoteState
    reason: str = ""
    seen_at: int = 0
    totals: dict[LineState, int] = {}
    findings: list[Finding] = []
    masked: int = 0


def known_files(store: Store) -> dict[str, FileRecord]:
    """All records by path; findings only as far as they are there."""
    rows = store.execute(
        "SELECT path, agent_id, size, mtime_ns, ctime_ns, ino, raw_sha256, rules, state, reason, seen_at, totals,"
        " findings, masked FROM files"
    )
    return {str(row[0]): _record(row) for row in rows}


def write_file(tx: Tx, record: FileRecord) -> None:
    """Remember what was compared."""
    tx.run(
        "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (record.path, record.agent_id, record.size, str(record.mtime_ns), str(record.ctime_ns), str(record.ino),
         record.raw_sha256, record.rules, record.state, record.reason, record.seen_at,
         _JSON.encode(record.totals).decode(), _JSON.encode(record.findings).decode(), record.masked),
    )  # fmt: skip


def drop_file(tx: Tx, path: str) -> None:
    """Forget what was compared: the next look reads the file again."""
    tx.run("DELETE FROM files WHERE path = ?", (path,))


def _record(row: tuple[Any, ...]) -> FileRecord:
    path, agent, size, mtime, ctime, ino, sha, rules, state, reason, seen, totals, findings, masked = row
    return FileRecord(
        path, agent, size, int(mtime), int(ctime), int(ino), sha, rules, state, reason, seen,
        _totals.decode(totals), _findings.decode(findings), masked,
    )  # fmt: skip

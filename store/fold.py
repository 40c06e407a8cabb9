"""Folding another device's log into this memory, in runs of rows of one kind; fold_rows.py has the merge rules.

The order in which logs arrive does not matter.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ..model import (
    AccessRow,
    ChunkRow,
    EditRow,
    ForgottenRow,
    HotItemRow,
    MentionRow,
    NoteRow,
    Row,
    TreeNodeRow,
)
from .fold_rows import FOLDS, Folded, mark_facts
from .forget import fold_again
from .store import Tx

_JSON = msgspec.json.Encoder()

RUN_ROWS = 2_000
"""Rows that one statement folds: about 20 ms, during which every thread stands still."""


def fold(tx: Tx, rows: Sequence[Row], *, keep_chunks: bool = False) -> Folded:
    """Fold rows of one other device's log, in its order, into this store.

    Chunks are left out unless `keep_chunks` (restore), which keeps them with rev 0.
    """
    folded = Folded(rows=len(rows))
    _see_versions(tx, rows)
    for run in _runs(rows):
        kind = type(run[0])
        if kind is not ChunkRow:
            FOLDS[kind](tx, run, folded)
        elif keep_chunks:
            _keep_chunks(tx, run)
    if folded.lifted:
        fold_again(tx)
        folded.reread = _own_notes_with_forgotten_lines(tx, {agent for agent, _ in folded.lifted})
    return folded


def _runs(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows of one kind that may be folded in one statement each, `RUN_ROWS` at most.

    Only a note and its mentions depend on the log's order: a note row takes away mentions that came
    before it, so a mention that comes after a note row of its path begins a new run.
    """
    runs: dict[type, list[Row]] = {}
    named: set[tuple[str, str]] = set()
    for row in rows:
        follows = isinstance(row, MentionRow) and (row.agent_id, row.path) in named
        if follows or len(runs.get(type(row), ())) >= RUN_ROWS:
            yield from _in_order(runs)
            runs, named = {}, set()
        if isinstance(row, NoteRow):
            named.add((row.agent_id, row.path))
        runs.setdefault(type(row), []).append(row)
    yield from _in_order(runs)


def _in_order(runs: dict[type, list[Row]]) -> Iterator[list[Row]]:
    return (runs[kind] for kind in sorted(runs, key=_notes_last))


def _notes_last(kind: type) -> int:
    return (kind is NoteRow) + (kind in (NoteRow, MentionRow))


def replace_own_rows(tx: Tx, device: str, rows: Sequence[Row]) -> None:
    """Drop the notes, mentions and reads of `device` that a complete snapshot of its log lacks; `fold` follows."""
    for kind, (table, key) in _REPLACED.items():
        kept = {tuple(getattr(row, name) for name in key) for row in rows if type(row) is kind}
        columns = ", ".join(key)
        fact = "fact_id" if kind is not NoteRow else "''"
        found = tx.execute(f"SELECT {columns}, {fact} FROM {table} WHERE device = ?", (device,))
        gone = [row for row in found if row[:-1] not in kept]
        mark_facts(tx, [(row[0], row[-1]) for row in gone if row[-1]])
        where = " AND ".join(f"{name} = ?" for name in key)
        for row in gone:
            tx.run(f"DELETE FROM {table} WHERE device = ? AND {where}", (device, *row[:-1]))


def drop_received_chunks(tx: Tx) -> None:
    """Let go of other devices' note text that a restore fetched: a later forget would not look for words there."""
    tx.run("DELETE FROM chunks WHERE rev = 0")


def _keep_chunks(tx: Tx, rows: Iterable[Row]) -> None:
    for row in rows:
        if isinstance(row, ChunkRow):
            tx.run("INSERT OR IGNORE INTO chunks VALUES (?, ?, 0)", (row.sha256, row.data))


def move_cursor(tx: Tx, device: str, idx: int, sha256: str, fault: str = "") -> None:
    """Remember how far a log was folded, and why not further."""
    tx.run(
        "INSERT INTO cursors VALUES (?, ?, ?, ?) ON CONFLICT (device) DO UPDATE SET"
        " idx = excluded.idx, sha256 = excluded.sha256, fault = excluded.fault",
        (device, idx, sha256, fault),
    )


def _own_notes_with_forgotten_lines(tx: Tx, agents: Iterable[str]) -> list[str]:
    """Their paths; marked as changed, so that a scan reads them again even if nobody asks for it."""
    where = "agent_id IN (SELECT value FROM json_each(?)) AND json_extract(totals, '$.forgotten') > 0"
    names = _JSON.encode(sorted(set(agents))).decode()
    rows = tx.execute(f"SELECT path FROM files WHERE {where}", (names,))
    tx.run(f"UPDATE files SET raw_sha256 = '', mtime_ns = '0' WHERE {where}", (names,))
    return [str(row[0]) for row in rows]


def _see_versions(tx: Tx, rows: Iterable[Row]) -> None:
    greatest = ""
    for row in rows:
        if isinstance(row, EditRow | HotItemRow | TreeNodeRow | ForgottenRow):
            greatest = max(greatest, row.version, row.lifted_version if isinstance(row, ForgottenRow) else "")
    if greatest:
        tx.store.logical.saw(greatest)


_REPLACED: dict[type[Any], tuple[str, tuple[str, ...]]] = {
    NoteRow: ("notes", ("agent_id", "path")),
    MentionRow: ("mentions", ("agent_id", "path", "n")),
    AccessRow: ("access", ("agent_id", "fact_id")),
}

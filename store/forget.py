"""Taking a fact out of this device: rows, stored note text, index, everything but the tombstone (DATA section 6)."""

from collections.abc import Iterable

import msgspec

from .chunks import mask_lines
from .notes import note_body, replace_chunks
from .store import Tx

_JSON = msgspec.json.Encoder()
_strings = msgspec.json.Decoder(list[str])

DUTY_SNAPSHOT = "snapshot"
"""This device's log still holds something that must go: it writes a snapshot and removes what is older."""

DUTY_COPIES = "copies"
"""Local snapshots of the database may still hold something that must go: they are made anew."""


class Place(msgspec.Struct):
    """Where a sentence still stands in a note of this device; lines count from 1."""

    file: str
    line_from: int
    line_to: int


def forget_fact(tx: Tx, agent_id: str, fact: str) -> list[Place]:
    """Write a tombstone that beats everything until it is lifted, and erase the fact here."""
    tx.run(
        "INSERT INTO forgotten VALUES (?, ?, ?, '', '', ?) ON CONFLICT (agent_id, fact_id) DO UPDATE SET"
        " version = excluded.version, rev = excluded.rev",
        (agent_id, fact, tx.next_version(), tx.next_rev()),
    )
    return erase(tx, agent_id, fact)


def erase(tx: Tx, agent_id: str, fact: str) -> list[Place]:
    """Remove the words of a fact from this device; returns the places where own notes still say them.

    Lines of stored note text become `[forgotten]`. If this device's log holds the fact, the duty to
    rewrite the log is stored in the same transaction. Erasing what is not there changes nothing.
    """
    places = _own_places(tx, agent_id, fact)
    _touch_followers(tx, agent_id, fact)
    for path in sorted({each.file for each in places}):
        _mask_note(tx, agent_id, path, fact, [(each.line_from, each.line_to) for each in places if each.file == path])
    rows = tx.execute("SELECT n, text, rev FROM facts WHERE agent_id = ? AND id = ?", (agent_id, fact))
    tx.run("DELETE FROM mentions WHERE agent_id = ? AND fact_id = ?", (agent_id, fact))
    for table in ("edits", "access", "probes"):
        tx.run(f"DELETE FROM {table} WHERE agent_id = ? AND fact_id = ?", (agent_id, fact))
    tx.run("DELETE FROM hot_items WHERE agent_id = ? AND key = ?", (agent_id, fact))
    for n, text, rev in rows:
        tx.run("DELETE FROM search_index WHERE rowid = ?", (n,))
        tx.run("DELETE FROM derived WHERE n = ?", (n,))
        tx.run("DELETE FROM blocks WHERE agent_id = ? AND instr(body, ?) > 0", (agent_id, text))
        tx.run(
            "DELETE FROM undo_log WHERE agent_id = ? AND (instr(before, ?) > 0 OR instr(after, ?) > 0)",
            (agent_id, text, text),
        )
        if isinstance(rev, int) and rev > 0:
            add_duty(tx, DUTY_SNAPSHOT, "")
        add_duty(tx, DUTY_COPIES, "")
    tx.run("DELETE FROM facts WHERE agent_id = ? AND id = ?", (agent_id, fact))
    tx.touch(agent_id, fact)
    return places


def add_duty(tx: Tx, kind: str, subject: str) -> None:
    """Store a duty that must outlive a crash."""
    tx.run("INSERT OR IGNORE INTO duties VALUES (?, ?, ?)", (kind, subject, tx.store.clock.now_ms()))


def _touch_followers(tx: Tx, agent_id: str, fact: str) -> None:
    """The block after one is indexed with its words as context: those entries are made anew without them."""
    tx.run(
        "INSERT OR IGNORE INTO dirty SELECT q.agent_id, q.fact_id FROM mentions m JOIN mentions q"
        " ON q.agent_id = m.agent_id AND q.device = m.device AND q.path = m.path AND q.n = m.n + 1"
        " WHERE m.agent_id = ? AND m.fact_id = ?",
        (agent_id, fact),
    )


def _own_places(tx: Tx, agent_id: str, fact: str) -> list[Place]:
    rows = tx.execute(
        "SELECT path, line_from, line_to FROM mentions WHERE agent_id = ? AND fact_id = ? AND device = ? AND path <> ''"
        " ORDER BY path, line_from",
        (agent_id, fact, tx.device),
    )
    return [Place(str(path), int(first or 0), int(last or 0)) for path, first, last in rows]


def _mask_note(tx: Tx, agent_id: str, path: str, fact: str, ranges: Iterable[tuple[int, int]]) -> None:
    """Mask the lines in the stored text, drop the mentions, close the gap in their numbers, write the note row."""
    body = mask_lines(note_body(tx.store, agent_id, path), list(ranges))
    rows = tx.execute(
        "SELECT chunks FROM notes WHERE agent_id = ? AND device = ? AND path = ?", (agent_id, tx.device, path)
    )
    old = _strings.decode(str(rows[0][0])) if rows else []
    chunks = replace_chunks(tx, agent_id, path, body, old) if old else []
    tx.run(
        "DELETE FROM mentions WHERE agent_id = ? AND device = ? AND path = ? AND fact_id = ?",
        (agent_id, tx.device, path, fact),
    )
    numbers = tx.execute(
        "SELECT n FROM mentions WHERE agent_id = ? AND device = ? AND path = ? ORDER BY n", (agent_id, tx.device, path)
    )
    for new, (n,) in enumerate(numbers):
        if n != new:
            tx.run(
                "UPDATE mentions SET n = ?, rev = ? WHERE agent_id = ? AND device = ? AND path = ? AND n = ?",
                (new, tx.next_rev(), agent_id, tx.device, path, n),
            )
    tx.run(
        "UPDATE notes SET chunks = ?, mentions = ?, rev = ? WHERE agent_id = ? AND device = ? AND path = ?",
        (_JSON.encode(chunks).decode(), len(numbers), tx.next_rev(), agent_id, tx.device, path),
    )

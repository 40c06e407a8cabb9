"""Taking a fact out of this device: rows, stored note text, index, everything but the tombstone (docs/data.md, 6)."""

from collections.abc import Iterable, Sequence

import msgspec

from .chunks import lines_saying, mask_lines, with_fence
from .log import predecessors
from .notes import note_body, replace_chunks
from .sessions import mask_turns
from .store import Tx

_JSON = msgspec.json.Encoder()
_strings = msgspec.json.Decoder(list[str])

DUTY_SNAPSHOT = "snapshot"
"""A log still holds something that must go: it is written anew and what is older removed. The subject is '' for
this device's own log, else the device that this one succeeds."""

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


def lift(tx: Tx, agent_id: str, fact: str) -> bool:
    """Lift a tombstone that stands; False if none does. What it kept out comes in again.

    Own notes with forgotten lines have to be read again by the caller; the other logs are folded anew at the next pull.
    """
    lifted = tx.run(
        "UPDATE forgotten SET lifted_version = ?, rev = ? WHERE agent_id = ? AND fact_id = ?"
        " AND version > lifted_version",
        (tx.next_version(), tx.next_rev(), agent_id, fact),
    )
    if lifted:
        fold_again(tx)
        tx.touch(agent_id, fact)
    return bool(lifted)


def fold_again(tx: Tx) -> None:
    """Have every other log folded from its beginning: what a tombstone kept out is in segments that were folded."""
    tx.run("UPDATE cursors SET idx = 0, sha256 = ''")


def erase(tx: Tx, agent_id: str, fact: str) -> list[Place]:
    """Remove the words of a fact from this device; returns the places where own notes still say them.

    Lines of stored note text become `[forgotten]`. If this device's log holds the fact, the duty to
    rewrite the log is stored in the same transaction, and so is the one to look into the logs of devices
    that this one succeeds. Erasing what is not there changes nothing.
    """
    places = _own_places(tx, agent_id, fact)
    for path in sorted({each.file for each in places}):
        _mask_note(tx, agent_id, path, fact, [(each.line_from, each.line_to) for each in places if each.file == path])
    rows = tx.execute("SELECT n, text, rev FROM facts WHERE agent_id = ? AND id = ?", (agent_id, fact))
    tx.run(
        "DELETE FROM mentions WHERE (agent_id, device, path, n) IN (SELECT agent_id, device, path, n"
        " FROM mentions INDEXED BY mentions_fact WHERE agent_id = ? AND fact_id = ?)",
        (agent_id, fact),
    )
    for device in predecessors(tx.store):
        add_duty(tx, DUTY_SNAPSHOT, device)
    for table in ("edits", "access", "probes"):
        tx.run(f"DELETE FROM {table} WHERE agent_id = ? AND fact_id = ?", (agent_id, fact))
    tx.run("DELETE FROM hot_items WHERE agent_id = ? AND key = ?", (agent_id, fact))
    for n, text, rev in rows:
        mask_words(tx, agent_id, _deleted_notes(tx, agent_id), str(text))
        for index in ("search_index", "url_index"):
            tx.run(f"DELETE FROM {index} WHERE rowid = ?", (n,))
        tx.run("DELETE FROM derived WHERE n = ?", (n,))
        mask_turns(tx, agent_id, [str(text)])
        tx.run("DELETE FROM blocks WHERE agent_id = ? AND instr(body, ?) > 0", (agent_id, text))
        for said in _in_json(str(text)):
            tx.run(
                "DELETE FROM undo_log WHERE agent_id = ? AND (instr(before, ?) > 0 OR instr(after, ?) > 0)",
                (agent_id, said, said),
            )
        if isinstance(rev, int) and rev > 0:
            add_duty(tx, DUTY_SNAPSHOT, "")
        add_duty(tx, DUTY_COPIES, "")
    tx.run("DELETE FROM facts WHERE agent_id = ? AND id = ?", (agent_id, fact))
    tx.touch(agent_id, fact)
    return places


def _in_json(text: str) -> list[str]:
    """How a sentence stands in JSON, and in JSON within JSON: there a quote has backslashes."""
    once = _JSON.encode(text).decode()[1:-1]
    return list(dict.fromkeys([once, _JSON.encode(once).decode()[1:-1]]))


def add_duty(tx: Tx, kind: str, subject: str) -> None:
    """Store a duty that must outlive a crash."""
    tx.run("INSERT OR IGNORE INTO duties VALUES (?, ?, ?)", (kind, subject, tx.store.clock.now_ms()))


def _own_places(tx: Tx, agent_id: str, fact: str) -> list[Place]:
    rows = tx.execute(
        "SELECT path, line_from, line_to FROM mentions INDEXED BY mentions_fact"
        " WHERE agent_id = ? AND fact_id = ? AND device = ? AND path <> '' ORDER BY path, line_from",
        (agent_id, fact, tx.device),
    )
    return [Place(str(path), int(first or 0), int(last or 0)) for path, first, last in rows]


def mask_words(tx: Tx, agent_id: str, paths: Iterable[str], text: str) -> None:
    """Mask the lines of own notes' stored text that say these words, where no mention tells which they are."""
    for path in paths:
        body = note_body(tx.store, agent_id, path)
        if ranges := lines_saying(body, text):
            chunks = _mask_text(tx, agent_id, path, body, [(first, with_fence(body, last)) for first, last in ranges])
            tx.run(
                "UPDATE notes SET chunks = ?, rev = ? WHERE agent_id = ? AND device = ? AND path = ?",
                (_JSON.encode(chunks).decode(), tx.next_rev(), agent_id, tx.device, path),
            )


def _deleted_notes(tx: Tx, agent_id: str) -> list[str]:
    """Own notes that were deleted and still keep their text, without mentions."""
    rows = tx.execute(
        "SELECT path FROM notes WHERE agent_id = ? AND device = ? AND deleted_at IS NOT NULL AND chunks <> '[]'",
        (agent_id, tx.device),
    )
    return [str(row[0]) for row in rows]


def _mask_text(tx: Tx, agent_id: str, path: str, body: bytes, ranges: Sequence[tuple[int, int]]) -> list[str]:
    """Store the note's text without these lines; returns the names of its chunks."""
    rows = tx.execute(
        "SELECT chunks FROM notes WHERE agent_id = ? AND device = ? AND path = ?", (agent_id, tx.device, path)
    )
    old = _strings.decode(str(rows[0][0])) if rows else []
    return replace_chunks(tx, agent_id, path, mask_lines(body, list(ranges)), old) if old else []


def _mask_note(tx: Tx, agent_id: str, path: str, fact: str, ranges: Iterable[tuple[int, int]]) -> None:
    """Mask the lines in the stored text, drop the mentions, close the gap in their numbers, write the note row."""
    body = note_body(tx.store, agent_id, path)
    chunks = _mask_text(tx, agent_id, path, body, [(first, with_fence(body, last)) for first, last in ranges])
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

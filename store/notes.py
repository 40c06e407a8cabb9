"""One note, one transaction: chunks, facts and mentions first, then the note's own row (docs/data.md, 2 and 5)."""

from collections.abc import Iterable, Sequence

import msgspec

from ..model import Metadata, NoteState, ParsedMention, ParsedNote, fact_id
from .chunks import cut, mask_lines
from .headings import without_forgotten_headings
from .store import Store, Tx
from .versions import insert_mentions, name_facts, set_edit, withdraw_edit

_JSON = msgspec.json.Encoder()
_strings = msgspec.json.Decoder(list[str])
_metadata = msgspec.json.Decoder(Metadata)
_EXPLICIT_FIELDS = ("category", "importance", "task_state")


class StatedNote(msgspec.Struct):
    """A parsed note on its way into the store.

    `successors` are `(new fact id, old fact id)` of blocks that replaced a similar one.
    """

    agent_id: str
    path: str
    size: int
    parsed: ParsedNote
    successors: Sequence[tuple[str, str]] = ()
    keep_body: bool = True


class NoteEffect(msgspec.Struct):
    """What one note changed. `forgotten_lines` counts lines that a tombstone keeps out."""

    changed: bool
    mentions: int
    forgotten_lines: int = 0


class _OldMention(msgspec.Struct):
    values: tuple[object, ...]
    fact_id: str
    category: str
    importance: float
    task_state: str


def own_statements(store: Store, agent_id: str, path: str) -> list[tuple[str, str]]:
    """`(fact id, text)` of a note of this device, in its order: what the note said until now."""
    rows = store.execute(
        "SELECT f.id, f.text FROM mentions m JOIN facts f ON f.agent_id = m.agent_id AND f.id = m.fact_id"
        " WHERE m.agent_id = ? AND m.device = ? AND m.path = ? ORDER BY m.n",
        (agent_id, store.device, path),
    )
    return [(str(fact), str(text)) for fact, text in rows]


def apply_note(tx: Tx, note: StatedNote) -> NoteEffect:
    """Make the store say what the note says. Applying the same note again changes nothing."""
    ids = [fact_id(note.agent_id, each.text) for each in note.parsed.mentions]
    gone = _forgotten_among(tx, note.agent_id, ids)
    mentions, places = without_forgotten_headings(tx, note.agent_id, note.parsed)
    kept = [(fact, each) for fact, each in zip(ids, mentions, strict=True) if fact not in gone]
    hidden = [number for number, (_, at) in enumerate(note.parsed.lines, 1) if at >= 0 and ids[at] in gone]
    hidden += [line for first, last in places for line in range(first, last + 1)]

    old_row = _note_row(tx, note.agent_id, note.path)
    chunks = _write_chunks(tx, note, hidden, old_row[1] if old_row else [])
    _write_facts(tx, note, kept)
    changed = _write_mentions(tx, note, kept)
    now_row = (note.size, chunks, len(kept), note.parsed.state)
    if old_row is None:
        _touch_other_devices(tx, note)
    if changed or old_row != now_row:
        _write_note_row(tx, note, now_row)
        changed = True
    _write_successors(tx, note, {fact for fact, _ in kept})
    return NoteEffect(changed, len(kept), len(hidden))


def delete_note(tx: Tx, agent_id: str, path: str, *, keep_facts: bool = False) -> None:
    """The note's file is gone: its mentions go; its row and chunks stay, for `restore --deleted`.

    With `keep_facts` (`notes.on_delete = "keep"`) what it said goes on counting without a note.
    """
    rows = tx.execute(
        "SELECT n, fact_id FROM mentions WHERE agent_id = ? AND device = ? AND path = ? ORDER BY n",
        (agent_id, tx.device, path),
    )
    if keep_facts:
        _keep_without_note(tx, agent_id, path)
    for _, fact in rows:
        tx.touch(agent_id, str(fact))
    tx.run("DELETE FROM mentions WHERE agent_id = ? AND device = ? AND path = ?", (agent_id, tx.device, path))
    tx.run(
        "UPDATE notes SET state = 'deleted', mentions = 0, deleted_at = ?, rev = ?"
        " WHERE agent_id = ? AND device = ? AND path = ? AND deleted_at IS NULL",
        (tx.store.clock.now_ms(), tx.next_rev(), agent_id, tx.device, path),
    )
    tx.run("DELETE FROM files WHERE path = ?", (path,))


def note_body(store: Store, agent_id: str, path: str) -> bytes:
    """The stored (masked) bytes of a note of this device; empty if it has none."""
    row = store.execute(
        "SELECT chunks FROM notes WHERE agent_id = ? AND device = ? AND path = ?", (agent_id, store.device, path)
    )
    pieces: list[bytes] = []
    for sha in _strings.decode(str(row[0][0])) if row else []:
        for (data,) in store.execute("SELECT data FROM chunks WHERE sha256 = ?", (sha,)):
            pieces.append(data if isinstance(data, bytes) else b"")
    return b"".join(pieces)


def replace_chunks(tx: Tx, agent_id: str, path: str, body: bytes, old: Iterable[str]) -> list[str]:
    """Store `body` as chunks that belong to this note, let go of `old` ones that nobody names; returns the names."""
    pieces = cut(body)
    names = [sha for sha, _ in pieces]
    for sha, data in dict(pieces).items():
        tx.run(
            "INSERT INTO chunks VALUES (?, ?, ?) ON CONFLICT (sha256) DO UPDATE SET rev = excluded.rev WHERE rev = 0",
            (sha, data, tx.next_rev()),
        )
        tx.run("INSERT OR IGNORE INTO chunk_uses VALUES (?, ?, ?)", (sha, agent_id, path))
    for sha in set(old) - set(names):
        tx.run("DELETE FROM chunk_uses WHERE sha256 = ? AND agent_id = ? AND path = ?", (sha, agent_id, path))
        tx.run(
            "DELETE FROM chunks WHERE sha256 = ? AND NOT EXISTS (SELECT 1 FROM chunk_uses u WHERE u.sha256 = ?)",
            (sha, sha),
        )
    return names


def let_go_of_text(tx: Tx, agent_id: str, path: str) -> None:
    """Drop the stored text of a note that was deleted long ago; its row stays."""
    row = tx.execute(
        "SELECT chunks FROM notes WHERE agent_id = ? AND device = ? AND path = ?", (agent_id, tx.device, path)
    )
    replace_chunks(tx, agent_id, path, b"", _strings.decode(str(row[0][0])) if row else [])
    tx.run(
        "UPDATE notes SET chunks = '[]', rev = ? WHERE agent_id = ? AND device = ? AND path = ?",
        (tx.next_rev(), agent_id, tx.device, path),
    )


def _forgotten_among(tx: Tx, agent_id: str, ids: Iterable[str]) -> set[str]:
    rows = tx.execute(
        "SELECT fact_id FROM forgotten WHERE agent_id = ? AND version > lifted_version AND moved_to = ''"
        " AND fact_id IN (SELECT value FROM json_each(?))",
        (agent_id, _JSON.encode(sorted(set(ids))).decode()),
    )
    return {str(row[0]) for row in rows}


def _note_row(tx: Tx, agent_id: str, path: str) -> tuple[int, list[str], int, str] | None:
    rows = tx.execute(
        "SELECT size, chunks, mentions, state FROM notes WHERE agent_id = ? AND device = ? AND path = ?"
        " AND deleted_at IS NULL",
        (agent_id, tx.device, path),
    )
    if not rows:
        return None
    size, chunks, mentions, state = rows[0]
    return int(size or 0), _strings.decode(str(chunks)), int(mentions or 0), str(state)


def _write_chunks(tx: Tx, note: StatedNote, hidden: Sequence[int], old: Sequence[str]) -> list[str]:
    if not note.keep_body:
        return []
    body = mask_lines(note.parsed.body, [(line, line) for line in hidden]) if hidden else note.parsed.body
    return replace_chunks(tx, note.agent_id, note.path, body, old)


def _write_facts(tx: Tx, note: StatedNote, kept: Sequence[tuple[str, ParsedMention]]) -> None:
    wanted = {fact: each.text for fact, each in kept}
    rows = tx.execute(
        "SELECT id FROM facts WHERE agent_id = ? AND rev > 0 AND id IN (SELECT value FROM json_each(?))",
        (note.agent_id, _JSON.encode(list(wanted)).decode()),
    )
    known = {str(row[0]) for row in rows}
    now = tx.store.clock.now_ms()
    new = [(note.agent_id, fact, text, now, tx.next_rev()) for fact, text in wanted.items() if fact not in known]
    name_facts(tx, note.agent_id, new)


def _write_mentions(tx: Tx, note: StatedNote, kept: Sequence[tuple[str, ParsedMention]]) -> bool:
    old = _old_mentions(tx, note)
    said_before = {each.fact_id: each for each in old}
    rows: list[tuple[str | int | float, ...]] = []
    touched: list[str] = []
    for n, (fact, mention) in enumerate(kept):
        values = _mention_values(fact, mention)
        if n < len(old) and old[n].values == values:
            continue
        rows.append((note.agent_id, tx.device, note.path, n, *values, tx.next_rev()))
        touched += [fact, *(each.fact_id for each in old[n : n + 1])]
        if fact in said_before:
            _withdraw_edits(tx, note.agent_id, fact, said_before[fact], mention)
    insert_mentions(tx, rows)
    touched += [each.fact_id for each in old[len(kept) :]]
    if len(kept) < len(old):
        tx.run(
            "DELETE FROM mentions WHERE agent_id = ? AND device = ? AND path = ? AND n >= ?",
            (note.agent_id, tx.device, note.path, len(kept)),
        )
    tx.touch_all(note.agent_id, dict.fromkeys(touched))
    return bool(rows) or len(kept) != len(old)


def _old_mentions(tx: Tx, note: StatedNote) -> list[_OldMention]:
    rows = tx.execute(
        "SELECT fact_id, line_from, line_to, date, headings, category, importance, kind, task_state, metadata, code"
        " FROM mentions WHERE agent_id = ? AND device = ? AND path = ? ORDER BY n",
        (note.agent_id, tx.device, note.path),
    )
    return [_OldMention(row, str(row[0]), str(row[5]), float(row[6] or 0), str(row[8])) for row in rows]


def _mention_values(fact: str, each: ParsedMention) -> tuple[str | int | float, ...]:
    return (
        fact, each.line_from, each.line_to, each.date, _JSON.encode(each.headings).decode(), each.category,
        float(each.importance), each.kind, each.task_state, _JSON.encode(each.metadata).decode(), each.code,
    )  # fmt: skip


def _withdraw_edits(tx: Tx, agent_id: str, fact: str, old: _OldMention, new: ParsedMention) -> None:
    # The note speaks last: what it changed in plain words beats an older edit by command.
    for field in _EXPLICIT_FIELDS:
        if field in new.metadata.explicit and getattr(old, field) != getattr(new, field):
            withdraw_edit(tx, agent_id, fact, "done" if field == "task_state" else field)


def _write_note_row(tx: Tx, note: StatedNote, row: tuple[int, list[str], int, NoteState]) -> None:
    size, chunks, mentions, state = row
    tx.run(
        "INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?) ON CONFLICT (agent_id, device, path) DO UPDATE SET"
        " size = excluded.size, chunks = excluded.chunks, mentions = excluded.mentions, state = excluded.state,"
        " deleted_at = NULL, rev = excluded.rev",
        (note.agent_id, tx.device, note.path, size, _JSON.encode(chunks).decode(), mentions, state,
         tx.store.clock.now_ms(), tx.next_rev()),
    )  # fmt: skip


def _touch_other_devices(tx: Tx, note: StatedNote) -> None:
    """A path named here for the first time silences the same path of devices that this one succeeds."""
    tx.run(
        "INSERT OR IGNORE INTO dirty SELECT m.agent_id, m.fact_id FROM devices d CROSS JOIN mentions m"
        " ON m.agent_id = ? AND m.device = d.device AND m.path = ? WHERE d.device <> ?",
        (note.agent_id, note.path, tx.device),
    )


def _write_successors(tx: Tx, note: StatedNote, stated: set[str]) -> None:
    for new, old in note.successors:
        if new not in stated or old in stated:
            continue
        rows = tx.execute(
            "SELECT value FROM edits WHERE agent_id = ? AND fact_id = ? AND field = 'after'", (note.agent_id, new)
        )
        if not rows or rows[0][0] != old:
            set_edit(tx, note.agent_id, new, "after", old)
            tx.touch(note.agent_id, old)


def _keep_without_note(tx: Tx, agent_id: str, path: str) -> None:
    ((last,),) = tx.execute(
        "SELECT max(n) FROM mentions WHERE agent_id = ? AND device = ? AND path = ''", (agent_id, tx.device)
    )
    start = last + 1 if isinstance(last, int) else 0
    rows = tx.execute(
        "SELECT fact_id, date, headings, category, importance, kind, task_state, metadata, code FROM mentions"
        " WHERE agent_id = ? AND device = ? AND path = ? AND fact_id NOT IN"
        " (SELECT fact_id FROM mentions WHERE agent_id = ? AND device = ? AND path = '') GROUP BY fact_id",
        (agent_id, tx.device, path, agent_id, tx.device),
    )
    for n, (fact, date, *rest) in enumerate(rows, start):
        tx.run(
            "INSERT INTO mentions VALUES (?, ?, '', ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (agent_id, tx.device, n, fact, date, *rest, tx.next_rev()),
        )


def metadata_of(text: object) -> Metadata:
    """The `Metadata` of a stored JSON text."""
    return _metadata.decode(str(text))

"""Own rows for notes that a restore wrote: copied from the log that they came from, not read from the files again.

A note's mentions are a function of its bytes, so where the bytes are the same, so are they. What only this device
knows of a file (the totals of its lines, its findings) is made when the file is read for the first time.
"""

from collections.abc import Sequence

import msgspec

from .files import FileRecord, write_file
from .store import Tx

UNREAD = 0
"""The rules of a file whose rows were copied: there are newer ones, so a later scan reads it."""
_JSON = msgspec.json.Encoder()

_ASKED = (
    "WITH asked AS MATERIALIZED (SELECT value->>0 AS agent, value->>1 AS path, value->>2 AS size FROM json_each(?))"
)
_NOTE = "n.agent_id = a.agent AND n.device = ? AND n.path = a.path"
_MENTION = "m.agent_id = a.agent AND m.device = ? AND m.path = a.path"
# Whole notes only: a mention that was forgotten leaves a gap, and so does a row that stands in a damaged segment.
_FIT = f"""{_ASKED} SELECT a.path FROM asked a JOIN notes n ON {_NOTE}
 WHERE n.deleted_at IS NULL AND n.state IN ('ok', 'findings')
 AND n.mentions = (SELECT count(*) FROM mentions m JOIN facts f ON f.agent_id = m.agent_id AND f.id = m.fact_id
 WHERE {_MENTION} AND m.n < n.mentions)
 AND NOT EXISTS (SELECT 1 FROM notes o WHERE o.agent_id = a.agent AND o.device = ? AND o.path = a.path)"""
_USES = f"""{_ASKED} INSERT OR IGNORE INTO chunk_uses SELECT c.value, n.agent_id, n.path
 FROM asked a JOIN notes n ON {_NOTE} JOIN json_each(n.chunks) c"""
_CHUNKS = f"""{_ASKED}, new AS MATERIALIZED (SELECT sha256, row_number() OVER () AS nth FROM chunks
 WHERE rev = 0 AND sha256 IN (SELECT c.value FROM asked a JOIN notes n ON {_NOTE} JOIN json_each(n.chunks) c))
 UPDATE chunks SET rev = ? + new.nth FROM new WHERE chunks.sha256 = new.sha256"""
_FACTS = f"""{_ASKED}, new AS MATERIALIZED (SELECT f.n, row_number() OVER () AS nth FROM facts f WHERE rev = 0
 AND (agent_id, id) IN (SELECT m.agent_id, m.fact_id FROM asked a JOIN mentions m ON {_MENTION}))
 UPDATE facts SET rev = ? + new.nth FROM new WHERE facts.n = new.n"""
_MENTIONS = f"""{_ASKED} INSERT INTO mentions SELECT m.agent_id, ?, m.path, m.n, m.fact_id,
 m.line_from, m.line_to, m.date, m.headings, m.category, m.importance, m.kind, m.task_state, m.metadata, m.code,
 ? + row_number() OVER ()
 FROM asked a CROSS JOIN mentions m ON {_MENTION}"""
_DIRTY = (
    f"""{_ASKED} INSERT OR IGNORE INTO dirty SELECT m.agent_id, m.fact_id FROM asked a JOIN mentions m ON {_MENTION}"""
)
_NOTES = f"""{_ASKED} INSERT INTO notes SELECT n.agent_id, ?, n.path, a.size, n.chunks,
 n.mentions, n.state, n.first_seen, NULL, ? + row_number() OVER () FROM asked a JOIN notes n ON {_NOTE}"""


def copy_notes(tx: Tx, device: str, records: Sequence[FileRecord]) -> list[str]:
    """Give this device those notes of `device` that stand on disk as `records` say; returns the paths it has now.

    The others have rows here already, or the log lacks some of their mentions: they have to be read.
    """
    asked = _json([(each.agent_id, each.path) for each in records])
    fit = {str(row[0]) for row in tx.execute(_FIT, (asked, device, device, tx.device))}
    ours = [msgspec.structs.replace(each, rules=UNREAD) for each in records if each.path in fit]
    if not ours:
        return []
    places = _json([(each.agent_id, each.path, each.size) for each in ours])
    tx.run(_USES, (places, device))
    # Chunks, facts and mentions have their revisions before the notes that name them (docs/data.md, 5).
    tx.number(_CHUNKS, (places, device))
    tx.number(_FACTS, (places, device))
    tx.number(_MENTIONS, (places, tx.device), (device,))
    tx.run(_DIRTY, (places, device))
    tx.number(_NOTES, (places, tx.device), (device,))
    for each in ours:
        write_file(tx, each)
    return [each.path for each in ours]


def _json(rows: object) -> str:
    return _JSON.encode(rows).decode()

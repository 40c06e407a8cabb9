"""What each state means, in one sentence: for `why` and `why-not` (docs/data.md, 3)."""

from ..model import FactState, LineState, NoteState

LINE_REASONS: dict[LineState, str] = {
    "fact": "The line is a fact, or begins one.",
    "duplicate": "The same words stand in an earlier line; this one is a further mention of that fact.",
    "continuation": "The line goes on with the fact above it.",
    "heading": "A heading is the context of the facts below it, not a fact.",
    "code": "The line is code, and belongs to the fact before it.",
    "table_head": "The head of a table is the context of its rows.",
    "rule": "The line is a rule and has no words.",
    "html": "The line is markup without words.",
    "link_definition": "The line defines a link that other lines use.",
    "comment": "A comment is no memory.",
    "front_matter": "Front matter says something of the whole note; it is no fact.",
    "transcript_meta": "The line is what a chat program wrote around the talk: ids and senders, not words.",
    "own_output": "memoryd wrote this line itself; it is never read again as a memory.",
    "empty_text": "The line has no letter, digit or ideograph.",
    "secret": "The line is nothing but a secret; secrets are masked before anything is stored.",
    "forgotten": "The sentence was forgotten on request; memoryd undo lifts that.",
    "too_large": "The note is too large or too slow to be parsed (notes.max_ingest_bytes, notes.max_ingest_seconds).",
    "blank": "The line is blank.",
}

FACT_REASONS: dict[FactState, str] = {
    "live": "It is in memory.",
    "retracted": "No note says it any more; it comes back when a line does.",
    "superseded": "A later fact contradicts it; history shows which.",
    "merged": "A fuller wording stands for it; history shows which.",
    "forgotten": "It was forgotten on request; memoryd undo lifts that.",
    "expired": "Nothing has said it for as long as cold.retention_years sets.",
}

LAYER_REASONS = {
    "long_term": "It is long-term memory: a lesson, a preference a decision, stated often, or in MEMORY.md.",
    "contextual": "It is contextual memory: stated or read within the last 30 days.",
    "archive": "It is in the archive, as nobody stated or read it for 30 days; it is found as ever.",
    "faded": "It has faded, as it was stated over 90 days ago and read on fewer than two days: found a touch later.",
}

NOTE_REASONS: dict[NoteState, str] = {
    "unreadable": "The note cannot be read",
    "too_large": "The note is not parsed",
    "name_clash": "Another note has the same name",
    "conflict_copy": "The file is a copy that a file synchroniser made; merge it by hand",
    "vanished": "The note vanished and is held",
    "deleted": "The note was deleted",
}

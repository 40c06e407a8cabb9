-- The rows of docs/data.md, 2. Each has rev: this device's own counter, > 0 when the row belongs into this
-- device's log, 0 when it only came from another. Partial indexes on rev find what was not pushed yet.

CREATE TABLE meta (k TEXT PRIMARY KEY, v TEXT NOT NULL) STRICT;

CREATE TABLE facts (
    n INTEGER PRIMARY KEY,          -- local row number, the key of the full-text index
    agent_id TEXT NOT NULL, id TEXT NOT NULL,
    text TEXT NOT NULL, first_seen INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    UNIQUE (agent_id, id)) STRICT;
CREATE INDEX facts_rev ON facts (rev) WHERE rev > 0;

CREATE TABLE notes (
    agent_id TEXT NOT NULL, device TEXT NOT NULL, path TEXT NOT NULL,
    size INTEGER NOT NULL, chunks TEXT NOT NULL, mentions INTEGER NOT NULL, state TEXT NOT NULL,
    first_seen INTEGER NOT NULL, deleted_at INTEGER,
    rev INTEGER NOT NULL,
    PRIMARY KEY (agent_id, device, path)) STRICT, WITHOUT ROWID;
CREATE INDEX notes_rev ON notes (rev) WHERE rev > 0;
CREATE INDEX notes_path ON notes (path);

CREATE TABLE chunks (sha256 TEXT PRIMARY KEY, data BLOB NOT NULL, rev INTEGER NOT NULL) STRICT;
CREATE INDEX chunks_rev ON chunks (rev) WHERE rev > 0;

-- Which own notes name a chunk; local, so that a chunk nobody names any more can go.
CREATE TABLE chunk_uses (sha256 TEXT NOT NULL, agent_id TEXT NOT NULL, path TEXT NOT NULL,
    PRIMARY KEY (sha256, agent_id, path)) STRICT, WITHOUT ROWID;

CREATE TABLE mentions (
    agent_id TEXT NOT NULL, device TEXT NOT NULL, path TEXT NOT NULL, n INTEGER NOT NULL,
    fact_id TEXT NOT NULL, line_from INTEGER NOT NULL, line_to INTEGER NOT NULL, date TEXT NOT NULL,
    headings TEXT NOT NULL, category TEXT NOT NULL, importance REAL NOT NULL, kind TEXT NOT NULL,
    task_state TEXT NOT NULL, metadata TEXT NOT NULL, code TEXT NOT NULL,
    rev INTEGER NOT NULL,
    PRIMARY KEY (agent_id, device, path, n)) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_fact ON mentions (agent_id, fact_id);
CREATE INDEX mentions_rev ON mentions (rev) WHERE rev > 0;

CREATE TABLE edits (
    agent_id TEXT NOT NULL, fact_id TEXT NOT NULL, field TEXT NOT NULL,
    value TEXT, version TEXT NOT NULL,
    rev INTEGER NOT NULL,
    PRIMARY KEY (agent_id, fact_id, field)) STRICT, WITHOUT ROWID;
CREATE INDEX edits_rev ON edits (rev) WHERE rev > 0;
CREATE INDEX edits_after ON edits (agent_id, value) WHERE field IN ('after', 'superseded_by', 'merged_into');

CREATE TABLE forgotten (
    agent_id TEXT NOT NULL, fact_id TEXT NOT NULL,
    version TEXT NOT NULL, lifted_version TEXT NOT NULL, moved_to TEXT NOT NULL,
    rev INTEGER NOT NULL,
    PRIMARY KEY (agent_id, fact_id)) STRICT, WITHOUT ROWID;
CREATE INDEX forgotten_rev ON forgotten (rev) WHERE rev > 0;

CREATE TABLE access (
    agent_id TEXT NOT NULL, fact_id TEXT NOT NULL, device TEXT NOT NULL,
    days INTEGER NOT NULL, last_day INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    PRIMARY KEY (agent_id, fact_id, device)) STRICT, WITHOUT ROWID;
CREATE INDEX access_rev ON access (rev) WHERE rev > 0;

CREATE TABLE hot_items (
    agent_id TEXT NOT NULL, section TEXT NOT NULL, key TEXT NOT NULL,
    value TEXT, version TEXT NOT NULL, deleted INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    PRIMARY KEY (agent_id, section, key)) STRICT, WITHOUT ROWID;
CREATE INDEX hot_items_rev ON hot_items (rev) WHERE rev > 0;

CREATE TABLE tree_nodes (
    agent_id TEXT NOT NULL, path TEXT NOT NULL,
    description TEXT NOT NULL, version TEXT NOT NULL, deleted INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    PRIMARY KEY (agent_id, path)) STRICT, WITHOUT ROWID;
CREATE INDEX tree_nodes_rev ON tree_nodes (rev) WHERE rev > 0;

CREATE TABLE devices (
    device TEXT PRIMARY KEY, name TEXT NOT NULL, platform TEXT NOT NULL, created_at INTEGER NOT NULL,
    notes_extra TEXT NOT NULL, succeeds TEXT NOT NULL,
    rev INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- ---- local only, never sent ----------------------------------------------------------------------------

-- One row a watched file: what was compared last. `totals` and `findings` are JSON.
CREATE TABLE files (
    path TEXT PRIMARY KEY, agent_id TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns TEXT NOT NULL,
    ctime_ns TEXT NOT NULL, ino TEXT NOT NULL, raw_sha256 TEXT NOT NULL, rules INTEGER NOT NULL,
    state TEXT NOT NULL, reason TEXT NOT NULL, seen_at INTEGER NOT NULL, totals TEXT NOT NULL,
    findings TEXT NOT NULL, masked INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- How far each other log was folded.
CREATE TABLE cursors (device TEXT PRIMARY KEY, idx INTEGER NOT NULL, sha256 TEXT NOT NULL,
    fault TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;

-- What this device sent, written before it is sent. `first`, `part`, `parts` are 0 for a plain segment.
CREATE TABLE receipts (
    device TEXT NOT NULL, idx INTEGER NOT NULL, sha256 TEXT NOT NULL, last_rev INTEGER NOT NULL,
    first INTEGER NOT NULL, part INTEGER NOT NULL, parts INTEGER NOT NULL,
    rows INTEGER NOT NULL, bytes INTEGER NOT NULL, at INTEGER NOT NULL, confirmed INTEGER NOT NULL,
    PRIMARY KEY (device, idx, sha256)) STRICT, WITHOUT ROWID;

-- The last picture row drawn for a fact (hash of its values), and of critical_state (fact_id = '').
CREATE TABLE drawn (agent_id TEXT NOT NULL, fact_id TEXT NOT NULL, hash TEXT NOT NULL,
    PRIMARY KEY (agent_id, fact_id)) STRICT, WITHOUT ROWID;

-- Duties that must outlive a crash: 'snapshot' of this log after a forget, and so on.
CREATE TABLE duties (kind TEXT NOT NULL, subject TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (kind, subject)) STRICT, WITHOUT ROWID;

-- The last 20 managed blocks of MEMORY.md, written or seen.
CREATE TABLE blocks (agent_id TEXT NOT NULL, sha256 TEXT NOT NULL, body TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (agent_id, sha256)) STRICT, WITHOUT ROWID;

CREATE TABLE undo_log (n INTEGER PRIMARY KEY, agent_id TEXT NOT NULL, at INTEGER NOT NULL, what TEXT NOT NULL,
    before TEXT NOT NULL, after TEXT NOT NULL, undone INTEGER NOT NULL) STRICT;

CREATE TABLE probes (agent_id TEXT NOT NULL, fact_id TEXT NOT NULL, query TEXT NOT NULL, at INTEGER NOT NULL,
    found INTEGER NOT NULL, PRIMARY KEY (agent_id, fact_id, query)) STRICT, WITHOUT ROWID;

-- ---- derived: a function of the rows above and the UTC day, rebuilt at any time --------------------------

-- Facts whose derived row and index entry are older than their rows: written in the transaction that changes
-- a row, taken out in the one that derives. Not empty = work is pending.
CREATE TABLE dirty (agent_id TEXT NOT NULL, fact_id TEXT NOT NULL, PRIMARY KEY (agent_id, fact_id)) STRICT, WITHOUT ROWID;

CREATE TABLE derived (
    n INTEGER PRIMARY KEY,          -- facts.n
    agent_id TEXT NOT NULL, fact_id TEXT NOT NULL, state TEXT NOT NULL, tier TEXT NOT NULL, score REAL NOT NULL,
    category TEXT NOT NULL, importance REAL NOT NULL, kind TEXT NOT NULL, task_state TEXT NOT NULL,
    created_at INTEGER NOT NULL, latest_day INTEGER NOT NULL, on_page INTEGER NOT NULL,
    access_days INTEGER NOT NULL, distilled TEXT NOT NULL, summary TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX derived_fact ON derived (agent_id, fact_id);
-- The tree's counts and last activity read this index alone.
CREATE INDEX derived_tier ON derived (agent_id, state, tier, category, latest_day);
-- Of one day, the more important fact has the higher score whatever day it is: warm and hot read these in order.
CREATE INDEX derived_recent ON derived (agent_id, latest_day, importance DESC, fact_id) WHERE state = 'live';
CREATE INDEX derived_kind ON derived (agent_id, kind, latest_day, importance DESC, fact_id)
    WHERE state = 'live' AND kind <> 'fact';
CREATE INDEX derived_used ON derived (agent_id) WHERE state = 'live' AND (access_days > 0 OR on_page = 1);

-- Facts whose picture row in the cloud may differ from what was drawn; filled by triggers, so that whoever derives
-- need not know of the picture. AUTOINCREMENT: a change during a draw takes a new n, and so is not taken for drawn.
CREATE TABLE undrawn (n INTEGER PRIMARY KEY AUTOINCREMENT, agent_id TEXT NOT NULL, fact_id TEXT NOT NULL,
    UNIQUE (agent_id, fact_id)) STRICT;
CREATE TRIGGER derived_added AFTER INSERT ON derived BEGIN
    DELETE FROM undrawn WHERE agent_id = new.agent_id AND fact_id = new.fact_id;
    INSERT INTO undrawn (agent_id, fact_id) VALUES (new.agent_id, new.fact_id);
END;
CREATE TRIGGER derived_again AFTER UPDATE OF state, category, importance, created_at, access_days ON derived BEGIN
    DELETE FROM undrawn WHERE agent_id = new.agent_id AND fact_id = new.fact_id;
    INSERT INTO undrawn (agent_id, fact_id) VALUES (new.agent_id, new.fact_id);
END;
CREATE TRIGGER derived_moved AFTER UPDATE OF tier ON derived WHEN old.tier IS NOT new.tier BEGIN
    DELETE FROM undrawn WHERE agent_id = new.agent_id AND fact_id = new.fact_id;
    INSERT INTO undrawn (agent_id, fact_id) VALUES (new.agent_id, new.fact_id);
END;
CREATE TRIGGER derived_gone AFTER DELETE ON derived BEGIN
    DELETE FROM undrawn WHERE agent_id = old.agent_id AND fact_id = old.fact_id;
    INSERT INTO undrawn (agent_id, fact_id) VALUES (old.agent_id, old.fact_id);
END;

-- Our own tokens, separated by blanks. Live facts only; rowid = facts.n. The tokens are kept beside the index
-- although that costs their size once more: only so does secure-delete know what to take out of the index pages
-- (a contentless_delete table leaves deleted words in the file until a merge), and re-ranking reads them.
CREATE VIRTUAL TABLE search_index USING fts5 (
    body, headings, category, extra, agent, tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co S* P* M*'");
INSERT INTO search_index (search_index, rank) VALUES ('secure-delete', 1);

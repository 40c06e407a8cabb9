-- The short layers of memory, local only, never sent (docs/memory.md, 3): sessions, and what dreams did.

-- The last talks of an agent; `text` is masked. Let go of by the UTC day.
CREATE TABLE sessions (
    agent_id TEXT NOT NULL, name TEXT NOT NULL, started_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    PRIMARY KEY (agent_id, name)) STRICT, WITHOUT ROWID;
CREATE TABLE turns (
    agent_id TEXT NOT NULL, name TEXT NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL,
    role TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (agent_id, name, n)) STRICT, WITHOUT ROWID;

-- What a dream did to facts, by their ids: `before` and `after` are JSON, {fact id: what it was merged into or null};
-- `change` is the row of undo_log that takes the step back.
CREATE TABLE dream_log (
    n INTEGER PRIMARY KEY, agent_id TEXT NOT NULL, at INTEGER NOT NULL, step TEXT NOT NULL,
    fact_id TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL, change INTEGER NOT NULL) STRICT;
CREATE INDEX dream_log_agent ON dream_log (agent_id, n);

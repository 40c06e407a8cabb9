-- URLs by any piece of them: live facts that have one, rowid = facts.n, folded, one a line.
CREATE VIRTUAL TABLE url_index USING fts5 (url, tokenize = "trigram");
INSERT INTO url_index (url_index, rank) VALUES ('secure-delete', 1);
-- What is here already gets its entry as the next thing that is derived.
INSERT OR IGNORE INTO dirty SELECT agent_id, fact_id FROM mentions WHERE instr(metadata, '"urls"');

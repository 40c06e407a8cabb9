-- Counts and last activity without a walk through memory: no work after a change may grow with its size.

-- The last day on which somebody read the fact in these words, 0 for never.
ALTER TABLE derived ADD COLUMN last_read INTEGER NOT NULL DEFAULT 0;
UPDATE derived SET last_read = coalesce((SELECT max(last_day) FROM access a
    WHERE a.agent_id = derived.agent_id AND a.fact_id = derived.fact_id), 0) WHERE access_days > 0;
CREATE INDEX derived_read ON derived (agent_id, category, last_read) WHERE state = 'live' AND last_read > 0;

-- What was read, or stands on MEMORY.md, is ranked by itself: so often, and not too long ago.
DROP INDEX derived_used;
CREATE INDEX derived_used ON derived (agent_id, access_days, latest_day) WHERE state = 'live' AND access_days > 0;
CREATE INDEX derived_on_page ON derived (agent_id, latest_day) WHERE state = 'live' AND on_page = 1;

-- How many live facts each category has in each tier, and the bytes of their distilled text: kept by triggers, so that
-- no count walks through memory. `audit` counts them again.
CREATE TABLE totals (agent_id TEXT NOT NULL, category TEXT NOT NULL, tier TEXT NOT NULL,
    facts INTEGER NOT NULL, bytes INTEGER NOT NULL,
    PRIMARY KEY (agent_id, category, tier)) STRICT, WITHOUT ROWID;
CREATE TRIGGER totals_added AFTER INSERT ON derived WHEN new.state = 'live' BEGIN
    INSERT INTO totals VALUES (new.agent_id, new.category, new.tier, 1, octet_length(new.distilled))
        ON CONFLICT DO UPDATE SET facts = facts + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER totals_left AFTER UPDATE OF state, tier, category, distilled ON derived
    WHEN old.state = 'live' AND (new.state, new.tier, new.category, new.distilled)
        IS NOT (old.state, old.tier, old.category, old.distilled) BEGIN
    UPDATE totals SET facts = facts - 1, bytes = bytes - octet_length(old.distilled)
        WHERE agent_id = old.agent_id AND category = old.category AND tier = old.tier;
    DELETE FROM totals WHERE agent_id = old.agent_id AND category = old.category AND tier = old.tier AND facts = 0;
END;
CREATE TRIGGER totals_came AFTER UPDATE OF state, tier, category, distilled ON derived
    WHEN new.state = 'live' AND (new.state, new.tier, new.category, new.distilled)
        IS NOT (old.state, old.tier, old.category, old.distilled) BEGIN
    INSERT INTO totals VALUES (new.agent_id, new.category, new.tier, 1, octet_length(new.distilled))
        ON CONFLICT DO UPDATE SET facts = facts + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER totals_gone AFTER DELETE ON derived WHEN old.state = 'live' BEGIN
    UPDATE totals SET facts = facts - 1, bytes = bytes - octet_length(old.distilled)
        WHERE agent_id = old.agent_id AND category = old.category AND tier = old.tier;
    DELETE FROM totals WHERE agent_id = old.agent_id AND category = old.category AND tier = old.tier AND facts = 0;
END;

INSERT INTO totals SELECT agent_id, category, tier, count(*), sum(octet_length(distilled)) FROM derived
    WHERE state = 'live' GROUP BY agent_id, category, tier;

-- The index holds simplified characters alone: whatever has Chinese in it or above it gets its entry anew.
INSERT OR IGNORE INTO dirty SELECT agent_id, id FROM facts WHERE text GLOB '*[㐀-鿿]*'
    UNION SELECT agent_id, fact_id FROM mentions WHERE headings GLOB '*[㐀-鿿]*';

-- Number of memories by client, and the evictions.

-- Number of memories of each client, maintained by triggers: counting them for every write would read them all.
-- Unidentified clients are counted together. Superseded memories do not count.

CREATE TABLE client_memories (
    client TEXT PRIMARY KEY,
    memories INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO client_memories (client, memories)
SELECT coalesce(json_extract(provenance, '$.client'), ''), count(*) FROM memory WHERE id NOT GLOB 'old_*' GROUP BY 1;

CREATE TRIGGER memory_counted AFTER INSERT ON memory WHEN NEW.id NOT GLOB 'old_*' BEGIN
    INSERT INTO client_memories (client, memories) VALUES (coalesce(json_extract(NEW.provenance, '$.client'), ''), 1)
    ON CONFLICT (client) DO UPDATE SET memories = memories + 1;
END;
CREATE TRIGGER memory_discounted AFTER DELETE ON memory WHEN OLD.id NOT GLOB 'old_*' BEGIN
    UPDATE client_memories SET memories = memories - 1 WHERE client = coalesce(json_extract(OLD.provenance, '$.client'), '');
    DELETE FROM client_memories WHERE client = coalesce(json_extract(OLD.provenance, '$.client'), '') AND memories = 0;
END;
CREATE TRIGGER memory_counted_elsewhere AFTER UPDATE OF provenance ON memory
WHEN OLD.id NOT GLOB 'old_*' AND json_extract(OLD.provenance, '$.client') IS NOT json_extract(NEW.provenance, '$.client')
BEGIN
    UPDATE client_memories SET memories = memories - 1 WHERE client = coalesce(json_extract(OLD.provenance, '$.client'), '');
    DELETE FROM client_memories WHERE client = coalesce(json_extract(OLD.provenance, '$.client'), '') AND memories = 0;
    INSERT INTO client_memories (client, memories) VALUES (coalesce(json_extract(NEW.provenance, '$.client'), ''), 1)
    ON CONFLICT (client) DO UPDATE SET memories = memories + 1;
END;

-- The last eviction of faded memories by any process: its time, its count, and the total count.
CREATE TABLE forgetting (
    only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
    begun_at INTEGER,
    ended_at INTEGER,
    last_forgotten INTEGER NOT NULL DEFAULT 0,
    total_forgotten INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO forgetting (only_one) VALUES (1);

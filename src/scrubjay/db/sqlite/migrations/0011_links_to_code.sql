-- Links from memories to code, with the state of the code when the memory was written or last confirmed.
CREATE TABLE memory_link (
    seq INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    root TEXT NOT NULL,
    name TEXT NOT NULL,
    origin TEXT NOT NULL,
    -- All of these are null until the name is resolved.
    path TEXT,
    symbol TEXT,
    blob TEXT,
    digest TEXT,
    commit_id TEXT,
    first_line INTEGER,
    last_line INTEGER,
    linked_at INTEGER NOT NULL,
    text TEXT,
    UNIQUE (seq, root, name)
) STRICT;
CREATE INDEX memory_link_by_place ON memory_link (root, path);

-- What memories are about in code, and what that was when they were written or last confirmed.
CREATE TABLE memory_link (
    seq INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    root TEXT NOT NULL,
    name TEXT NOT NULL,
    origin TEXT NOT NULL,
    -- All of these are null until the name could be looked up.
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

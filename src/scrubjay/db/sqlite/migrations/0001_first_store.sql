-- Memories with their text index, vectors and change log; projects; jobs; use counts of tools.
-- Times are microseconds since 1970 in UTC. Lists and mappings are JSON text.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value ANY
) STRICT, WITHOUT ROWID;

-- Visibility of a memory: global, one project, or one session (of one project, or of none).
CREATE TABLE audience (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL CHECK (scope IN ('global', 'project', 'session')),
    project_id TEXT,
    session_id TEXT
) STRICT;

CREATE INDEX audience_by_whom ON audience (scope, project_id, session_id);

-- Columns used by filters come first, so that filtering does not read the long content after them.
CREATE TABLE memory (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    audience_id INTEGER NOT NULL REFERENCES audience (id),
    session_id TEXT,
    key TEXT,
    category TEXT,
    importance REAL NOT NULL,
    confidence REAL NOT NULL,
    speaker TEXT,
    occurred_at INTEGER,
    recorded_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    tags TEXT NOT NULL,
    metadata TEXT NOT NULL,
    content TEXT NOT NULL
) STRICT;

-- At most one memory per key and visibility.
CREATE UNIQUE INDEX memory_by_key ON memory (audience_id, key) WHERE key IS NOT NULL;

-- The text index over analysed terms, split at spaces only. It stores the terms beside the index: a contentless table
-- would leave the words of a deleted memory in the file until a later merge, even with secure-delete.
CREATE VIRTUAL TABLE memory_terms USING fts5 (
    terms,
    tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);
INSERT INTO memory_terms (memory_terms, rank) VALUES ('secure-delete', 1);
-- Each write creates a segment, and each search looks up every term in all segments: few segments make fast searches.
INSERT INTO memory_terms (memory_terms, rank) VALUES ('automerge', 2);
INSERT INTO memory_terms (memory_terms, rank) VALUES ('crisismerge', 4);

-- Number of memories that contain each term.
CREATE VIRTUAL TABLE memory_vocabulary USING fts5vocab ('memory_terms', 'row');

-- Embeddings: little-endian float16 values; empty if the model has no vector for the text.
CREATE TABLE memory_vector (
    seq INTEGER PRIMARY KEY REFERENCES memory (seq) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vector BLOB NOT NULL
) STRICT;

-- Changes of vectors, in order; revisions have no gaps. A copy of the vectors (in memory or in a file) records the last
-- revision and mark that it contains. While the log still has exactly this entry, the entries after it are all that the
-- copy lacks. Otherwise (the log was shortened, or a backup was restored) the copy must be rebuilt. So the log can be
-- shortened at any time.
CREATE TABLE memory_change (
    revision INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    mark INTEGER NOT NULL DEFAULT (random())
) STRICT;
INSERT INTO memory_change (revision, seq) VALUES (0, 0);

CREATE TRIGGER vector_added AFTER INSERT ON memory_vector BEGIN
    INSERT INTO memory_change (seq) VALUES (NEW.seq);
END;
CREATE TRIGGER vector_replaced AFTER UPDATE ON memory_vector BEGIN
    INSERT INTO memory_change (seq) VALUES (NEW.seq);
END;
CREATE TRIGGER vector_removed AFTER DELETE ON memory_vector BEGIN
    INSERT INTO memory_change (seq) VALUES (OLD.seq);
END;
-- 100,000 entries take about 2 MB; a copy that lacks more than that is rebuilt faster than updated.
CREATE TRIGGER changes_shortened AFTER INSERT ON memory_change WHEN NEW.revision % 1000 = 0 BEGIN
    DELETE FROM memory_change WHERE revision <= NEW.revision - 100000;
END;

-- Counting a million rows takes milliseconds, and every search needs the number.
INSERT INTO meta (name, value) VALUES ('memories', 0);
CREATE TRIGGER memory_added AFTER INSERT ON memory BEGIN
    UPDATE meta SET value = value + 1 WHERE name = 'memories';
END;
CREATE TRIGGER memory_removed AFTER DELETE ON memory BEGIN
    UPDATE meta SET value = value - 1 WHERE name = 'memories';
END;

CREATE TABLE project (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- The active project of each client.
CREATE TABLE client_project (
    client TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id)
) STRICT, WITHOUT ROWID;

CREATE TABLE job (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    state TEXT NOT NULL
        CHECK (state IN ('queued', 'running', 'cancelling', 'completed', 'failed', 'cancelled')),
    done REAL NOT NULL DEFAULT 0,
    total REAL,
    message TEXT NOT NULL DEFAULT '',
    result TEXT,
    error TEXT,
    attempts INTEGER NOT NULL,
    owner TEXT,
    leased_until INTEGER,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER
) STRICT;

CREATE INDEX job_to_do ON job (seq) WHERE ended_at IS NULL;

CREATE TABLE tool_usage (
    tool TEXT PRIMARY KEY,
    calls INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

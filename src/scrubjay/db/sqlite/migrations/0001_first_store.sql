-- Memories with their text index, vectors and change log; projects; jobs; how often tools are used.
-- Times are microseconds since 1970 in UTC. Lists and mappings are JSON text.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value ANY
) STRICT, WITHOUT ROWID;

-- Who sees a memory: everybody, those in one project, or one session (of one project, or of none).
CREATE TABLE audience (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL CHECK (scope IN ('global', 'project', 'session')),
    project_id TEXT,
    session_id TEXT
) STRICT;

CREATE INDEX audience_by_whom ON audience (scope, project_id, session_id);

-- The columns that filters read come first; long content after them stays unread.
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

-- One memory for a key among those with the same audience.
CREATE UNIQUE INDEX memory_by_key ON memory (audience_id, key) WHERE key IS NOT NULL;

-- The text index over analysed terms, split at spaces only. It keeps the terms beside the index: a contentless table
-- would leave the words of a deleted memory in the file until some later merge, even with secure-delete.
CREATE VIRTUAL TABLE memory_terms USING fts5 (
    terms,
    tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);
INSERT INTO memory_terms (memory_terms, rank) VALUES ('secure-delete', 1);
-- Every write makes a segment, and every search looks each term up in all of them: few segments make fast searches.
INSERT INTO memory_terms (memory_terms, rank) VALUES ('automerge', 2);
INSERT INTO memory_terms (memory_terms, rank) VALUES ('crisismerge', 4);

-- In how many memories each term occurs.
CREATE VIRTUAL TABLE memory_vocabulary USING fts5vocab ('memory_terms', 'row');

-- What search by meaning reads: little-endian float16 values, empty when the text has no meaning to the model.
CREATE TABLE memory_vector (
    seq INTEGER PRIMARY KEY REFERENCES memory (seq) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vector BLOB NOT NULL
) STRICT;

-- Which vectors changed, in order; revisions have no gap. A copy of the vectors (in memory, or in a file) knows the
-- last revision and mark that it contains. While the log still has exactly this entry, what follows it is all that the
-- copy misses. When it has not (the log was shortened, or the copy belongs to another life of this store, such as one
-- before a backup was put back), the copy is worthless. So the log can be shortened at any time, whoever reads it.
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
-- A hundred thousand entries take about 2 MB; a copy that missed more is read anew faster than it is mended.
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

-- The project that each client works in.
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

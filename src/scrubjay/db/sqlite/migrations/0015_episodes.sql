-- Episodes, their steps, and the search data of complete episodes.

CREATE TABLE episode (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT REFERENCES project (id) ON DELETE CASCADE,
    client TEXT NOT NULL,
    task_type TEXT NOT NULL
        CHECK (task_type IN ('code_generation', 'debugging', 'refactoring', 'testing', 'analysis', 'documentation')),
    -- As the client wrote it, and case-folded for comparison.
    domain TEXT NOT NULL,
    folded_domain TEXT NOT NULL,
    language TEXT,
    framework TEXT,
    complexity TEXT NOT NULL CHECK (complexity IN ('simple', 'moderate', 'complex')),
    start_time INTEGER NOT NULL,
    end_time INTEGER,
    outcome_type TEXT CHECK (outcome_type IN ('success', 'partial_success', 'failure')),
    reward REAL,
    quality REAL,
    -- Number of steps, size in bytes, and number of changes.
    steps INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0,
    tags TEXT NOT NULL,
    metadata TEXT NOT NULL,
    task_description TEXT NOT NULL,
    checkpoints TEXT NOT NULL DEFAULT '[]',
    applied_patterns TEXT NOT NULL DEFAULT '[]',
    -- JSON: outcome, reward, quality, reflection, features, and the ids of learned patterns.
    completion TEXT,
    CHECK ((end_time IS NULL) = (completion IS NULL)),
    CHECK ((end_time IS NULL) = (outcome_type IS NULL))
) STRICT;
CREATE INDEX episode_by_project ON episode (project_id, end_time);
CREATE INDEX episode_by_client ON episode (client);

CREATE TABLE episode_step (
    seq INTEGER PRIMARY KEY,
    episode_seq INTEGER NOT NULL REFERENCES episode (seq) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    time INTEGER NOT NULL,
    tool TEXT NOT NULL,
    action TEXT NOT NULL,
    parameters TEXT NOT NULL,
    result TEXT,
    latency_ms INTEGER NOT NULL,
    tokens_used INTEGER,
    metadata TEXT NOT NULL,
    UNIQUE (episode_seq, number)
) STRICT;

-- The text index of complete episodes, built like that of memories.
CREATE VIRTUAL TABLE episode_terms USING fts5 (
    terms,
    tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);
INSERT INTO episode_terms (episode_terms, rank) VALUES ('secure-delete', 1);
INSERT INTO episode_terms (episode_terms, rank) VALUES ('automerge', 2);
INSERT INTO episode_terms (episode_terms, rank) VALUES ('crisismerge', 4);

CREATE TRIGGER episode_words_removed AFTER DELETE ON episode BEGIN
    DELETE FROM episode_terms WHERE rowid = OLD.seq;
END;

-- Their embeddings: little-endian float16 values; empty if the model has no vector for the text. The model is empty
-- until a vector is computed.
CREATE TABLE episode_vector (
    seq INTEGER PRIMARY KEY REFERENCES episode (seq) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vector BLOB NOT NULL
) STRICT;
-- Finds episodes without a vector of a model.
CREATE INDEX episode_vector_by_model ON episode_vector (model);

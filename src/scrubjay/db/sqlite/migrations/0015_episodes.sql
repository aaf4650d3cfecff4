-- What agents did for tasks: episodes, their steps, and what search needs of those that are complete.

CREATE TABLE episode (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT REFERENCES project (id) ON DELETE CASCADE,
    client TEXT NOT NULL,
    task_type TEXT NOT NULL
        CHECK (task_type IN ('code_generation', 'debugging', 'refactoring', 'testing', 'analysis', 'documentation')),
    -- As it was given, and as it is compared.
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
    -- How many steps it has, how many bytes it takes, and how often it changed.
    steps INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0,
    tags TEXT NOT NULL,
    metadata TEXT NOT NULL,
    task_description TEXT NOT NULL,
    checkpoints TEXT NOT NULL DEFAULT '[]',
    applied_patterns TEXT NOT NULL DEFAULT '[]',
    -- What completed it: outcome, reward, quality, reflection, features, and the ids of what was learned.
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

-- The words of complete episodes, as those of memories are kept.
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

-- Their meaning: little-endian float16 values, empty when there is none to the model. The model is empty as long as no
-- vector could be had.
CREATE TABLE episode_vector (
    seq INTEGER PRIMARY KEY REFERENCES episode (seq) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vector BLOB NOT NULL
) STRICT;
-- Finds those that lack a vector of a model.
CREATE INDEX episode_vector_by_model ON episode_vector (model);

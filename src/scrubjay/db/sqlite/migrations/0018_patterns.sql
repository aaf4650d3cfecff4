-- Patterns extracted from episodes, their evidence, and the episodes that they were recommended to.

CREATE TABLE pattern (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT REFERENCES project (id) ON DELETE CASCADE,
    type TEXT NOT NULL CHECK (type IN ('tool_sequence', 'decision_point', 'error_recovery', 'context_pattern')),
    task_type TEXT NOT NULL,
    domain TEXT NOT NULL,
    folded_domain TEXT NOT NULL,
    -- The rest of its context, and the pattern itself.
    context TEXT NOT NULL,
    form TEXT NOT NULL,
    sample INTEGER NOT NULL CHECK (sample > 0),
    successes REAL NOT NULL CHECK (successes BETWEEN 0 AND sample),
    times_retrieved INTEGER NOT NULL DEFAULT 0,
    times_applied INTEGER NOT NULL DEFAULT 0,
    success_when_applied INTEGER NOT NULL DEFAULT 0,
    failure_when_applied INTEGER NOT NULL DEFAULT 0,
    avg_reward_delta REAL NOT NULL DEFAULT 0,
    compared INTEGER NOT NULL DEFAULT 0,
    last_used INTEGER,
    created_at INTEGER NOT NULL,
    last_seen INTEGER NOT NULL
) STRICT;
CREATE INDEX pattern_by_place ON pattern (project_id, folded_domain, type, last_seen);

-- Episodes that support a pattern, and whether the pattern quotes the episode.
CREATE TABLE pattern_evidence (
    seq INTEGER PRIMARY KEY,
    pattern_seq INTEGER NOT NULL REFERENCES pattern (seq) ON DELETE CASCADE,
    episode_seq INTEGER NOT NULL REFERENCES episode (seq) ON DELETE CASCADE,
    has_its_words INTEGER NOT NULL,
    UNIQUE (pattern_seq, episode_seq)
) STRICT;
CREATE INDEX pattern_evidence_by_episode ON pattern_evidence (episode_seq);

-- Deleting an episode must erase its words: a pattern is deleted with the last episode that it quotes.
CREATE TRIGGER pattern_without_words AFTER DELETE ON pattern_evidence BEGIN
    DELETE FROM pattern_vector WHERE seq = OLD.pattern_seq;
    DELETE FROM pattern
    WHERE seq = OLD.pattern_seq
        AND NOT EXISTS (SELECT 1 FROM pattern_evidence WHERE pattern_seq = OLD.pattern_seq AND has_its_words);
END;

-- Their embeddings, stored like those of episodes.
CREATE TABLE pattern_vector (
    seq INTEGER PRIMARY KEY REFERENCES pattern (seq) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vector BLOB NOT NULL
) STRICT;

-- Episodes that a pattern was recommended to. Whether it was applied is known when the episode completes.
CREATE TABLE pattern_recommendation (
    episode_seq INTEGER NOT NULL REFERENCES episode (seq) ON DELETE CASCADE,
    pattern_seq INTEGER NOT NULL REFERENCES pattern (seq) ON DELETE CASCADE,
    PRIMARY KEY (episode_seq, pattern_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX pattern_recommendation_by_pattern ON pattern_recommendation (pattern_seq);

-- Complete episodes that were searched for patterns.
CREATE TABLE learned_episode (
    seq INTEGER PRIMARY KEY REFERENCES episode (seq) ON DELETE CASCADE
) STRICT;

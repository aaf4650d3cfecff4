-- What episodes teach: patterns, which episodes bear them out, and to which they were recommended.

CREATE TABLE pattern (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT REFERENCES project (id) ON DELETE CASCADE,
    type TEXT NOT NULL CHECK (type IN ('tool_sequence', 'decision_point', 'error_recovery', 'context_pattern')),
    task_type TEXT NOT NULL,
    domain TEXT NOT NULL,
    folded_domain TEXT NOT NULL,
    -- The rest of where it belongs, and what recurs.
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

-- Which episodes bear a pattern out, and whether it has the very words of the episode.
CREATE TABLE pattern_evidence (
    seq INTEGER PRIMARY KEY,
    pattern_seq INTEGER NOT NULL REFERENCES pattern (seq) ON DELETE CASCADE,
    episode_seq INTEGER NOT NULL REFERENCES episode (seq) ON DELETE CASCADE,
    has_its_words INTEGER NOT NULL,
    UNIQUE (pattern_seq, episode_seq)
) STRICT;
CREATE INDEX pattern_evidence_by_episode ON pattern_evidence (episode_seq);

-- Whoever deletes an episode wants its words gone: with the last one that has them, the pattern goes.
CREATE TRIGGER pattern_without_words AFTER DELETE ON pattern_evidence BEGIN
    DELETE FROM pattern_vector WHERE seq = OLD.pattern_seq;
    DELETE FROM pattern
    WHERE seq = OLD.pattern_seq
        AND NOT EXISTS (SELECT 1 FROM pattern_evidence WHERE pattern_seq = OLD.pattern_seq AND has_its_words);
END;

-- Their meaning, as that of episodes is kept.
CREATE TABLE pattern_vector (
    seq INTEGER PRIMARY KEY REFERENCES pattern (seq) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vector BLOB NOT NULL
) STRICT;

-- For which episodes a pattern was asked for: whether it was gone by is seen at their end.
CREATE TABLE pattern_recommendation (
    episode_seq INTEGER NOT NULL REFERENCES episode (seq) ON DELETE CASCADE,
    pattern_seq INTEGER NOT NULL REFERENCES pattern (seq) ON DELETE CASCADE,
    PRIMARY KEY (episode_seq, pattern_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX pattern_recommendation_by_pattern ON pattern_recommendation (pattern_seq);

-- Complete episodes in which was looked for patterns.
CREATE TABLE learned_episode (
    seq INTEGER PRIMARY KEY REFERENCES episode (seq) ON DELETE CASCADE
) STRICT;

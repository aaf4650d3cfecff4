-- columns --
-- The columns of a pattern, in the order of `pattern_from` in rows.py.
pattern.seq, pattern.id, pattern.project_id, pattern.task_type, pattern.domain, pattern.context, pattern.type,
pattern.form, pattern.sample, pattern.successes, pattern.times_retrieved, pattern.times_applied,
pattern.success_when_applied, pattern.failure_when_applied, pattern.avg_reward_delta, pattern.compared,
pattern.last_used, pattern.created_at, pattern.last_seen,
(
    SELECT json_group_array(id ORDER BY place)
    FROM (
        SELECT episode.id, pattern_evidence.seq AS place
        FROM pattern_evidence JOIN episode ON episode.seq = pattern_evidence.episode_seq
        WHERE pattern_evidence.pattern_seq = pattern.seq
        ORDER BY pattern_evidence.seq DESC
        LIMIT 50
    )
),
(
    SELECT json_group_array(about ORDER BY place)
    FROM (
        SELECT substr(episode.task_description, 1, 300) AS about, pattern_evidence.seq AS place
        FROM pattern_evidence JOIN episode ON episode.seq = pattern_evidence.episode_seq
        WHERE pattern_evidence.pattern_seq = pattern.seq AND {../../../db/sqlite/intact.episode}
        ORDER BY pattern_evidence.seq DESC
        LIMIT 3
    )
)

-- visible --
-- Patterns of the caller's project, and global ones.
(pattern.project_id IS NULL OR pattern.project_id = :project)

-- matches_filter --
-- Patterns that match the filter.
(:task_type IS NULL OR pattern.task_type = :task_type)
AND (:domain IS NULL OR pattern.folded_domain = :domain)
AND pattern.successes >= :min_success_rate * pattern.sample

-- get --
-- Return a visible pattern.
SELECT {columns} FROM pattern WHERE pattern.id = :id AND {visible} AND {../../../db/sqlite/intact.pattern}

-- same_kind --
-- Return patterns of one type, domain and task type, of one project or of none, most recently seen first.
SELECT {columns} FROM pattern
WHERE pattern.project_id IS :project AND pattern.folded_domain = :domain AND pattern.type = :type
    AND pattern.task_type = :task_type AND {../../../db/sqlite/intact.pattern}
ORDER BY pattern.last_seen DESC
LIMIT :limit

-- find --
-- Return matching patterns, most frequent first.
SELECT {columns} FROM pattern WHERE {visible} AND {matches_filter} AND {../../../db/sqlite/intact.pattern} ORDER BY pattern.sample DESC, pattern.seq

-- candidates --
-- Return matching patterns with their vectors.
SELECT pattern_vector.vector, {columns}
FROM pattern LEFT JOIN pattern_vector ON pattern_vector.seq = pattern.seq AND pattern_vector.model = :model
WHERE {visible} AND {matches_filter} AND {../../../db/sqlite/intact.pattern}
ORDER BY pattern.seq

-- set_vector --
-- Insert or replace the vector of an existing pattern.
INSERT OR REPLACE INTO pattern_vector (seq, model, vector)
SELECT seq, :model, :vector FROM pattern WHERE id = :id

-- count_retrieval --
-- Count a retrieval of patterns.
UPDATE pattern SET times_retrieved = times_retrieved + 1, last_used = :at
WHERE id IN (SELECT value FROM json_each(:ids))

-- add_recommendations --
-- Record which patterns were recommended for an open episode; the caller has checked that both are visible.
INSERT OR IGNORE INTO pattern_recommendation (episode_seq, pattern_seq)
SELECT episode.seq, pattern.seq FROM pattern, episode
WHERE pattern.id IN (SELECT value FROM json_each(:ids)) AND episode.id = :episode AND episode.end_time IS NULL

-- recommended --
-- Return the ids of the patterns recommended for an episode.
SELECT pattern.id FROM episode
CROSS JOIN pattern_recommendation ON pattern_recommendation.episode_seq = episode.seq
CROSS JOIN pattern ON pattern.seq = pattern_recommendation.pattern_seq
WHERE episode.id = :id

-- unlearned --
-- Return complete episodes without a learning result.
SELECT id, project_id FROM episode
WHERE end_time IS NOT NULL AND seq NOT IN (SELECT seq FROM learned_episode) AND {../../../db/sqlite/intact.episode}
ORDER BY seq
LIMIT :limit

-- episode_seq --
-- Return the seq of an episode.
SELECT seq FROM episode WHERE id = :id

-- is_learned --
-- True when an episode has a learning result.
SELECT EXISTS (SELECT 1 FROM learned_episode WHERE seq = :seq)

-- set_learned --
-- Record that an episode has a learning result.
INSERT OR IGNORE INTO learned_episode (seq) VALUES (:seq)

-- same_scope --
-- Return a pattern of exactly this project, or of none.
SELECT {columns} FROM pattern WHERE pattern.id = :id AND pattern.project_id IS :project AND {../../../db/sqlite/intact.pattern}

-- add_pattern --
-- Insert a pattern; no row if a damaged one has its id.
INSERT INTO pattern (
    id, project_id, type, task_type, domain, folded_domain, context, form, sample, successes, created_at, last_seen
)
VALUES (
    :id, :project_id, :type, :task_type, :domain, :folded_domain, :context, :form, :sample, :successes, :created_at,
    :last_seen
)
ON CONFLICT DO NOTHING
RETURNING seq

-- update_pattern --
-- Update a pattern with another episode.
UPDATE pattern SET context = :context, form = :form, sample = :sample, successes = :successes, last_seen = :last_seen
WHERE seq = :seq

-- delete_vector --
-- Delete the vector of a pattern whose text has changed.
DELETE FROM pattern_vector WHERE seq = :seq

-- add_evidence --
-- Record that an episode shows a pattern.
INSERT OR IGNORE INTO pattern_evidence (pattern_seq, episode_seq, has_its_words)
VALUES (:pattern_seq, :episode_seq, :has_its_words)

-- set_effectiveness --
-- Update the effectiveness of a pattern.
UPDATE pattern
SET times_applied = :times_applied, success_when_applied = :success_when_applied,
    failure_when_applied = :failure_when_applied, avg_reward_delta = :avg_reward_delta, compared = :compared,
    last_used = :last_used
WHERE seq = :seq

-- set_applied --
-- Record the patterns that an episode applied.
UPDATE episode SET applied_patterns = :applied WHERE seq = :seq

-- usual_reward --
-- Return the mean reward of the other complete episodes of a project and domain; null without any.
SELECT avg(reward) FROM episode
WHERE project_id IS :project AND folded_domain = :domain AND end_time IS NOT NULL AND seq <> :seq AND {../../../db/sqlite/intact.episode}

-- quality_points --
-- Return end time and quality of complete episodes, latest first.
SELECT end_time, quality FROM episode
WHERE (project_id IS NULL OR project_id = :project) AND end_time IS NOT NULL AND quality IS NOT NULL
    AND (:since IS NULL OR end_time >= :since) AND {../../../db/sqlite/intact.episode}
ORDER BY end_time DESC
LIMIT :limit

-- episode_counts --
-- Count episodes and their steps by outcome.
SELECT outcome_type, count(*), sum(steps) FROM episode
WHERE (project_id IS NULL OR project_id = :project) AND {../../../db/sqlite/intact.episode}
GROUP BY outcome_type

-- averages --
-- Return mean reward, quality and duration in seconds of complete episodes.
SELECT avg(reward), avg(quality), avg(end_time - start_time) / 1e6 FROM episode
WHERE (project_id IS NULL OR project_id = :project) AND end_time IS NOT NULL AND {../../../db/sqlite/intact.episode}

-- pattern_counts --
-- Count patterns by type.
SELECT type, count(*) FROM pattern WHERE {visible} AND {../../../db/sqlite/intact.pattern} GROUP BY type

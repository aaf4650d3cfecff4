-- columns --
-- The fields of an episode, in the order that `rows.episode_from` expects.
episode.seq, episode.id, episode.project_id, episode.client, episode.task_type, episode.domain, episode.language,
episode.framework, episode.complexity, episode.start_time, episode.end_time, episode.revision, episode.tags,
episode.metadata, episode.task_description, episode.checkpoints, episode.applied_patterns, episode.completion

-- visible --
-- Rows of the caller's project, or of no project.
(episode.project_id IS NULL OR episode.project_id = :project)

-- matches_filter --
-- Rows that match the filter.
(:completed IS NULL OR (episode.end_time IS NOT NULL) = :completed)
AND (:domain IS NULL OR episode.folded_domain = :domain)
AND (:task_type IS NULL OR episode.task_type = :task_type)
AND (:outcome IS NULL OR episode.outcome_type = :outcome)
AND (:since IS NULL OR coalesce(episode.end_time, episode.start_time) >= :since)
AND (
    :tags IS NULL
    OR (
        SELECT count(*) FROM json_each(:tags) AS wanted
        WHERE EXISTS (SELECT 1 FROM json_each(episode.tags) AS own WHERE own.value = wanted.value)
    ) >= :min_tags
)

-- add --
-- Insert an episode.
INSERT INTO episode (
    id, project_id, client, task_type, domain, folded_domain, language, framework, complexity, start_time, bytes, tags,
    metadata, task_description
)
VALUES (
    :id, :project_id, :client, :task_type, :domain, :folded_domain, :language, :framework, :complexity, :start_time,
    :bytes, :tags, :metadata, :task_description
)

-- get --
-- One visible episode.
SELECT {columns} FROM episode WHERE episode.id = :id AND {visible} AND {../../db/sqlite/intact.episode}

-- get_many --
-- Visible episodes by id.
SELECT {columns} FROM episode
WHERE episode.id IN (SELECT value FROM json_each(:ids)) AND {visible} AND {../../db/sqlite/intact.episode}

-- bytes --
-- The total size in bytes of visible episodes by id.
SELECT coalesce(sum(episode.bytes), 0) FROM episode
WHERE episode.id IN (SELECT value FROM json_each(:ids)) AND {visible}

-- by_seq --
-- Episodes by seq.
SELECT {columns} FROM episode WHERE episode.seq IN (SELECT value FROM json_each(:seqs)) AND {../../db/sqlite/intact.episode}

-- steps --
-- The steps of an episode, in order.
SELECT number, time, tool, action, parameters, result, latency_ms, tokens_used, metadata
FROM episode_step
WHERE episode_seq = :seq AND {../../db/sqlite/intact.episode_step}
ORDER BY number

-- state --
-- The completion, number of steps and size of a visible episode.
SELECT episode.seq, episode.end_time IS NOT NULL, episode.steps, episode.bytes
FROM episode
WHERE episode.id = :id AND {visible} AND {../../db/sqlite/intact.episode}

-- step --
-- One step by its number.
SELECT number, time, tool, action, parameters, result, latency_ms, tokens_used, metadata
FROM episode_step
WHERE episode_seq = :seq AND number = :number AND {../../db/sqlite/intact.episode_step}

-- add_step --
-- Insert a step.
INSERT INTO episode_step (
    episode_seq, number, time, tool, action, parameters, result, latency_ms, tokens_used, metadata
)
VALUES (:seq, :number, :time, :tool, :action, :parameters, :result, :latency_ms, :tokens_used, :metadata)

-- count_step --
-- Count a step.
UPDATE episode SET steps = steps + 1, bytes = bytes + :bytes, revision = revision + 1 WHERE seq = :seq

-- change --
-- Update the changeable columns.
UPDATE episode
SET task_description = :task_description, tags = :tags, metadata = :metadata, checkpoints = :checkpoints,
    applied_patterns = :applied_patterns, bytes = :bytes, revision = revision + 1
WHERE seq = :seq

-- complete --
-- Complete an open episode whose revision is unchanged.
UPDATE episode
SET end_time = :end_time, outcome_type = :outcome_type, reward = :reward, quality = :quality,
    completion = :completion, bytes = bytes + :bytes, revision = revision + 1
WHERE id = :id AND revision = :revision AND end_time IS NULL
RETURNING seq

-- seq_at_revision --
-- The seq of an episode that is still at this revision.
SELECT seq FROM episode WHERE id = :id AND revision = :revision

-- delete_words --
-- Delete the indexed words of an episode, before new ones are inserted.
DELETE FROM episode_terms WHERE rowid = :seq

-- add_words --
-- Insert the indexed words of an episode.
INSERT INTO episode_terms (rowid, terms) VALUES (:seq, :terms)

-- add_vector --
-- Insert or replace the vector of an episode.
INSERT INTO episode_vector (seq, model, vector) VALUES (:seq, :model, :vector)
ON CONFLICT (seq) DO UPDATE SET model = excluded.model, vector = excluded.vector

-- delete --
-- Delete an episode; triggers and foreign keys delete its steps, words and vector.
DELETE FROM episode WHERE seq = :seq

-- find --
-- Visible episodes, most recently created first.
SELECT {columns} FROM episode
WHERE {visible} AND {../../db/sqlite/intact.episode} AND {matches_filter} AND (:after IS NULL OR episode.seq < :after AND +episode.seq < :after)
ORDER BY episode.seq DESC
LIMIT :limit

-- count_of_client --
-- The number of episodes of a client.
SELECT count(*) FROM episode WHERE client = :client

-- unembedded --
-- Completed episodes without a vector of this model, for maintenance.
SELECT {columns} FROM episode JOIN episode_vector ON episode_vector.seq = episode.seq
WHERE (episode_vector.model < :model OR episode_vector.model > :model) AND {../../db/sqlite/intact.episode}
LIMIT :limit

-- count_completed --
-- The number of visible completed episodes.
SELECT count(*) FROM episode WHERE episode.end_time IS NOT NULL AND {visible}

-- frequency --
-- The number of visible episodes that contain a word.
SELECT count(*)
FROM episode_terms JOIN episode ON episode.seq = episode_terms.rowid
WHERE episode_terms MATCH :expression AND {visible}

-- by_words --
-- The best matches by the text index.
SELECT episode.seq
FROM episode_terms JOIN episode ON episode.seq = episode_terms.rowid
WHERE episode_terms MATCH :expression AND {visible} AND {matches_filter}
ORDER BY episode_terms.rank
LIMIT :limit

-- vectors --
-- The vectors of all matching episodes.
SELECT episode.seq, episode_vector.vector
FROM episode JOIN episode_vector ON episode_vector.seq = episode.seq
WHERE {visible} AND {matches_filter} AND episode_vector.model = :model AND length(episode_vector.vector) = :length
ORDER BY episode.seq

-- candidates --
-- The values that ranking needs, by seq.
SELECT episode.seq, episode.end_time, episode_terms.terms
FROM json_each(:seqs) AS wanted
JOIN episode ON episode.seq = wanted.value
JOIN episode_terms ON episode_terms.rowid = episode.seq
WHERE {../../db/sqlite/intact.episode}
ORDER BY episode.seq

-- similar_efforts --
-- Return steps, latencies and duration of the last tasks of the same kind that did not fail.
SELECT episode.steps,
    (SELECT coalesce(sum(latency_ms), 0) FROM episode_step WHERE episode_step.episode_seq = episode.seq),
    episode.end_time - episode.start_time
FROM episode
WHERE episode.project_id IS :project_id AND episode.end_time IS NOT NULL AND episode.folded_domain = :folded_domain
    AND episode.task_type = :task_type AND episode.complexity = :complexity AND episode.outcome_type <> 'failure'
    AND episode.id <> :id AND {../../db/sqlite/intact.episode}
ORDER BY episode.end_time DESC
LIMIT :limit

-- columns --
-- An episode's fields, in the order in which `episode_rows.episode_from` takes them.
episode.seq, episode.id, episode.project_id, episode.client, episode.task_type, episode.domain, episode.language,
episode.framework, episode.complexity, episode.start_time, episode.end_time, episode.revision, episode.tags,
episode.metadata, episode.task_description, episode.checkpoints, episode.applied_patterns, episode.completion

-- visible --
-- What is of the asker's project, or of none.
(episode.project_id IS NULL OR episode.project_id = :project)

-- asked_for --
-- What a filter lets through.
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
    ) >= :least_tags
)

-- add --
-- Keep an episode.
INSERT INTO episode (
    id, project_id, client, task_type, domain, folded_domain, language, framework, complexity, start_time, bytes, tags,
    metadata, task_description
)
VALUES (
    :id, :project_id, :client, :task_type, :domain, :folded_domain, :language, :framework, :complexity, :start_time,
    :bytes, :tags, :metadata, :task_description
)

-- get --
-- An episode that the asker can see.
SELECT {columns} FROM episode WHERE episode.id = :id AND {visible}

-- get_many --
-- Episodes that the asker can see, by their ids.
SELECT {columns} FROM episode
WHERE episode.id IN (SELECT value FROM json_each(:ids)) AND {visible}

-- bytes --
-- How many bytes such episodes take together.
SELECT coalesce(sum(episode.bytes), 0) FROM episode
WHERE episode.id IN (SELECT value FROM json_each(:ids)) AND {visible}

-- by_seq --
-- Episodes by their places.
SELECT {columns} FROM episode WHERE episode.seq IN (SELECT value FROM json_each(:seqs))

-- steps --
-- What was done in an episode, by the numbers.
SELECT number, time, tool, action, parameters, result, latency_ms, tokens_used, metadata
FROM episode_step
WHERE episode_seq = :seq
ORDER BY number

-- standing --
-- What decides whether an episode takes one more step.
SELECT episode.seq, episode.end_time IS NOT NULL, episode.steps, episode.bytes
FROM episode
WHERE episode.id = :id AND {visible}

-- step --
-- The step of an episode that has this number.
SELECT number, time, tool, action, parameters, result, latency_ms, tokens_used, metadata
FROM episode_step
WHERE episode_seq = :seq AND number = :number

-- add_step --
-- Keep a step.
INSERT INTO episode_step (
    episode_seq, number, time, tool, action, parameters, result, latency_ms, tokens_used, metadata
)
VALUES (:seq, :number, :time, :tool, :action, :parameters, :result, :latency_ms, :tokens_used, :metadata)

-- grow --
-- Count a step.
UPDATE episode SET steps = steps + 1, bytes = bytes + :bytes, revision = revision + 1 WHERE seq = :seq

-- change --
-- Write what may be another.
UPDATE episode
SET task_description = :task_description, tags = :tags, metadata = :metadata, checkpoints = :checkpoints,
    applied_patterns = :applied_patterns, bytes = :bytes, revision = revision + 1
WHERE seq = :seq

-- complete --
-- Close an episode that is still as it was read.
UPDATE episode
SET end_time = :end_time, outcome_type = :outcome_type, reward = :reward, quality = :quality,
    completion = :completion, bytes = bytes + :bytes, revision = revision + 1
WHERE id = :id AND revision = :revision AND end_time IS NULL
RETURNING seq

-- place --
-- Where an episode is that is still at this revision.
SELECT seq FROM episode WHERE id = :id AND revision = :revision

-- forget_words --
-- Drop the words of an episode, before others take their place.
DELETE FROM episode_terms WHERE rowid = :seq

-- add_words --
-- Keep the words of an episode.
INSERT INTO episode_terms (rowid, terms) VALUES (:seq, :terms)

-- add_vector --
-- Keep the meaning of an episode.
INSERT INTO episode_vector (seq, model, vector) VALUES (:seq, :model, :vector)
ON CONFLICT (seq) DO UPDATE SET model = excluded.model, vector = excluded.vector

-- erase --
-- Erase an episode; its steps, words and vector go with it.
DELETE FROM episode WHERE seq = :seq

-- find --
-- Episodes that the asker can see, the one that was begun last first.
SELECT {columns} FROM episode
WHERE {visible} AND {asked_for} AND (:after IS NULL OR episode.seq < :after)
ORDER BY episode.seq DESC
LIMIT :limit

-- from_client --
-- How many episodes come from a client.
SELECT count(*) FROM episode WHERE client = :client

-- unembedded --
-- Complete episodes without a vector of this model, for maintenance.
SELECT {columns} FROM episode JOIN episode_vector ON episode_vector.seq = episode.seq
WHERE episode_vector.model < :model OR episode_vector.model > :model
LIMIT :limit

-- texts --
-- How many complete episodes the asker can see.
SELECT count(*) FROM episode WHERE episode.end_time IS NOT NULL AND {visible}

-- frequency --
-- How many of these have a word.
SELECT count(*)
FROM episode_terms JOIN episode ON episode.seq = episode_terms.rowid
WHERE episode_terms MATCH :expression AND {visible}

-- by_words --
-- The best by the text index.
SELECT episode.seq
FROM episode_terms JOIN episode ON episode.seq = episode_terms.rowid
WHERE episode_terms MATCH :expression AND {visible} AND {asked_for}
ORDER BY episode_terms.rank
LIMIT :limit

-- vectors --
-- The meaning of all that is asked for.
SELECT episode.seq, episode_vector.vector
FROM episode JOIN episode_vector ON episode_vector.seq = episode.seq
WHERE {visible} AND {asked_for} AND episode_vector.model = :model AND length(episode_vector.vector) = :length
ORDER BY episode.seq

-- candidates --
-- What ranking needs to know of episodes, by their places.
SELECT episode.seq, episode.end_time, episode_terms.terms
FROM json_each(:seqs) AS wanted
JOIN episode ON episode.seq = wanted.value
JOIN episode_terms ON episode_terms.rowid = episode.seq
ORDER BY episode.seq

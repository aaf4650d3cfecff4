-- state --
-- The chosen models, and whether the job of the next one is running.
SELECT place, choice, model, dimensions, change_id, job_id, job.id IS NOT NULL AND job.ended_at IS NULL
FROM embedding_model LEFT JOIN job ON job.id = embedding_model.job_id

-- begin --
-- Set the next model.
INSERT OR REPLACE INTO embedding_model (place, choice, model, dimensions, change_id)
VALUES ('coming', :choice, :model, :dimensions, :change_id)

-- claim --
-- Set the job of a change.
UPDATE embedding_model SET job_id = :job_id WHERE change_id = :change_id

-- retire --
-- Remove the active model.
DELETE FROM embedding_model WHERE place = 'answering'

-- promote --
-- Activate the next model.
UPDATE embedding_model SET place = 'answering' WHERE place = 'coming'

-- has_vector --
-- True if a vector belongs to the model; an empty one marks a text that the model cannot embed.
memory_vector.model = :model AND length(memory_vector.vector) IN (0, 2 * :dimensions)

-- count_missing --
-- Number of memories without a vector of a model.
SELECT (SELECT count(*) FROM memory) - (SELECT count(*) FROM memory_vector WHERE {has_vector})

-- missing --
-- Memories without a vector of a model, in storage order.
SELECT memory.seq, memory.id, memory.content
FROM memory
WHERE memory.seq > :after AND +memory.seq > :after
    AND NOT EXISTS (SELECT 1 FROM memory_vector WHERE memory_vector.seq = memory.seq AND {has_vector})
ORDER BY memory.seq
LIMIT :limit

-- put --
-- Store a vector if the content of the memory is unchanged.
INSERT INTO memory_vector (seq, model, vector)
SELECT seq, :model, :vector FROM memory WHERE id = :id AND content = :content
ON CONFLICT (seq, model) DO UPDATE SET vector = excluded.vector WHERE vector <> excluded.vector

-- delete_placeholder --
-- Delete the placeholder of a memory without a vector.
DELETE FROM memory_vector WHERE model = '' AND seq = (SELECT seq FROM memory WHERE id = :id AND content = :content)

-- other_models --
-- Models whose vectors are unused once all memories have one of this model.
WITH RECURSIVE having_vectors (model) AS (
    SELECT min(model) FROM memory_vector
    UNION ALL
    SELECT (SELECT min(memory_vector.model) FROM memory_vector WHERE memory_vector.model > having_vectors.model)
    FROM having_vectors
    WHERE model IS NOT NULL
)
SELECT model FROM having_vectors
WHERE model <> :model AND model NOT IN (SELECT model FROM embedding_model WHERE choice IS NOT NULL)

-- drop --
-- Delete up to `limit` vectors of a model from memories that have one of another.
DELETE FROM memory_vector
WHERE model = :other AND seq IN (
    SELECT seq FROM memory_vector AS replaced
    WHERE model = :other
        AND EXISTS (SELECT 1 FROM memory_vector AS own WHERE own.seq = replaced.seq AND own.model = :model)
    LIMIT :limit
)
RETURNING seq

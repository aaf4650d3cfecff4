-- state --
-- The models that calls chose, and whether the job that brings one is still to end.
SELECT place, choice, model, dimensions, change_id, job_id, job.id IS NOT NULL AND job.ended_at IS NULL
FROM embedding_model LEFT JOIN job ON job.id = embedding_model.job_id

-- begin --
-- Note the model that is to answer.
INSERT OR REPLACE INTO embedding_model (place, choice, model, dimensions, change_id)
VALUES ('coming', :choice, :model, :dimensions, :change_id)

-- claim --
-- Note the job that carries out a change.
UPDATE embedding_model SET job_id = :job_id WHERE change_id = :change_id

-- retire --
-- The model that answered does so no more.
DELETE FROM embedding_model WHERE place = 'answering'

-- promote --
-- The model that was to answer does so.
UPDATE embedding_model SET place = 'answering' WHERE place = 'coming'

-- has --
-- Whether a memory has its vector of a model, or is known to have no meaning to it.
memory_vector.model = :model AND length(memory_vector.vector) IN (0, 2 * :dimensions)

-- count_lacking --
-- How many memories lack a vector of a model.
SELECT (SELECT count(*) FROM memory) - (SELECT count(*) FROM memory_vector WHERE {has})

-- lacking --
-- These memories, in the order kept.
SELECT memory.seq, memory.id, memory.content
FROM memory
WHERE memory.seq > :after
    AND NOT EXISTS (SELECT 1 FROM memory_vector WHERE memory_vector.seq = memory.seq AND {has})
ORDER BY memory.seq
LIMIT :limit

-- keep --
-- Keep a vector, if the memory still has the content that it was made of.
INSERT INTO memory_vector (seq, model, vector)
SELECT seq, :model, :vector FROM memory WHERE id = :id AND content = :content
ON CONFLICT (seq, model) DO UPDATE SET vector = excluded.vector WHERE vector <> excluded.vector

-- no_longer_without --
-- The memory is not without a vector any more.
DELETE FROM memory_vector WHERE model = '' AND seq = (SELECT seq FROM memory WHERE id = :id AND content = :content)

-- other_models --
-- The models whose vectors nobody needs when all memories have one of this model.
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
-- Drop some vectors of a model, of memories that have one of another.
DELETE FROM memory_vector
WHERE model = :other AND seq IN (
    SELECT seq FROM memory_vector AS replaced
    WHERE model = :other
        AND EXISTS (SELECT 1 FROM memory_vector AS own WHERE own.seq = replaced.seq AND own.model = :model)
    LIMIT :limit
)
RETURNING seq

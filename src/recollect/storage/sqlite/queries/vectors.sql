-- latest_change --
-- The last entry of the change log.
SELECT revision, mark FROM memory_change ORDER BY revision DESC LIMIT 1

-- change_at --
-- Whether the log still has this very entry.
SELECT 1 FROM memory_change WHERE revision = :revision AND mark = :mark

-- changed_since --
-- Each vector that changed after this revision, as it is now; nulls for those that are gone or of another kind.
SELECT changed.seq, memory.audience_id, memory_vector.vector
FROM (SELECT DISTINCT seq FROM memory_change WHERE revision > :revision) AS changed
LEFT JOIN memory_vector
    ON memory_vector.seq = changed.seq AND memory_vector.model = :model AND length(memory_vector.vector) = :bytes
LEFT JOIN memory ON memory.seq = memory_vector.seq
ORDER BY changed.seq

-- all_vectors --
-- Every vector of this model and size.
SELECT memory_vector.seq, memory.audience_id, memory_vector.vector
FROM memory_vector JOIN memory ON memory.seq = memory_vector.seq
WHERE memory_vector.model = :model AND length(memory_vector.vector) = :bytes
ORDER BY memory_vector.seq

-- kinds --
-- The models that made vectors, with the size of these.
SELECT DISTINCT model, length(vector) FROM memory_vector WHERE length(vector) > 0 ORDER BY model, length(vector)

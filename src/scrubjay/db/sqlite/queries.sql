-- latest_change --
-- The last entry of the change log.
SELECT revision, mark FROM memory_change ORDER BY revision DESC LIMIT 1

-- change_at --
-- Whether the log still has this very entry.
SELECT 1 FROM memory_change WHERE revision = :revision AND mark = :mark

-- kinds --
-- The models that made vectors, with the size of these.
SELECT DISTINCT model, length(vector) FROM memory_vector WHERE length(vector) > 0 ORDER BY model, length(vector)

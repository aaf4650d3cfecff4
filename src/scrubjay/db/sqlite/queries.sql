-- latest_change --
-- The newest entry of the change log.
SELECT revision, mark FROM memory_change ORDER BY revision DESC LIMIT 1

-- change_at --
-- One row if the log still has exactly this entry.
SELECT 1 FROM memory_change WHERE revision = :revision AND mark = :mark

-- kinds --
-- The models that have vectors, with the size of their vectors.
SELECT DISTINCT model, length(vector) FROM memory_vector WHERE length(vector) > 0 ORDER BY model, length(vector)

-- columns --
-- A job's fields, in the order in which `rows.job_from` takes them; an owner whose lease ran out is none.
id, kind, payload, state, done, total, message, result, error, attempts,
CASE WHEN leased_until > :now THEN owner END, created_at, started_at, ended_at

-- add --
-- Keep a new job.
INSERT INTO job (id, kind, payload, state, attempts, owner, leased_until, created_at, started_at)
VALUES (:id, :kind, :payload, :state, :attempts, :owner, :leased_until, :now, :started_at)

-- under_way --
-- A job of this kind that has not ended, or that was made after a moment.
SELECT id FROM job WHERE kind = :kind AND (ended_at IS NULL OR created_at > :began_after) LIMIT 1

-- get --
-- The job with this id.
SELECT {columns} FROM job WHERE id = :id

-- all --
-- Jobs in these states and of this kind, the one made last first; null means any.
SELECT {columns} FROM job
WHERE (:states IS NULL OR state IN (SELECT value FROM json_each(:states))) AND (:kind IS NULL OR kind = :kind)
ORDER BY seq DESC
LIMIT :limit

-- counts --
-- How many jobs are in each state.
SELECT state, count(*) FROM job GROUP BY state

-- end_abandoned --
-- A job whose owner died while it was to stop has stopped.
UPDATE job SET state = 'cancelled', owner = NULL, leased_until = NULL, ended_at = :now
WHERE ended_at IS NULL AND state = 'cancelling' AND leased_until <= :now

-- claimable --
-- The oldest job of these kinds that is queued, or whose owner's lease ran out.
SELECT id FROM job
WHERE ended_at IS NULL
    AND (state = 'queued' OR (state = 'running' AND leased_until <= :now))
    AND kind IN (SELECT value FROM json_each(:kinds))
ORDER BY seq
LIMIT 1

-- take --
-- Begin a job, once more if it was begun before.
UPDATE job
SET state = 'running', owner = :owner, leased_until = :leased_until, attempts = attempts + 1,
    started_at = coalesce(started_at, :now)
WHERE id = :id

-- renew --
-- Lengthen a lease and note the progress, if the job is still this owner's.
UPDATE job SET leased_until = :leased_until, done = :done, total = :total, message = :message
WHERE id = :id AND owner = :owner AND ended_at IS NULL
RETURNING state

-- finish --
-- Note how a job ended, if it is still this owner's to end.
UPDATE job
SET state = :state, done = :done, total = :total, message = :message, result = :result, error = :error,
    owner = NULL, leased_until = NULL, ended_at = :now
WHERE id = :id AND owner = :owner AND ended_at IS NULL
RETURNING seq

-- note_memories --
-- The memories that a job tells of.
INSERT INTO job_memory (memory_id, job_seq) SELECT value, :job FROM json_each(:memories)

-- erase --
-- Of a job that tells of a forgotten memory, only that it was done is kept.
payload = '{}', result = NULL, error = NULL, message = 'what it told of was forgotten'

-- finish_erased --
-- Note that a job ended, without what it came to.
UPDATE job
SET state = :state, done = :done, total = :total, owner = NULL, leased_until = NULL, ended_at = :now, {erase}
WHERE id = :id AND owner = :owner AND ended_at IS NULL
RETURNING seq

-- release --
-- Give a job back to the queue; one that was to stop has stopped.
UPDATE job
SET ended_at = CASE state WHEN 'cancelling' THEN :now END,
    state = CASE state WHEN 'cancelling' THEN 'cancelled' ELSE 'queued' END,
    owner = NULL, leased_until = NULL
WHERE id = :id AND owner = :owner AND ended_at IS NULL

-- request_cancel --
-- A queued job is cancelled, a running one is asked to stop.
UPDATE job
SET ended_at = CASE state WHEN 'queued' THEN :now END,
    state = CASE state WHEN 'queued' THEN 'cancelled' ELSE 'cancelling' END
WHERE id = :id AND ended_at IS NULL

-- forget_ended --
-- Erase the jobs that ended before a moment.
DELETE FROM job WHERE ended_at < :before RETURNING seq

-- mentions_forgotten --
-- Return 1 if one of these memories no longer exists.
SELECT EXISTS (
    SELECT 1 FROM json_each(:memories) AS told WHERE NOT EXISTS (SELECT 1 FROM memory WHERE memory.id = told.value)
)

-- columns --
-- The columns that `rows.job_from` reads, in its order. The owner is null once its lease has expired.
id, kind, payload, state, done, total, message, result, error, attempts,
CASE WHEN leased_until > :now THEN owner END, created_at, started_at, ended_at

-- add --
-- Store a new job.
INSERT INTO job (id, kind, payload, state, attempts, owner, leased_until, created_at, started_at)
VALUES (:id, :kind, :payload, :state, :attempts, :owner, :leased_until, :now, :started_at)

-- under_way --
-- A job of this kind that has not ended, or that was created after a time.
SELECT id FROM job WHERE kind = :kind AND (ended_at IS NULL OR created_at > :began_after) LIMIT 1

-- get --
-- The job with this id.
SELECT {columns} FROM job WHERE id = :id AND {../../db/sqlite/intact.job}

-- all --
-- Jobs in these states and of this kind, newest first; null means any.
SELECT {columns} FROM job
WHERE (:states IS NULL OR state IN (SELECT value FROM json_each(:states))) AND (:kind IS NULL OR kind = :kind)
    AND {../../db/sqlite/intact.job}
ORDER BY seq DESC
LIMIT :limit

-- counts --
-- Number of jobs by state.
SELECT state, count(*) FROM job GROUP BY state

-- end_abandoned --
-- Mark jobs as cancelled whose owner died while they were being cancelled.
UPDATE job SET state = 'cancelled', owner = NULL, leased_until = NULL, ended_at = :now
WHERE ended_at IS NULL AND state = 'cancelling' AND leased_until <= :now

-- cancel_of_ended_keys --
-- Cancel the jobs of keys that were revoked or have expired: at once if no process runs them, else when their work stops.
UPDATE job
SET error = :reason,
    state = CASE WHEN state = 'running' AND leased_until > :now THEN 'cancelling' ELSE 'cancelled' END,
    ended_at = CASE WHEN state = 'running' AND leased_until > :now THEN NULL ELSE :now END,
    owner = CASE WHEN state = 'running' AND leased_until > :now THEN owner END,
    leased_until = CASE WHEN state = 'running' AND leased_until > :now THEN leased_until END
WHERE ended_at IS NULL
    AND state IN ('queued', 'running')
    AND json_extract(payload, '$.context.caller.key_id') IN (
        SELECT id FROM access_key WHERE revoked_at <= :now OR expires_at <= :now
    )

-- claimable --
-- The oldest job of these kinds that is queued, or whose lease has expired.
SELECT id FROM job
WHERE ended_at IS NULL
    AND (state = 'queued' OR (state = 'running' AND leased_until <= :now))
    AND kind IN (SELECT value FROM json_each(:kinds)) AND {../../db/sqlite/intact.job}
ORDER BY seq
LIMIT 1

-- take --
-- Start an attempt at a job.
UPDATE job
SET state = 'running', owner = :owner, leased_until = :leased_until, attempts = attempts + 1,
    started_at = coalesce(started_at, :now)
WHERE id = :id

-- renew --
-- Renew a lease and store the progress, if the job still belongs to this owner.
UPDATE job SET leased_until = :leased_until, done = :done, total = :total, message = :message
WHERE id = :id AND owner = :owner AND ended_at IS NULL
RETURNING state

-- finish --
-- Store the end of a job, if it still belongs to this owner. A cancelled job keeps the reason that it has.
UPDATE job
SET state = :state, done = :done, total = :total, message = :message, result = :result,
    error = CASE WHEN :state = 'cancelled' THEN error ELSE :error END,
    owner = NULL, leased_until = NULL, ended_at = :now
WHERE id = :id AND owner = :owner AND ended_at IS NULL
RETURNING seq

-- note_memories --
-- Store which memories a job's result names.
INSERT INTO job_memory (memory_id, job_seq) SELECT value, :job FROM json_each(:memories)

-- erase --
-- Erase everything but the state of a job whose result names a forgotten memory.
payload = '{}', result = NULL, error = NULL, message = 'erased: it named a forgotten memory'

-- finish_erased --
-- Store the end of a job without its result.
UPDATE job
SET state = :state, done = :done, total = :total, owner = NULL, leased_until = NULL, ended_at = :now, {erase}
WHERE id = :id AND owner = :owner AND ended_at IS NULL
RETURNING seq

-- release --
-- Return a job to the queue; a job that is being cancelled becomes cancelled.
UPDATE job
SET ended_at = CASE state WHEN 'cancelling' THEN :now END,
    state = CASE state WHEN 'cancelling' THEN 'cancelled' ELSE 'queued' END,
    owner = NULL, leased_until = NULL
WHERE id = :id AND owner = :owner AND ended_at IS NULL

-- request_cancel --
-- Cancel a queued job; mark a running one as cancelling.
UPDATE job
SET ended_at = CASE state WHEN 'queued' THEN :now END,
    state = CASE state WHEN 'queued' THEN 'cancelled' ELSE 'cancelling' END
WHERE id = :id AND ended_at IS NULL

-- forget_ended --
-- Delete the jobs that ended before a time.
DELETE FROM job WHERE ended_at < :before RETURNING seq

-- mentions_forgotten --
-- Return 1 if one of these memories no longer exists.
SELECT EXISTS (
    SELECT 1 FROM json_each(:memories) AS named WHERE NOT EXISTS (SELECT 1 FROM memory WHERE memory.id = named.value)
)

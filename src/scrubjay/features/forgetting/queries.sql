-- claim --
-- Claim a run, unless one began within :every; a time in the future comes from a wrong clock and is ignored.
UPDATE forgetting SET begun_at = :now
WHERE begun_at IS NULL OR begun_at <= :now - :every OR begun_at > :now
RETURNING true

-- record_run --
-- Record the end of a run and the number of erased memories.
UPDATE forgetting
SET ended_at = :now, last_forgotten = :forgotten, total_forgotten = total_forgotten + :forgotten

-- record --
-- Time and counts of past runs.
SELECT ended_at, last_forgotten, total_forgotten FROM forgetting

-- aging_columns --
-- Columns of an aging memory, in the order that `sqlite._aging_memory_from` expects. Its age counts from the last change.
memory.id, memory.kind, memory.importance, memory.updated_at, coalesce(memory_use.uses, 0), memory_use.used_at,
memory.protected, memory.superseded_by IS NOT NULL

-- scan --
-- Every memory, in the order of row numbers.
SELECT memory.seq, {aging_columns}
FROM memory LEFT JOIN memory_use ON memory_use.seq = memory.seq
WHERE memory.seq > :after AND +memory.seq > :after AND {../../db/sqlite/intact.memory}
ORDER BY memory.seq
LIMIT :limit

-- get --
-- One visible memory.
SELECT {aging_columns}
FROM memory LEFT JOIN memory_use ON memory_use.seq = memory.seq
WHERE memory.id = :id AND {../memory/queries.visible} AND {../../db/sqlite/intact.memory}

-- count_strengths --
-- Counts of all memories by strength (the formula of `decay.py`). LIMIT -1 prevents SQLite from flattening the subquery,
-- which would compute the strength again for every FILTER.
WITH age_limit (importance, age) AS MATERIALIZED (
    SELECT value ->> 0, value ->> 1 FROM json_each(:age_limits)
),
graded AS (
    SELECT
        memory.importance
            * exp(-:decay_rate * max((:now - coalesce(memory_use.used_at, memory.updated_at)) / 86400000000.0, 0.0))
            * coalesce(1 + :use_weight * ln(1 + memory_use.uses), 1) AS strength,
        NOT memory.protected AND memory.importance < :never_fades_from AS evictable,
        :age_limits <> '[]' AND EXISTS (
            SELECT 1 FROM age_limit
            WHERE memory.importance < age_limit.importance AND :now - memory.updated_at > age_limit.age
        ) AS is_old
    FROM memory LEFT JOIN memory_use ON memory_use.seq = memory.seq
    WHERE memory.id NOT GLOB 'old_*'
    LIMIT -1
)
SELECT
    count(*),
    count(*) FILTER (WHERE strength < :threshold),
    count(*) FILTER (WHERE strength < :at_risk_below AND strength >= :threshold),
    count(*) FILTER (WHERE strength > :strong_above AND strength >= :threshold),
    count(*) FILTER (WHERE evictable),
    count(*) FILTER (WHERE evictable AND (strength < :threshold OR is_old))
FROM graded

-- claim --
-- Begin, unless somebody began less than so long ago; what is noted in the future was noted by a clock that was wrong.
UPDATE forgetting SET begun_at = :now
WHERE begun_at IS NULL OR begun_at <= :now - :every OR begun_at > :now
RETURNING true

-- note --
-- Note how many were let go.
UPDATE forgetting
SET ended_at = :now, last_forgotten = :forgotten, total_forgotten = total_forgotten + :forgotten

-- record --
-- What was forgotten so far.
SELECT ended_at, last_forgotten, total_forgotten FROM forgetting

-- ageing_columns --
-- What tells whether a memory fades, in the order in which `rows.ageing_from` takes it. One that was changed begins anew.
memory.id, memory.kind, memory.importance, memory.updated_at, coalesce(memory_use.uses, 0), memory_use.used_at,
memory.protected, memory.superseded_by IS NOT NULL

-- ageing --
-- The same of every memory, in the order of their places.
SELECT memory.seq, {ageing_columns}
FROM memory LEFT JOIN memory_use ON memory_use.seq = memory.seq
WHERE memory.seq > :after
ORDER BY memory.seq
LIMIT :limit

-- ageing_of --
-- The same of one visible memory.
SELECT {ageing_columns}
FROM memory LEFT JOIN memory_use ON memory_use.seq = memory.seq
WHERE memory.id = :id AND {../memory/queries.visible}

-- vitals --
-- How all memories are. The limit keeps the strength, which is the same as in `decay.py`, from being told once for every
-- question about it.
WITH age_limit (importance, age) AS MATERIALIZED (
    SELECT value ->> 0, value ->> 1 FROM json_each(:age_limits)
),
vital AS (
    SELECT
        memory.importance
            * exp(-:decay_rate * max((:now - coalesce(memory_use.used_at, memory.updated_at)) / 86400000000.0, 0.0))
            * coalesce(1 + :use_weight * ln(1 + memory_use.uses), 1) AS strength,
        NOT memory.protected AND memory.importance < :unforgettable AS may_go,
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
    count(*) FILTER (WHERE may_go),
    count(*) FILTER (WHERE may_go AND (strength < :threshold OR is_old))
FROM vital

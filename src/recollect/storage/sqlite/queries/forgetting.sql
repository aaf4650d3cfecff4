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
WHERE memory.id = :id AND {memories.visible}

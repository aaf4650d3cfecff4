-- entry --
-- Columns of a memory in the index, in the order that `MemoryIndex` expects.
memory.audience_id, iif(memory.superseded_by IS NULL, memory.session_id, NULL),
coalesce(memory.occurred_at, memory.recorded_at), memory.recorded_at,
memory.speaker, memory.traits, memory.importance, memory.confidence, indexed.c0, memory_vector.vector,
memory.category, memory.tags, memory.kind, memory.valid_from, memory.valid_until

-- derived --
-- The terms of a memory, and its vector of this model and size, if any.
LEFT JOIN memory_terms_content AS indexed ON indexed.id = memory.seq
LEFT JOIN memory_vector
    ON memory_vector.seq = memory.seq AND memory_vector.model = :model AND length(memory_vector.vector) = :bytes

-- changed_since --
-- The current state of each memory that changed after this revision; nulls for deleted ones.
SELECT changed.seq, {entry}
FROM (SELECT DISTINCT seq FROM memory_change WHERE revision > :revision) AS changed
LEFT JOIN memory ON memory.seq = changed.seq
{derived}
ORDER BY changed.seq

-- everything --
-- Every memory.
SELECT memory.seq, {entry}
FROM memory
{derived}
ORDER BY memory.seq

-- row --
-- The memory in this row.
SELECT memory.seq, {entry}
FROM memory
{derived}
WHERE memory.seq = :seq

-- row_alone --
-- The memory in this row without its terms and its vector, which cannot be read.
SELECT memory.seq, {entry}
FROM memory
LEFT JOIN (SELECT NULL AS c0) AS indexed
LEFT JOIN (SELECT NULL AS vector) AS memory_vector
WHERE memory.seq = :seq

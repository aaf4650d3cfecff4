-- entry --
-- What the index knows of a memory, in the order in which `MemoryIndex` takes it.
memory.audience_id, iif(memory.superseded_by IS NULL, memory.session_id, NULL),
coalesce(memory.occurred_at, memory.recorded_at), memory.recorded_at,
memory.speaker, memory.traits, memory.importance, memory.confidence, indexed.c0, memory_vector.vector,
memory.category, memory.tags, memory.kind, memory.valid_from, memory.valid_until

-- derived --
-- The terms and the vector of a memory, as far as there are any of this model and size.
LEFT JOIN memory_terms_content AS indexed ON indexed.id = memory.seq
LEFT JOIN memory_vector
    ON memory_vector.seq = memory.seq AND memory_vector.model = :model AND length(memory_vector.vector) = :bytes

-- changed_since --
-- Each memory that changed after this revision, as it is now; nulls for those that are gone.
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


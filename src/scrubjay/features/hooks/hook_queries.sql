-- nearest_project --
-- Id, path and name of the project at the longest of these paths.
SELECT id, path, name FROM project WHERE path IN (SELECT value FROM json_each(:paths)) AND {../../db/sqlite/intact.project} ORDER BY length(path) DESC LIMIT 1

-- note_columns --
-- Columns of a `MemoryNote`.
memory.id, memory.category, memory.content

-- is_current --
-- True for a memory of these kinds that is not superseded.
memory.superseded_by IS NULL AND memory.kind IN (SELECT value FROM json_each(:kinds)) AND {../../db/sqlite/intact.memory}

-- latest --
-- The newest memories.
SELECT {note_columns} FROM memory WHERE {../memory/queries.visible} AND {is_current} ORDER BY memory.seq DESC LIMIT :limit

-- matching --
-- Memories with any of these terms, best first, each with all of its indexed terms.
SELECT {note_columns}, indexed.c0
FROM memory_terms
JOIN memory ON memory.seq = memory_terms.rowid
JOIN memory_terms_content AS indexed ON indexed.id = memory.seq
WHERE memory_terms MATCH :match AND {../memory/queries.visible} AND {is_current}
ORDER BY memory_terms.rank
LIMIT :limit

-- nearest_project --
-- The project at the longest of these paths: its id, path and name.
SELECT id, path, name FROM project WHERE path IN (SELECT value FROM json_each(:paths)) ORDER BY length(path) DESC LIMIT 1

-- note --
-- What is told of a memory.
memory.id, memory.category, memory.content

-- held --
-- Whether a memory is of these kinds and still true.
memory.superseded_by IS NULL AND memory.kind IN (SELECT value FROM json_each(:kinds))

-- latest --
-- What was kept last.
SELECT {note} FROM memory WHERE {../memory/queries.visible} AND {held} ORDER BY memory.seq DESC LIMIT :limit

-- fitting --
-- What has any of these words, best first, with all words that it is found by.
SELECT {note}, indexed.c0
FROM memory_terms
JOIN memory ON memory.seq = memory_terms.rowid
JOIN memory_terms_content AS indexed ON indexed.id = memory.seq
WHERE memory_terms MATCH :match AND {../memory/queries.visible} AND {held}
ORDER BY memory_terms.rank
LIMIT :limit

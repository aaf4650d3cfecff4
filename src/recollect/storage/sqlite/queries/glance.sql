-- nearest_project --
-- The project at the longest of these paths: its id, path and name.
SELECT id, path, name FROM project WHERE path IN (SELECT value FROM json_each(:paths)) ORDER BY length(path) DESC LIMIT 1

-- note --
-- What is told of a memory.
memory.id, memory.category, memory.content

-- held --
-- Whether a memory is global or of this project, of these kinds, and still true.
memory.audience_id IN (
    SELECT id FROM audience WHERE scope = 'global' OR (scope = 'project' AND project_id = :project_id)
)
AND memory.superseded_by IS NULL
AND memory.kind IN (SELECT value FROM json_each(:kinds))

-- latest --
-- What was kept last.
SELECT {note} FROM memory WHERE {held} ORDER BY memory.seq DESC LIMIT :limit

-- fitting --
-- What has any of these words, best first, with all words that it is found by.
SELECT {note}, indexed.c0
FROM memory_terms
JOIN memory ON memory.seq = memory_terms.rowid
JOIN memory_terms_content AS indexed ON indexed.id = memory.seq
WHERE memory_terms MATCH :match AND {held}
ORDER BY memory_terms.rank
LIMIT :limit

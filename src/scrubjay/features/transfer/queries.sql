-- census --
-- Count the memories of these kinds.
SELECT kind, count(*) FROM memory WHERE kind IN (SELECT value FROM json_each(:kinds)) AND {../../db/sqlite/intact.memory} GROUP BY kind ORDER BY kind

-- projects --
-- The projects of memories, and of tasks and goals if these are exported too.
SELECT {../projects/queries.columns} FROM project
WHERE (
    id IN (SELECT project_id FROM audience)
    OR (:tasks AND id IN (SELECT project_id FROM task)) OR (:goals AND id IN (SELECT project_id FROM goal))
) AND {../../db/sqlite/intact.project}
ORDER BY seq

-- moving --
-- Every memory of these kinds in insertion order, with its uses, and 1 if it has code links.
SELECT memory.seq, EXISTS (SELECT 1 FROM memory_link WHERE memory_link.seq = memory.seq), coalesce(memory_use.uses, 0), memory_use.used_at, {../memory/queries.columns}
FROM memory
JOIN audience ON audience.id = memory.audience_id
LEFT JOIN memory_use ON memory_use.seq = memory.seq
WHERE memory.kind IN (SELECT value FROM json_each(:kinds)) AND {../../db/sqlite/intact.memory}
ORDER BY memory.seq

-- known --
-- The given ids that exist.
SELECT id FROM memory WHERE id IN (SELECT value FROM json_each(:ids))

-- lacks_successor --
-- Return 1 if the memory that superseded this one is missing.
SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM memory WHERE id = :superseded_by)

-- note_use --
-- Store the usage count of an imported memory.
INSERT INTO memory_use (seq, uses, used_at) VALUES (:seq, :uses, :used_at)

-- arrived --
-- Progress of an import.
SELECT value FROM meta WHERE name = 'import:' || :import_id

-- note_arrived --
-- Store the progress of an import.
INSERT INTO meta (name, value) VALUES ('import:' || :import_id, :arrived)
ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- forget_ended --
-- Delete the progress of imports whose jobs have ended.
DELETE FROM meta
WHERE name GLOB 'import:*' AND name <> 'import:' || :import_id
    AND substr(name, 8) NOT IN (SELECT id FROM job WHERE ended_at IS NULL)

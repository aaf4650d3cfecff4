-- census --
-- How many memories of each of these kinds there are.
SELECT kind, count(*) FROM memory WHERE kind IN (SELECT value FROM json_each(:kinds)) GROUP BY kind ORDER BY kind

-- projects --
-- The projects that memories belong to, or what is to be done, if that moves too.
SELECT {../projects/queries.columns} FROM project
WHERE id IN (SELECT project_id FROM audience)
    OR (:tasks AND id IN (SELECT project_id FROM task)) OR (:goals AND id IN (SELECT project_id FROM goal))
ORDER BY seq

-- moving --
-- Every memory of these kinds in the order kept, with how often it was an answer, and whether it is about code.
SELECT memory.seq, EXISTS (SELECT 1 FROM memory_link WHERE memory_link.seq = memory.seq), coalesce(memory_use.uses, 0), memory_use.used_at, {../memory/queries.columns}
FROM memory
JOIN audience ON audience.id = memory.audience_id
LEFT JOIN memory_use ON memory_use.seq = memory.seq
WHERE memory.kind IN (SELECT value FROM json_each(:kinds))
ORDER BY memory.seq

-- known --
-- Those of these ids that memories have.
SELECT id FROM memory WHERE id IN (SELECT value FROM json_each(:ids))

-- lacks_successor --
-- Whether what took the place of this memory is not there.
SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM memory WHERE id = :superseded_by)

-- note_use --
-- How often a memory was an answer in the store that it comes from.
INSERT INTO memory_use (seq, uses, used_at) VALUES (:seq, :uses, :used_at)

-- arrived --
-- How far an import has come.
SELECT value FROM meta WHERE name = 'import:' || :import_id

-- note_arrived --
-- Note how far an import has come.
INSERT INTO meta (name, value) VALUES ('import:' || :import_id, :arrived)
ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- forget_ended --
-- How far imports came whose jobs have ended does not matter any more.
DELETE FROM meta
WHERE name GLOB 'import:*' AND name <> 'import:' || :import_id
    AND substr(name, 8) NOT IN (SELECT id FROM job WHERE ended_at IS NULL)

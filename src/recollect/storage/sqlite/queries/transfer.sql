-- census --
-- How many memories of each of these kinds there are.
SELECT kind, count(*) FROM memory WHERE kind IN (SELECT value FROM json_each(:kinds)) GROUP BY kind ORDER BY kind

-- projects --
-- The projects that memories belong to.
SELECT {projects.columns} FROM project WHERE id IN (SELECT project_id FROM audience) ORDER BY seq

-- moving --
-- Every memory of these kinds in the order kept, with how often it was an answer.
SELECT coalesce(memory_use.uses, 0), memory_use.used_at, {memories.columns}
FROM memory
JOIN audience ON audience.id = memory.audience_id
LEFT JOIN memory_use ON memory_use.seq = memory.seq
WHERE memory.kind IN (SELECT value FROM json_each(:kinds))
ORDER BY memory.seq

-- known --
-- Those of these ids that memories have.
SELECT id FROM memory WHERE id IN (SELECT value FROM json_each(:ids))

-- taken --
-- Whether a memory has this id, or this key among those of the same audience.
SELECT 1 FROM memory WHERE id = :id
UNION ALL SELECT 1 FROM memory WHERE audience_id = :audience_id AND key = :key
LIMIT 1

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

-- ensure_stage --
-- Where memories wait until they take the place of others. It is there only while some do.
CREATE TABLE IF NOT EXISTS staged_memory (
    place INTEGER PRIMARY KEY,
    import_id TEXT NOT NULL,
    memory TEXT NOT NULL,
    terms TEXT NOT NULL,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,
    later_model TEXT,
    later_vector BLOB
) STRICT

-- stage_exists --
-- Whether there is such a place.
SELECT 1 FROM sqlite_schema WHERE name = 'staged_memory'

-- stage --
-- Let a memory wait.
INSERT INTO staged_memory (import_id, memory, terms, model, vector, later_model, later_vector)
VALUES (:import_id, :memory, :terms, :model, :vector, :later_model, :later_vector)

-- staged --
-- The next ones of an import that wait.
SELECT place, memory, terms, model, vector, later_model, later_vector FROM staged_memory
WHERE import_id = :import_id AND place > :after
ORDER BY place
LIMIT :limit

-- unstage --
-- Of this import, and of those whose jobs have ended, nothing waits any more.
DELETE FROM staged_memory
WHERE import_id = :import_id OR import_id NOT IN (SELECT id FROM job WHERE ended_at IS NULL)

-- still_staged --
-- Whether anything waits.
SELECT 1 FROM staged_memory LIMIT 1

-- drop_stage --
-- The place itself goes too, and with it all that was on it.
DROP TABLE staged_memory

-- erase --
-- Erase the memories of these kinds; their vectors go with them.
DELETE FROM memory WHERE kind IN (SELECT value FROM json_each(:kinds))

-- remaining_definition --
-- The definition of a text index just like the one in use, for what remains.
SELECT 'CREATE VIRTUAL TABLE memory_terms_remaining ' || substr(sql, instr(sql, 'USING'))
FROM sqlite_schema WHERE name = 'memory_terms'

-- configure_remaining --
-- Give it the settings of the one in use.
INSERT INTO memory_terms_remaining (memory_terms_remaining, rank)
SELECT k, v FROM memory_terms_config WHERE k <> 'version'

-- index_remaining --
-- Put what remains into it.
INSERT INTO memory_terms_remaining (rowid, terms)
SELECT id, c0 FROM memory_terms_content WHERE id IN (SELECT seq FROM memory) ORDER BY id

-- use_remaining --
-- Let it take the place of the one in use.
ALTER TABLE memory_terms_remaining RENAME TO memory_terms

-- erase_terms_next --
-- Take what does not remain out of the index that a rebuild is making.
DELETE FROM memory_terms_next
WHERE rowid IN (SELECT id FROM memory_terms_next_docsize WHERE id NOT IN (SELECT seq FROM memory))

-- triggers --
-- All triggers but those of checksums.
SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND sql NOT LIKE '%row_checksum%'

-- tables --
-- All tables, without virtual ones and those that hold their data.
SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY name

-- orphans --
-- Rows that reference missing rows: the table, the row number, and the table of the missing row.
SELECT DISTINCT "table", rowid, parent FROM pragma_foreign_key_check

-- is_audience --
-- True if the values of an audience are consistent, and its project exists.
SELECT CASE :scope
    WHEN 'global' THEN :project_id IS NULL AND :session_id IS NULL
    WHEN 'project' THEN :session_id IS NULL AND EXISTS (SELECT 1 FROM project WHERE id = :project_id)
    WHEN 'session' THEN
        EXISTS (SELECT 1 FROM memory WHERE audience_id = :id)
        AND NOT EXISTS (SELECT 1 FROM memory WHERE audience_id = :id AND session_id IS NOT :session_id)
        AND (:project_id IS NULL OR EXISTS (SELECT 1 FROM project WHERE id = :project_id))
    ELSE false
END

-- lost_audiences --
-- Audiences that memories belong to and that are missing.
SELECT DISTINCT audience_id FROM memory WHERE audience_id NOT IN (SELECT id FROM audience)

-- add_audience --
-- Add an audience.
INSERT OR REPLACE INTO audience (id, scope, project_id, session_id) VALUES (:id, :scope, :project_id, :session_id)

-- count_keys --
-- Number of keys.
SELECT count(*) FROM access_key

-- add_revoked_key --
-- Add a key that was revoked long ago.
INSERT INTO access_key (id, name, digest, scopes, created_at, revoked_at) VALUES (:id, :id, :digest, '[]', 0, 0)

-- drop_state --
-- Delete the state of imports and rebuilds that cannot continue.
DELETE FROM meta WHERE name IN ('stage', 'rebuilt_to', 'rebuilt_by') OR name GLOB 'import:*'

-- count_memories --
-- Count the memories.
INSERT INTO meta (name, value) VALUES ('memories', (SELECT count(*) FROM memory))
ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- count_steps --
-- Count the steps of the episodes.
UPDATE episode SET steps = (SELECT count(*) FROM episode_step WHERE episode_step.episode_seq = episode.seq)
WHERE steps <> (SELECT count(*) FROM episode_step WHERE episode_step.episode_seq = episode.seq)

-- count_clients --
-- Count the memories of each client.
INSERT INTO client_memories (client, memories)
SELECT coalesce(json_extract(provenance, '$.client'), ''), count(*) FROM memory WHERE id NOT GLOB 'old_*' GROUP BY 1

-- without_search_data --
-- Number of memories without terms or without a vector.
SELECT count(*) FROM memory
WHERE seq NOT IN (SELECT id FROM memory_terms_docsize) OR seq NOT IN (SELECT seq FROM memory_vector)

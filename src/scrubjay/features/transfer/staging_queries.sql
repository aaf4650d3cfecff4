-- owner --
-- Import id and schema version of the staging tables.
SELECT value FROM meta WHERE name = 'stage'

-- note_owner --
-- Store the owner of the staging tables.
INSERT INTO meta (name, value) VALUES ('stage', :owner) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- forget_owner --
-- Release the staging tables.
DELETE FROM meta WHERE name = 'stage'

-- is_under_way --
-- Return 1 if the job of an import has not ended.
SELECT 1 FROM job WHERE id = :import_id AND ended_at IS NULL

-- tables --
-- All tables by name.
SELECT name FROM sqlite_schema WHERE type = 'table'

-- definitions --
-- Definitions of the memory tables, their indexes, and the triggers that count memories per client or set checksums.
SELECT name, sql FROM sqlite_schema
WHERE tbl_name IN ('memory', 'memory_vector', 'memory_use', 'memory_link', 'client_memories', 'memory_terms') AND sql IS NOT NULL
    AND (type <> 'trigger' OR sql LIKE '%client_memories%' OR sql LIKE '%row_checksum%')
ORDER BY type = 'trigger', type = 'index', rowid

-- configure_coming --
-- Copy the settings of the live text index to the staged one.
INSERT INTO coming_memory_terms (coming_memory_terms, rank)
SELECT k, v FROM memory_terms_config WHERE k <> 'version'

-- begin_sequences --
-- Create sequence rows before the first insert.
INSERT INTO sqlite_sequence (name, seq)
SELECT value, 0 FROM json_each('["memory", "coming_memory"]') WHERE value NOT IN (SELECT name FROM sqlite_sequence)

-- align_sequences --
-- Let the next live or staged memory get a row number above all others.
UPDATE sqlite_sequence
SET seq = (SELECT max(seq) FROM sqlite_sequence WHERE name IN ('memory', 'coming_memory'))
WHERE name IN ('memory', 'coming_memory')

-- count_coming --
-- Count the staged memories.
SELECT count(*) FROM coming_memory

-- goes --
-- True for memories that are replaced.
memory.kind IN (SELECT value FROM json_each(:kinds))

-- census --
-- Count replaced and remaining memories.
SELECT count(*) FILTER (WHERE {goes}), count(*) FILTER (WHERE NOT ({goes})) FROM memory

-- in_the_way --
-- Staged memories with the id, or the key in the same audience, of a remaining memory.
SELECT coming.seq FROM memory JOIN coming_memory AS coming ON coming.id = memory.id
WHERE NOT ({goes})
UNION
SELECT coming.seq FROM memory JOIN coming_memory AS coming
    ON coming.audience_id = memory.audience_id AND coming.key = memory.key
WHERE memory.key IS NOT NULL AND NOT ({goes})

-- without_successor --
-- Staged former versions whose successor is neither staged nor remaining.
SELECT coming.seq FROM coming_memory AS coming
WHERE coming.id GLOB 'old_*'
    AND NOT EXISTS (SELECT 1 FROM coming_memory AS successor WHERE successor.id = coming.superseded_by)
    AND NOT EXISTS (SELECT 1 FROM memory WHERE memory.id = coming.superseded_by AND NOT ({goes}))

-- drop_coming --
-- Drop a staged memory and, by cascade, its vectors.
DELETE FROM coming_memory WHERE seq = :seq

-- drop_coming_terms --
-- Drop its terms.
DELETE FROM coming_memory_terms WHERE rowid = :seq

-- copy_memories --
-- Copy the remaining memories.
INSERT INTO coming_memory SELECT * FROM memory WHERE NOT ({goes}) ORDER BY seq

-- copy_vectors --
-- Copy their vectors.
INSERT INTO coming_memory_vector
SELECT memory_vector.* FROM memory JOIN memory_vector ON memory_vector.seq = memory.seq WHERE NOT ({goes})

-- copy_uses --
-- Copy their usage counts.
INSERT INTO coming_memory_use
SELECT memory_use.* FROM memory_use JOIN memory ON memory.seq = memory_use.seq WHERE NOT ({goes})

-- copy_links --
-- Copy their code links.
INSERT INTO coming_memory_link
SELECT memory_link.* FROM memory_link JOIN memory ON memory.seq = memory_link.seq WHERE NOT ({goes})
ORDER BY memory_link.rowid

-- copy_terms --
-- Copy their terms.
INSERT INTO coming_memory_terms (rowid, terms)
SELECT indexed.id, indexed.c0 FROM memory JOIN memory_terms_content AS indexed ON indexed.id = memory.seq
WHERE NOT ({goes})
ORDER BY memory.seq

-- mentioned --
-- Replaced memories that appear in recorded calls.
SELECT mention.memory_id FROM tool_call_memory AS mention CROSS JOIN memory ON memory.id = mention.memory_id WHERE {goes}

-- forget_calls --
-- Erase the content of these calls.
UPDATE tool_call SET arguments = '{}', result = '', erased = 1
WHERE seq IN (SELECT call_seq FROM tool_call_memory WHERE memory_id IN ({mentioned}))

-- forget_mentions --
-- Delete the references to these memories.
DELETE FROM tool_call_memory WHERE memory_id IN ({mentioned})

-- mentioned_by_jobs --
-- Replaced memories that appear in jobs.
SELECT mention.memory_id FROM job_memory AS mention CROSS JOIN memory ON memory.id = mention.memory_id WHERE {goes}

-- forget_jobs --
-- Erase the results of these jobs.
UPDATE job SET {../../tooling/jobs/queries.erase}
WHERE seq IN (SELECT job_seq FROM job_memory WHERE memory_id IN ({mentioned_by_jobs}))

-- forget_job_mentions --
-- Delete the references to these memories.
DELETE FROM job_memory WHERE memory_id IN ({mentioned_by_jobs})

-- forget_items --
-- Delete working-memory items that were consolidated into one of them.
DELETE FROM working_item
WHERE memory_id IS NOT NULL AND EXISTS (SELECT 1 FROM memory WHERE memory.id = working_item.memory_id AND {goes})

-- triggers --
-- All triggers.
SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'

-- update_count --
-- Update the stored number of memories.
UPDATE meta SET value = (SELECT count(*) FROM memory) WHERE name = 'memories'

-- erase_terms_next --
-- Remove replaced memories from a text index that is being rebuilt.
DELETE FROM memory_terms_next
WHERE rowid IN (SELECT id FROM memory_terms_next_docsize WHERE id NOT IN (SELECT seq FROM memory))

-- index_terms_next --
-- Add the new ones.
INSERT INTO memory_terms_next (rowid, terms)
SELECT id, c0 FROM memory_terms_content WHERE id NOT IN (SELECT seq FROM gone_memory)

-- misnamed_indexes --
-- Indexes that still have their staging names, because the names were in use when they were created.
SELECT name, sql FROM sqlite_schema
WHERE type = 'index' AND name GLOB 'coming_*' AND tbl_name NOT GLOB 'coming_*' AND sql IS NOT NULL

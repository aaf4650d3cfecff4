-- owner --
-- Whose memories wait, and the schema of the tables that they wait in.
SELECT value FROM meta WHERE name = 'stage'

-- note_owner --
-- Note whose memories wait.
INSERT INTO meta (name, value) VALUES ('stage', :owner) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- forget_owner --
-- Nothing waits any more.
DELETE FROM meta WHERE name = 'stage'

-- is_under_way --
-- Whether the job of an import has not ended.
SELECT 1 FROM job WHERE id = :import_id AND ended_at IS NULL

-- tables --
-- All tables by name.
SELECT name FROM sqlite_schema WHERE type = 'table'

-- definitions --
-- What memories are kept in, with the triggers that count whose they are.
SELECT name, sql FROM sqlite_schema
WHERE tbl_name IN ('memory', 'memory_vector', 'memory_use', 'memory_link', 'client_memories', 'memory_terms') AND sql IS NOT NULL
    AND (type <> 'trigger' OR sql LIKE '%client_memories%')
ORDER BY type = 'trigger', type = 'index', rowid

-- configure_coming --
-- Give the text index of what waits the settings of the one in use.
INSERT INTO coming_memory_terms (coming_memory_terms, rank)
SELECT k, v FROM memory_terms_config WHERE k <> 'version'

-- begin_places --
-- Let places be counted before the first memory has one.
INSERT INTO sqlite_sequence (name, seq)
SELECT value, 0 FROM json_each('["memory", "coming_memory"]') WHERE value NOT IN (SELECT name FROM sqlite_sequence)

-- even_out_places --
-- Let the next memory, in use or waiting, have a place behind all others.
UPDATE sqlite_sequence
SET seq = (SELECT max(seq) FROM sqlite_sequence WHERE name IN ('memory', 'coming_memory'))
WHERE name IN ('memory', 'coming_memory')

-- count_coming --
-- How many wait.
SELECT count(*) FROM coming_memory

-- goes --
-- Whether a memory is of a kind that others take the place of.
memory.kind IN (SELECT value FROM json_each(:kinds))

-- census --
-- How many memories go, and how many stay.
SELECT count(*) FILTER (WHERE {goes}), count(*) FILTER (WHERE NOT ({goes})) FROM memory

-- in_the_way --
-- What waits and has the id, or the key in the same audience, of a memory that stays.
SELECT coming.seq FROM memory JOIN coming_memory AS coming ON coming.id = memory.id
WHERE NOT ({goes})
UNION
SELECT coming.seq FROM memory JOIN coming_memory AS coming
    ON coming.audience_id = memory.audience_id AND coming.key = memory.key
WHERE memory.key IS NOT NULL AND NOT ({goes})

-- without_successor --
-- What memories were before that neither wait nor stay.
SELECT coming.seq FROM coming_memory AS coming
WHERE coming.id GLOB 'old_*'
    AND NOT EXISTS (SELECT 1 FROM coming_memory AS successor WHERE successor.id = coming.superseded_by)
    AND NOT EXISTS (SELECT 1 FROM memory WHERE memory.id = coming.superseded_by AND NOT ({goes}))

-- drop_coming --
-- One does not wait any more; its vectors go with it.
DELETE FROM coming_memory WHERE seq = :seq

-- drop_coming_terms --
-- Nor do its terms.
DELETE FROM coming_memory_terms WHERE rowid = :seq

-- bring_memories --
-- Copy the memories that stay.
INSERT INTO coming_memory SELECT * FROM memory WHERE NOT ({goes}) ORDER BY seq

-- bring_vectors --
-- Copy their vectors.
INSERT INTO coming_memory_vector
SELECT memory_vector.* FROM memory JOIN memory_vector ON memory_vector.seq = memory.seq WHERE NOT ({goes})

-- bring_uses --
-- Copy how often they were answers.
INSERT INTO coming_memory_use
SELECT memory_use.* FROM memory_use JOIN memory ON memory.seq = memory_use.seq WHERE NOT ({goes})

-- bring_links --
-- Copy what ties them to code.
INSERT INTO coming_memory_link
SELECT memory_link.* FROM memory_link JOIN memory ON memory.seq = memory_link.seq WHERE NOT ({goes})
ORDER BY memory_link.rowid

-- bring_terms --
-- Copy their terms.
INSERT INTO coming_memory_terms (rowid, terms)
SELECT indexed.id, indexed.c0 FROM memory JOIN memory_terms_content AS indexed ON indexed.id = memory.seq
WHERE NOT ({goes})
ORDER BY memory.seq

-- told_of --
-- The memories that go and that calls told of.
SELECT told.memory_id FROM tool_call_memory AS told CROSS JOIN memory ON memory.id = told.memory_id WHERE {goes}

-- forget_calls --
-- What these calls said goes too.
UPDATE tool_call SET arguments = '{}', result = '', erased = 1
WHERE seq IN (SELECT call_seq FROM tool_call_memory WHERE memory_id IN ({told_of}))

-- forget_told --
-- And that they told of them.
DELETE FROM tool_call_memory WHERE memory_id IN ({told_of})

-- told_of_by_jobs --
-- The memories that go and that jobs told of.
SELECT told.memory_id FROM job_memory AS told CROSS JOIN memory ON memory.id = told.memory_id WHERE {goes}

-- forget_jobs --
-- What these jobs came to goes too.
UPDATE job SET {../../tooling/jobs/queries.erase}
WHERE seq IN (SELECT job_seq FROM job_memory WHERE memory_id IN ({told_of_by_jobs}))

-- forget_told_by_jobs --
-- And that they told of them.
DELETE FROM job_memory WHERE memory_id IN ({told_of_by_jobs})

-- forget_items --
-- What is in mind and became one of them goes too.
DELETE FROM working_item
WHERE memory_id IS NOT NULL AND EXISTS (SELECT 1 FROM memory WHERE memory.id = working_item.memory_id AND {goes})

-- triggers --
-- Every trigger there is.
SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'

-- count_anew --
-- Note how many memories there are.
UPDATE meta SET value = (SELECT count(*) FROM memory) WHERE name = 'memories'

-- erase_terms_next --
-- Take what does not remain out of the text index that a rebuild is making.
DELETE FROM memory_terms_next
WHERE rowid IN (SELECT id FROM memory_terms_next_docsize WHERE id NOT IN (SELECT seq FROM memory))

-- index_terms_next --
-- Put what is new into it.
INSERT INTO memory_terms_next (rowid, terms)
SELECT id, c0 FROM memory_terms_content WHERE id NOT IN (SELECT seq FROM gone_memory)

-- misnamed_indexes --
-- Indexes whose names were taken when they were made, because others had them that are gone now.
SELECT name, sql FROM sqlite_schema
WHERE type = 'index' AND name GLOB 'coming_*' AND tbl_name NOT GLOB 'coming_*' AND sql IS NOT NULL

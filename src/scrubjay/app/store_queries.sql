-- ping --
-- Prove that the store can be read.
SELECT value FROM meta WHERE name = 'memories'

-- damaged_pages --
-- Damage in pages, indexes and the text index, which is compared with the table of its terms.
SELECT integrity_check FROM pragma_integrity_check

-- broken_references --
-- Rows that reference missing rows.
SELECT "table", count(*) FROM pragma_foreign_key_check GROUP BY "table"

-- not_indexed --
-- Number of memories missing from the text index.
SELECT count(*) FROM memory WHERE seq NOT IN (SELECT id FROM memory_terms_docsize)

-- orphaned_index_entries --
-- Number of text index entries without a memory.
SELECT count(*) FROM memory_terms_docsize WHERE id NOT IN (SELECT seq FROM memory)

-- without_vector --
-- Number of memories without a vector row.
SELECT count(*) FROM memory WHERE seq NOT IN (SELECT seq FROM memory_vector)

-- miscounted --
-- The actual and the stored number of memories, if they differ.
SELECT counted, kept
FROM (SELECT (SELECT count(*) FROM memory) AS counted, (SELECT value FROM meta WHERE name = 'memories') AS kept)
WHERE counted <> kept

-- episodes_not_indexed --
-- Number of complete episodes missing from their text index.
SELECT count(*) FROM episode WHERE end_time IS NOT NULL AND seq NOT IN (SELECT id FROM episode_terms_docsize)

-- orphaned_episode_entries --
-- Number of entries of the episodes' text index without a complete episode.
SELECT count(*) FROM episode_terms_docsize WHERE id NOT IN (SELECT seq FROM episode WHERE end_time IS NOT NULL)

-- episodes_miscounted --
-- Number of episodes whose stored step count is wrong.
SELECT count(*) FROM episode
WHERE steps <> (SELECT count(*) FROM episode_step WHERE episode_step.episode_seq = episode.seq)

-- copy --
-- Write a compact copy of one snapshot of the store, while other connections keep writing.
VACUUM INTO :target

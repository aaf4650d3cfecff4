-- ping --
-- Prove that the store can be read.
SELECT value FROM meta WHERE name = 'memories'

-- damaged_pages --
-- Damage in pages, indexes and the text index (which is compared with the terms beside it).
SELECT integrity_check FROM pragma_integrity_check

-- broken_references --
-- Rows that name others which are not there.
SELECT "table", count(*) FROM pragma_foreign_key_check GROUP BY "table"

-- not_indexed --
-- How many memories the text index does not hold.
SELECT count(*) FROM memory WHERE seq NOT IN (SELECT id FROM memory_terms_docsize)

-- indexed_in_vain --
-- How many entries of the text index have no memory.
SELECT count(*) FROM memory_terms_docsize WHERE id NOT IN (SELECT seq FROM memory)

-- without_vector --
-- How many memories have no row for their vector.
SELECT count(*) FROM memory WHERE seq NOT IN (SELECT seq FROM memory_vector)

-- miscounted --
-- The counted number of memories and the kept one, where they differ.
SELECT counted, kept
FROM (SELECT (SELECT count(*) FROM memory) AS counted, (SELECT value FROM meta WHERE name = 'memories') AS kept)
WHERE counted <> kept

-- episodes_not_indexed --
-- How many complete episodes the text index does not hold.
SELECT count(*) FROM episode WHERE end_time IS NOT NULL AND seq NOT IN (SELECT id FROM episode_terms_docsize)

-- episodes_indexed_in_vain --
-- How many entries of that text index have no complete episode.
SELECT count(*) FROM episode_terms_docsize WHERE id NOT IN (SELECT seq FROM episode WHERE end_time IS NOT NULL)

-- episodes_miscounted --
-- How many episodes have more or fewer steps than are counted.
SELECT count(*) FROM episode
WHERE steps <> (SELECT count(*) FROM episode_step WHERE episode_step.episode_seq = episode.seq)

-- copy --
-- A whole, compact copy of one state of the store, while others go on writing.
VACUUM INTO :target

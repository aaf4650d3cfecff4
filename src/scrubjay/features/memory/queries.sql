-- audiences --
-- Audiences visible to the caller. Every query below that reads memories for a caller uses it.
SELECT id FROM audience
WHERE (
    scope = 'global'
    OR (scope = 'project' AND project_id = :project_id)
    OR (scope = 'session' AND session_id = :session_id AND project_id IS :project_id)
) AND {../../db/sqlite/intact.audience}

-- damaged_audiences --
-- Audiences that are not what was written.
SELECT audience.id FROM audience WHERE NOT {../../db/sqlite/intact.audience}

-- audiences_of_scope --
-- Visible audiences of this scope.
SELECT id FROM audience WHERE scope = :scope AND id IN ({audiences})

-- visible --
-- True if a memory is visible to the caller.
memory.audience_id IN ({audiences})

-- passes --
-- True if a memory matches the filter; a null condition matches everything.
(:unfiltered OR (
    (:scope IS NULL OR memory.audience_id IN (SELECT id FROM audience WHERE scope = :scope))
    AND (:category IS NULL OR memory.category = :category)
    AND (:speaker IS NULL OR memory.speaker = :speaker)
    AND (:key IS NULL OR memory.key = :key)
    AND (:from_session IS NULL OR memory.session_id = :from_session)
    AND (:occurred_after IS NULL OR coalesce(memory.occurred_at, memory.recorded_at) >= :occurred_after)
    AND (:occurred_before IS NULL OR coalesce(memory.occurred_at, memory.recorded_at) < :occurred_before)
    AND (:kinds IS NULL OR memory.kind IN (SELECT value FROM json_each(:kinds)))
    AND (:match IS NULL OR memory.seq IN (SELECT rowid FROM memory_terms WHERE memory_terms MATCH :match))
    AND (:tags IS NULL OR NOT EXISTS (
        SELECT 1 FROM json_each(:tags) AS wanted
        WHERE wanted.value NOT IN (SELECT value FROM json_each(memory.tags))
    ))
))

-- columns --
-- Fields of a memory, in the order that `rows.memory_from` expects: those with a checksum in the order of the table.
memory.seq, memory.id, memory.audience_id, memory.session_id, memory.key, memory.category, memory.importance,
memory.confidence, memory.speaker, memory.occurred_at, memory.recorded_at, memory.updated_at, memory.tags,
memory.metadata, memory.content, memory.traits, memory.kind, memory.details, memory.provenance, memory.subject,
memory.valid_from, memory.valid_until, memory.superseded_by, memory.protected, memory.checksum,
audience.scope, audience.project_id

-- holds --
-- True if a memory is valid at the given time; without a time, if it is not superseded.
(
    (:as_of IS NULL AND memory.superseded_by IS NULL)
    OR (
        coalesce(memory.valid_from, memory.occurred_at, memory.recorded_at) <= :as_of
        AND coalesce(memory.valid_until > :as_of, true)
    )
)

-- visible_by_id --
-- Row numbers of the visible memories among these ids.
SELECT memory.seq FROM memory
WHERE memory.id IN (SELECT value FROM json_each(:ids)) AND {visible}

-- find --
-- Row numbers of the memories that match the filter, last stored first.
SELECT memory.seq FROM memory
WHERE {visible} AND {passes} AND {holds}
ORDER BY memory.seq DESC
LIMIT :limit

-- sorted_alone --
-- The time by which the memory in this row is listed, if it matches the filter.
SELECT coalesce(memory.occurred_at, memory.recorded_at) FROM memory
WHERE memory.seq = :seq AND {visible} AND {passes} AND {holds}

-- narrowed --
-- Row numbers of memories that may match the filter, by an index if possible: only one of the three branches is read.
narrowed (seq) AS (
    SELECT seq FROM memory WHERE :from_session IS NOT NULL AND session_id = :from_session
    UNION ALL SELECT seq FROM memory
    WHERE :from_session IS NULL AND :special AND kind <> 'general' AND kind IN (SELECT value FROM json_each(:kinds))
    UNION ALL SELECT seq FROM memory WHERE :from_session IS NULL AND NOT :special
)

-- list_newest --
-- Row numbers of one page of these memories, latest first.
WITH {narrowed}
SELECT memory.seq FROM narrowed JOIN memory ON memory.seq = narrowed.seq
WHERE {visible} AND {passes} AND {holds}
ORDER BY coalesce(memory.occurred_at, memory.recorded_at) DESC, memory.seq DESC
LIMIT :limit OFFSET :offset

-- list_oldest --
-- Row numbers of one page of these memories, earliest first.
WITH {narrowed}
SELECT memory.seq FROM narrowed JOIN memory ON memory.seq = narrowed.seq
WHERE {visible} AND {passes} AND {holds}
ORDER BY coalesce(memory.occurred_at, memory.recorded_at), memory.seq
LIMIT :limit OFFSET :offset

-- count_listed --
-- Number of memories on all pages.
WITH {narrowed}
SELECT count(*) FROM narrowed JOIN memory ON memory.seq = narrowed.seq WHERE {visible} AND {passes} AND {holds}

-- history --
-- Row numbers of all versions of a memory, superseded and superseding, earliest valid first.
WITH RECURSIVE chain (id) AS (
    SELECT :id
    UNION SELECT memory.id FROM chain JOIN memory ON memory.superseded_by = chain.id
    UNION SELECT memory.superseded_by FROM chain JOIN memory ON memory.id = chain.id
        WHERE memory.superseded_by IS NOT NULL
)
SELECT memory.seq FROM memory
WHERE memory.id IN (SELECT id FROM chain) AND {visible}
ORDER BY coalesce(memory.valid_from, memory.occurred_at, memory.recorded_at), memory.superseded_by IS NULL, memory.seq

-- rivals --
-- Other valid memories about this subject.
SELECT memory.seq, {columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.audience_id = :audience_id AND memory.subject = :subject AND memory.superseded_by IS NULL
    AND memory.id <> :id

-- conflicts --
-- For each of these, other valid memories about its subject.
SELECT known.id, memory.id
FROM memory AS known
JOIN memory ON memory.audience_id = known.audience_id AND memory.subject = known.subject AND memory.id <> known.id
WHERE known.seq IN (SELECT value FROM json_each(:seqs))
    AND known.subject IS NOT NULL AND known.superseded_by IS NULL AND memory.superseded_by IS NULL
    AND memory.content <> known.content
ORDER BY known.seq, memory.seq

-- supersede --
-- Mark a memory as superseded from this time.
UPDATE memory SET superseded_by = :successor, valid_until = min(coalesce(valid_until, :until), :until) WHERE seq = :seq

-- restore --
-- Before a memory is erased: let its successor supersede its predecessors, or make them valid again.
WITH going AS (
    SELECT going.superseded_by, coalesce(going.valid_from, going.occurred_at, going.recorded_at) AS since,
        coalesce(next.valid_from, next.occurred_at, next.recorded_at) AS next_since
    FROM memory AS going LEFT JOIN memory AS next ON next.id = going.superseded_by
    WHERE going.id = :id
)
UPDATE memory
SET superseded_by = going.superseded_by, valid_until = iif(valid_until < going.since, valid_until, going.next_since)
FROM going
WHERE memory.superseded_by = :id AND memory.id NOT GLOB 'old_*'

-- add_version --
-- Copy a memory as an earlier version, without its key.
INSERT INTO memory (
    id, audience_id, session_id, content, key, category, importance, confidence, speaker, tags, metadata,
    occurred_at, recorded_at, updated_at, traits, kind, details, provenance, subject, valid_from, valid_until,
    superseded_by, protected
)
SELECT
    :version, audience_id, session_id, content, NULL, category, importance, confidence, speaker, tags, metadata,
    occurred_at, updated_at, :now, traits, kind, details, provenance, subject, valid_from,
    min(coalesce(valid_until, :until), :until), id, protected
FROM memory WHERE seq = :seq
RETURNING seq

-- copy_vectors --
-- Copy the vectors of a memory to another.
INSERT INTO memory_vector (seq, model, vector)
SELECT :copy, model, vector FROM memory_vector WHERE seq = :seq

-- terms_of --
-- Terms of a memory in the text index.
SELECT c0 FROM memory_terms_content WHERE id = :seq

-- lacks_source --
-- True if one of these memories or working memory items is gone.
SELECT EXISTS (
    SELECT 1 FROM json_each(:ids) AS source
    WHERE NOT EXISTS (SELECT 1 FROM memory WHERE memory.id = source.value)
        AND NOT EXISTS (SELECT 1 FROM working_item WHERE working_item.id = source.value)
)

-- versions --
-- Row numbers of the earlier versions of a memory, which are erased with it.
SELECT seq FROM memory WHERE superseded_by = :id AND id GLOB 'old_*'

-- set_protected --
-- Set or clear the protection of visible memories.
UPDATE memory SET protected = :protected
WHERE id IN (SELECT value FROM json_each(:ids)) AND {visible} AND protected <> :protected

-- by_ids --
-- Rows of unprotected memories of any scope; for maintenance only.
SELECT memory.seq, memory.id FROM memory WHERE memory.id IN (SELECT value FROM json_each(:ids)) AND NOT memory.protected

-- receipts_of_key --
-- Receipts of an earlier write with this idempotency key.
SELECT digest, outcomes FROM write_once WHERE client = :client AND key = :key

-- record_key --
-- Record the receipts of a write under its idempotency key.
INSERT INTO write_once (client, key, digest, outcomes, written_at)
VALUES (:client, :key, :digest, :outcomes, :written_at)

-- expire_keys --
-- Delete expired idempotency keys.
DELETE FROM write_once WHERE written_at < :before

-- find_audience --
-- The audience of exactly this scope, project and session.
SELECT id FROM audience WHERE scope = :scope AND project_id IS :project_id AND session_id IS :session_id

-- add_audience --
-- Add the audience of this scope, project and session.
INSERT INTO audience (scope, project_id, session_id) VALUES (:scope, :project_id, :session_id) RETURNING id

-- keyed --
-- The memory with this key in exactly this audience: a write of the same key revises it.
SELECT memory.seq, {columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.audience_id = :audience_id AND memory.key = :key

-- revised --
-- The memory with this id, if it belongs to exactly this audience and is not superseded.
SELECT memory.seq, {columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.audience_id = :audience_id AND memory.id = :id AND memory.superseded_by IS NULL

-- add --
-- Add a memory.
INSERT INTO memory (
    id, audience_id, session_id, content, key, category, importance, confidence, speaker, tags, metadata,
    occurred_at, recorded_at, updated_at, traits, kind, details, provenance, subject, valid_from, valid_until,
    superseded_by, protected
)
VALUES (
    :id, :audience_id, :session_id, :content, :key, :category, :importance, :confidence, :speaker, :tags, :metadata,
    :occurred_at, :recorded_at, :updated_at, :traits, :kind, :details, :provenance, :subject, :valid_from,
    :valid_until, :superseded_by, :protected
)

-- revise --
-- Change a memory in place; its id, key, audience and recorded time stay.
UPDATE memory
SET session_id = :session_id, content = :content, category = :category, importance = :importance,
    confidence = :confidence, speaker = :speaker, tags = :tags, metadata = :metadata, occurred_at = :occurred_at,
    updated_at = :updated_at, kind = :kind, details = :details, provenance = :provenance, subject = :subject,
    valid_from = :valid_from, valid_until = :valid_until, protected = :protected
WHERE seq = :seq

-- erase --
-- Erase a memory that was found in the same transaction; its vectors and links are deleted with it.
DELETE FROM memory WHERE seq = :seq

-- index_terms --
-- Replace the terms of a memory in the text index.
INSERT OR REPLACE INTO memory_terms (rowid, terms) VALUES (:seq, :terms)

-- index_terms_next --
-- Replace the terms of a memory in the index that is being rebuilt.
INSERT OR REPLACE INTO memory_terms_next (rowid, terms) VALUES (:seq, :terms)

-- erase_terms --
-- Remove a memory from the text index.
DELETE FROM memory_terms WHERE rowid = :seq

-- erase_terms_next --
-- Remove a memory from the index that is being rebuilt.
DELETE FROM memory_terms_next WHERE rowid = :seq

-- put_vector --
-- Store a vector of a memory; an equal one is not written again, so that other processes need not read it again.
INSERT INTO memory_vector (seq, model, vector) VALUES (:seq, :model, :vector)
ON CONFLICT (seq, model) DO UPDATE SET vector = excluded.vector WHERE vector <> excluded.vector

-- drop_other_vectors --
-- Delete the vectors of other models, which were computed from earlier content.
DELETE FROM memory_vector WHERE seq = :seq AND model <> :model

-- set_traits --
-- Set the text traits of a memory.
UPDATE memory SET traits = :traits WHERE seq = :seq AND traits <> :traits

-- truncate_change_log --
-- Truncate the change log, so that every derived file has to be rebuilt.
DELETE FROM memory_change WHERE revision < (SELECT max(revision) FROM memory_change)

-- restart_change_log --
-- Turn the remaining log entry into the first of a new log.
UPDATE memory_change SET revision = revision + 1, mark = random()

-- vectors_of --
-- Vectors of these memories by this model.
SELECT seq, vector FROM memory_vector WHERE model = :model AND seq IN (SELECT value FROM json_each(:seqs))

-- uses --
-- Number of recalls and time of the last one, for those of these memories that were recalled.
SELECT seq, uses, used_at FROM memory_use WHERE seq IN (SELECT value FROM json_each(:seqs))

-- add_uses --
-- Add to the use counts by id; ids that are gone are ignored.
INSERT INTO memory_use (seq, uses, used_at)
SELECT memory.seq, noted.value, :used_at FROM json_each(:uses) AS noted JOIN memory ON memory.id = noted.key
WHERE true
ON CONFLICT (seq) DO UPDATE SET uses = uses + excluded.uses, used_at = max(used_at, excluded.used_at)

-- matching --
-- Row numbers of all visible memories that match the filter, for the vector search to choose from.
SELECT memory.seq FROM memory WHERE {visible} AND {passes}

-- by_seqs --
-- Visible memories among these rows, and whether they have links to code.
SELECT EXISTS (SELECT 1 FROM memory_link WHERE memory_link.seq = memory.seq), {columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.seq IN (SELECT value FROM json_each(:seqs)) AND {visible}

-- count_memories --
-- Number of memories, over all scopes.
SELECT count(*) FROM memory

-- count_kinds --
-- Number of memories of each kind that are not superseded, over all scopes.
SELECT kind, count(*) FROM memory WHERE superseded_by IS NULL GROUP BY kind

-- count_indexed --
-- Number of memories in the text index.
SELECT count(*) FROM memory_terms_docsize

-- count_vectors --
-- Number of vectors of each model.
SELECT model, count(*) FROM memory_vector WHERE length(vector) > 0 GROUP BY model ORDER BY model

-- scan --
-- Memories of every scope, in the order of ids.
SELECT {columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.id > :after AND +memory.id > :after
ORDER BY memory.id
LIMIT :limit

-- next_definition --
-- SQL that creates the second text index, with the definition of the first.
SELECT 'CREATE VIRTUAL TABLE memory_terms_next ' || substr(sql, instr(sql, 'USING'))
FROM sqlite_schema WHERE name = 'memory_terms'

-- drop_next --
-- Drop the second text index, if there is one.
DROP TABLE IF EXISTS memory_terms_next

-- configure_next --
-- Copy the settings of the first text index to the second.
INSERT INTO memory_terms_next (memory_terms_next, rank) SELECT k, v FROM memory_terms_config WHERE k <> 'version'

-- rebuilt_to --
-- Last id that the rebuild has read (null at first); no row if no rebuild is in progress.
SELECT value FROM meta WHERE name = 'rebuilt_to'

-- set_rebuilt_to --
-- Store the last id that the rebuild has read.
INSERT INTO meta (name, value) VALUES ('rebuilt_to', :id) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- not_rebuilt --
-- Row number of a memory that the second index does not hold yet; an entry that it holds was written after the scan.
SELECT seq FROM memory
WHERE id = :id AND NOT EXISTS (SELECT 1 FROM memory_terms_next_docsize AS indexed WHERE indexed.id = memory.seq)

-- count_not_rebuilt --
-- Number of memories that the second index does not hold yet.
SELECT count(*) FROM memory WHERE seq NOT IN (SELECT id FROM memory_terms_next_docsize)

-- drop_terms --
-- Drop the first text index.
DROP TABLE memory_terms

-- exchange_terms --
-- Rename the second text index to the first.
ALTER TABLE memory_terms_next RENAME TO memory_terms

-- set_rebuilt_by --
-- Store the model whose vectors replace all others when the rebuild ends.
INSERT INTO meta (name, value) VALUES ('rebuilt_by', :model) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- drop_replaced_vectors --
-- Delete the vectors of unselected models for memories that have a vector of the rebuild's model.
DELETE FROM memory_vector
WHERE model <> (SELECT value FROM meta WHERE name = 'rebuilt_by')
    AND model NOT IN (SELECT model FROM embedding_model WHERE choice IS NOT NULL)
    AND seq IN (SELECT seq FROM memory_vector WHERE model = (SELECT value FROM meta WHERE name = 'rebuilt_by'))

-- end_rebuild --
-- Delete the state of the rebuild.
DELETE FROM meta WHERE name IN ('rebuilt_to', 'rebuilt_by')

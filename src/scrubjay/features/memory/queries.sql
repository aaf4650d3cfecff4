-- audiences --
-- The one place that says who sees what; everything below that reads memories for somebody goes through it.
SELECT id FROM audience
WHERE scope = 'global'
    OR (scope = 'project' AND project_id = :project_id)
    OR (scope = 'session' AND session_id = :session_id AND project_id IS :project_id)

-- audiences_of_scope --
-- Those of them that have this scope.
SELECT id FROM audience WHERE scope = :scope AND id IN ({audiences})

-- visible --
-- Whether a memory may be seen by the asker.
memory.audience_id IN ({audiences})

-- passes --
-- Whether a memory passes the filter; a part that was not given lets everything through.
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
-- A memory's fields, in the order in which `rows.memory_from` takes them.
memory.id, audience.scope, audience.project_id, memory.session_id, memory.content, memory.key, memory.category,
memory.importance, memory.confidence, memory.speaker, memory.tags, memory.metadata, memory.occurred_at,
memory.recorded_at, memory.updated_at, memory.kind, memory.details, memory.provenance, memory.subject,
memory.valid_from, memory.valid_until, memory.superseded_by, memory.protected

-- holds --
-- Whether a memory is true at the moment asked about; without one, whether nothing has taken its place.
(
    (:as_of IS NULL AND memory.superseded_by IS NULL)
    OR (
        coalesce(memory.valid_from, memory.occurred_at, memory.recorded_at) <= :as_of
        AND coalesce(memory.valid_until > :as_of, true)
    )
)

-- visible_by_id --
-- The visible ones among these ids, each with its place.
SELECT memory.seq, {columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.id IN (SELECT value FROM json_each(:ids)) AND {visible}

-- find --
-- What passes the filter, the one kept last first.
SELECT {columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE {visible} AND {passes} AND {holds}
ORDER BY memory.seq DESC
LIMIT :limit

-- narrowed --
-- The places of what may pass the filter, by an index where there is one: only one of the three is ever read.
narrowed (seq) AS (
    SELECT seq FROM memory WHERE :from_session IS NOT NULL AND session_id = :from_session
    UNION ALL SELECT seq FROM memory
    WHERE :from_session IS NULL AND :special AND kind <> 'general' AND kind IN (SELECT value FROM json_each(:kinds))
    UNION ALL SELECT seq FROM memory WHERE :from_session IS NULL AND NOT :special
)

-- list_newest --
-- A page of the same.
WITH {narrowed}
SELECT {columns}
FROM narrowed JOIN memory ON memory.seq = narrowed.seq JOIN audience ON audience.id = memory.audience_id
WHERE {visible} AND {passes} AND {holds}
ORDER BY coalesce(memory.occurred_at, memory.recorded_at) DESC, memory.seq DESC
LIMIT :limit OFFSET :offset

-- list_oldest --
-- A page of the same, the one that happened first before the others.
WITH {narrowed}
SELECT {columns}
FROM narrowed JOIN memory ON memory.seq = narrowed.seq JOIN audience ON audience.id = memory.audience_id
WHERE {visible} AND {passes} AND {holds}
ORDER BY coalesce(memory.occurred_at, memory.recorded_at), memory.seq
LIMIT :limit OFFSET :offset

-- count_listed --
-- How many there are on all pages.
WITH {narrowed}
SELECT count(*) FROM narrowed JOIN memory ON memory.seq = narrowed.seq WHERE {visible} AND {passes} AND {holds}

-- history --
-- A memory, all that took its place and all whose place it took, the one that was true first before the others.
WITH RECURSIVE chain (id) AS (
    SELECT :id
    UNION SELECT memory.id FROM chain JOIN memory ON memory.superseded_by = chain.id
    UNION SELECT memory.superseded_by FROM chain JOIN memory ON memory.id = chain.id
        WHERE memory.superseded_by IS NOT NULL
)
SELECT {columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.id IN (SELECT id FROM chain) AND {visible}
ORDER BY coalesce(memory.valid_from, memory.occurred_at, memory.recorded_at), memory.superseded_by IS NULL, memory.seq

-- rivals --
-- What else is held true about this subject.
SELECT memory.seq, {columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.audience_id = :audience_id AND memory.subject = :subject AND memory.superseded_by IS NULL
    AND memory.id <> :id

-- conflicts --
-- Of each of these, what else is held true about its subject.
SELECT known.id, memory.id
FROM memory AS known
JOIN memory ON memory.audience_id = known.audience_id AND memory.subject = known.subject AND memory.id <> known.id
WHERE known.seq IN (SELECT value FROM json_each(:seqs))
    AND known.subject IS NOT NULL AND known.superseded_by IS NULL AND memory.superseded_by IS NULL
    AND memory.content <> known.content
ORDER BY known.seq, memory.seq

-- supersede --
-- From this moment on another memory is true instead.
UPDATE memory SET superseded_by = :successor, valid_until = min(coalesce(valid_until, :until), :until) WHERE seq = :seq

-- restore --
-- What gave way to a memory that is to go is true again, or gives way to what took the place of that one.
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

-- keep_version --
-- Keep a memory as it was, without its key, beside the one that takes its place.
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
-- Give a memory the vectors of another.
INSERT INTO memory_vector (seq, model, vector)
SELECT :copy, model, vector FROM memory_vector WHERE seq = :seq

-- terms_of --
-- The terms of a memory as the text index has them.
SELECT c0 FROM memory_terms_content WHERE id = :seq

-- lacks_source --
-- Whether one of these memories and items of working memory is gone.
SELECT EXISTS (
    SELECT 1 FROM json_each(:ids) AS source
    WHERE NOT EXISTS (SELECT 1 FROM memory WHERE memory.id = source.value)
        AND NOT EXISTS (SELECT 1 FROM working_item WHERE working_item.id = source.value)
)

-- versions --
-- The places of what a memory was before; these are erased with it.
SELECT seq FROM memory WHERE superseded_by = :id AND id GLOB 'old_*'

-- set_protected --
-- Keep visible memories from fading, or no more.
UPDATE memory SET protected = :protected
WHERE id IN (SELECT value FROM json_each(:ids)) AND {visible} AND protected <> :protected

-- by_ids --
-- Where these are, whoever may see them, unless they are protected; for maintenance only.
SELECT memory.seq, memory.id FROM memory WHERE memory.id IN (SELECT value FROM json_each(:ids)) AND NOT memory.protected

-- written_once --
-- What became of a write that was sent with this key before.
SELECT digest, outcomes FROM write_once WHERE client = :client AND key = :key

-- note_once --
-- Note what became of a write.
INSERT INTO write_once (client, key, digest, outcomes, written_at)
VALUES (:client, :key, :digest, :outcomes, :written_at)

-- forget_once --
-- Nobody sends a write again after so long.
DELETE FROM write_once WHERE written_at < :before

-- find_audience --
-- The audience of exactly this scope, project and session.
SELECT id FROM audience WHERE scope = :scope AND project_id IS :project_id AND session_id IS :session_id

-- add_audience --
-- Make the audience of this scope, project and session.
INSERT INTO audience (scope, project_id, session_id) VALUES (:scope, :project_id, :session_id) RETURNING id

-- keyed --
-- The memory under this key of exactly this audience: the one that a write of the same key revises.
SELECT memory.seq, {columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.audience_id = :audience_id AND memory.key = :key

-- revised --
-- The memory with this id, if it is of exactly this audience and nothing has taken its place.
SELECT memory.seq, {columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.audience_id = :audience_id AND memory.id = :id AND memory.superseded_by IS NULL

-- add --
-- Keep a new memory.
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
-- Change a memory in place; what names it under its key stays.
UPDATE memory
SET session_id = :session_id, content = :content, category = :category, importance = :importance,
    confidence = :confidence, speaker = :speaker, tags = :tags, metadata = :metadata, occurred_at = :occurred_at,
    updated_at = :updated_at, kind = :kind, details = :details, provenance = :provenance, subject = :subject,
    valid_from = :valid_from, valid_until = :valid_until, protected = :protected
WHERE seq = :seq

-- erase --
-- Erase a memory that was found visible in the same transaction; its vector goes with it.
DELETE FROM memory WHERE seq = :seq

-- index_terms --
-- Put a memory's terms into the text index, in place of those it had.
INSERT OR REPLACE INTO memory_terms (rowid, terms) VALUES (:seq, :terms)

-- index_terms_next --
-- The same in the index that a rebuild is making.
INSERT OR REPLACE INTO memory_terms_next (rowid, terms) VALUES (:seq, :terms)

-- erase_terms --
-- Take a memory out of the text index.
DELETE FROM memory_terms WHERE rowid = :seq

-- erase_terms_next --
-- The same in the index that a rebuild is making.
DELETE FROM memory_terms_next WHERE rowid = :seq

-- keep_vector --
-- Keep a memory's vector; one that is the same already is left alone, so that nobody reads it again.
INSERT INTO memory_vector (seq, model, vector) VALUES (:seq, :model, :vector)
ON CONFLICT (seq, model) DO UPDATE SET vector = excluded.vector WHERE vector <> excluded.vector

-- drop_other_vectors --
-- What other models made of a content that is no more.
DELETE FROM memory_vector WHERE seq = :seq AND model <> :model

-- keep_traits --
-- Keep what kind of text a memory is.
UPDATE memory SET traits = :traits WHERE seq = :seq AND traits <> :traits

-- forget_changes --
-- Every copy of the memories is worthless from now on: the log says nothing of what changed.
DELETE FROM memory_change WHERE revision < (SELECT max(revision) FROM memory_change)

-- note_great_change --
-- The only entry of the new log.
UPDATE memory_change SET revision = revision + 1, mark = random()

-- vectors_of --
-- What this model made of these.
SELECT seq, vector FROM memory_vector WHERE model = :model AND seq IN (SELECT value FROM json_each(:seqs))

-- uses --
-- How often each of these was an answer, and when last; those that never were are not here.
SELECT seq, uses, used_at FROM memory_use WHERE seq IN (SELECT value FROM json_each(:seqs))

-- note_uses --
-- Count answers by id; a memory that is gone meanwhile is passed over.
INSERT INTO memory_use (seq, uses, used_at)
SELECT memory.seq, noted.value, :used_at FROM json_each(:uses) AS noted JOIN memory ON memory.id = noted.key
WHERE true
ON CONFLICT (seq) DO UPDATE SET uses = uses + excluded.uses, used_at = max(used_at, excluded.used_at)

-- passing --
-- All that pass the filter, for search by meaning to choose among.
SELECT memory.seq FROM memory WHERE {visible} AND {passes}

-- whole --
-- The visible ones among these, whole, and whether they are about code.
SELECT memory.seq, EXISTS (SELECT 1 FROM memory_link WHERE memory_link.seq = memory.seq), {columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.seq IN (SELECT value FROM json_each(:seqs)) AND {visible}

-- count_memories --
-- How many memories there are, over all scopes.
SELECT count(*) FROM memory

-- count_kinds --
-- How many memories of each kind nothing has taken the place of, over all scopes.
SELECT kind, count(*) FROM memory WHERE superseded_by IS NULL GROUP BY kind

-- count_indexed --
-- How many of them the text index holds.
SELECT count(*) FROM memory_terms_docsize

-- count_vectors --
-- How many vectors each model made.
SELECT model, count(*) FROM memory_vector WHERE length(vector) > 0 GROUP BY model ORDER BY model

-- scan --
-- Every memory of every scope in the order of their ids.
SELECT {columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.id > :after
ORDER BY memory.id
LIMIT :limit

-- next_definition --
-- The definition of a second text index, just like the one in use.
SELECT 'CREATE VIRTUAL TABLE memory_terms_next ' || substr(sql, instr(sql, 'USING'))
FROM sqlite_schema WHERE name = 'memory_terms'

-- drop_next --
-- Give up the second text index, if there is one.
DROP TABLE IF EXISTS memory_terms_next

-- configure_next --
-- Give the second text index the settings of the one in use.
INSERT INTO memory_terms_next (memory_terms_next, rank) SELECT k, v FROM memory_terms_config WHERE k <> 'version'

-- rebuilt_to --
-- The id that the rebuild has come to (null at first); no row when none is under way.
SELECT value FROM meta WHERE name = 'rebuilt_to'

-- note_rebuilt_to --
-- Note the id that the rebuild has come to.
INSERT INTO meta (name, value) VALUES ('rebuilt_to', :id) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- not_rebuilt --
-- The place of a memory that the second index does not hold yet; what it holds was put there later than it was scanned.
SELECT seq FROM memory
WHERE id = :id AND NOT EXISTS (SELECT 1 FROM memory_terms_next_docsize AS indexed WHERE indexed.id = memory.seq)

-- count_not_rebuilt --
-- How many memories the second index does not hold yet.
SELECT count(*) FROM memory WHERE seq NOT IN (SELECT id FROM memory_terms_next_docsize)

-- drop_terms --
-- Remove the text index that was in use.
DROP TABLE memory_terms

-- exchange_terms --
-- Put the second text index in its place.
ALTER TABLE memory_terms_next RENAME TO memory_terms

-- note_rebuilt_by --
-- Note the model whose vectors take the place of all others when the rebuild ends.
INSERT INTO meta (name, value) VALUES ('rebuilt_by', :model) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- drop_replaced_vectors --
-- What other models made, of memories that have a vector of the rebuild's; not what answers or is to answer.
DELETE FROM memory_vector
WHERE model <> (SELECT value FROM meta WHERE name = 'rebuilt_by')
    AND model NOT IN (SELECT model FROM embedding_model WHERE choice IS NOT NULL)
    AND seq IN (SELECT seq FROM memory_vector WHERE model = (SELECT value FROM meta WHERE name = 'rebuilt_by'))

-- end_rebuild --
-- No rebuild is under way any more.
DELETE FROM meta WHERE name IN ('rebuilt_to', 'rebuilt_by')

-- visible --
-- What is of the asker's project, or of none.
(triple.project_id IS NULL OR triple.project_id = :project)

-- live --
-- What has not expired.
(triple.expires_at IS NULL OR triple.expires_at > :now)

-- seen --
-- What an asker sees of a graph.
triple.graph_id = :graph AND {visible} AND {live}

-- columns --
-- A triple's fields, in the order in which `knowledge._triple_from` takes them.
triple.seq, triple.id, triple.project_id, triple.graph_id, triple.subject_id,
(SELECT entity.name FROM entity WHERE entity.graph_id = triple.graph_id AND entity.id = triple.subject_id
    AND coalesce(entity.project_id, '') = coalesce(triple.project_id, '')),
triple.predicate, triple.object_id,
(SELECT entity.name FROM entity WHERE entity.graph_id = triple.graph_id AND entity.id = triple.object_id
    AND coalesce(entity.project_id, '') = coalesce(triple.project_id, '')),
triple.confidence, triple.source, triple.ttl, triple.context, triple.metadata, triple.client, triple.created_at,
triple.updated_at, triple.expires_at

-- inferred_columns --
-- The same of what was inferred; its names are those of the triples that it rests on.
triple.seq, triple.id, triple.project_id, triple.graph_id, triple.subject_id,
(SELECT entity.name FROM entity WHERE entity.graph_id = triple.graph_id AND entity.id = triple.subject_id
    AND (entity.project_id IS NULL OR entity.project_id = :project) ORDER BY entity.project_id IS NULL LIMIT 1),
triple.predicate, triple.object_id,
(SELECT entity.name FROM entity WHERE entity.graph_id = triple.graph_id AND entity.id = triple.object_id
    AND (entity.project_id IS NULL OR entity.project_id = :project) ORDER BY entity.project_id IS NULL LIMIT 1),
triple.confidence, triple.source, NULL, NULL, '{}', '', triple.created_at, triple.created_at, triple.expires_at

-- named_alive --
-- An entity is seen when a triple of its own is.
(EXISTS (
    SELECT 1 FROM triple INDEXED BY triple_relation
    WHERE triple.graph_id = entity.graph_id AND triple.subject_id = entity.id
        AND coalesce(triple.project_id, '') = coalesce(entity.project_id, '') AND {live}
) OR EXISTS (
    SELECT 1 FROM triple INDEXED BY triple_by_object
    WHERE triple.graph_id = entity.graph_id AND triple.object_id = entity.id
        AND coalesce(triple.project_id, '') = coalesce(entity.project_id, '') AND {live}
))

-- entity_seen --
-- What an asker sees of a graph's entities.
entity.graph_id = :graph AND (entity.project_id IS NULL OR entity.project_id = :project) AND {named_alive}

-- named --
-- The entities that keys name; that of the project before that of all.
SELECT entity_name.key, entity.id, entity.name
FROM json_each(:keys) AS asked
CROSS JOIN entity_name ON entity_name.key = asked.value AND entity_name.graph_id = :graph
CROSS JOIN entity ON entity.seq = entity_name.entity_seq
WHERE {entity_seen}
ORDER BY entity.project_id IS NULL, entity.seq

-- entity --
-- An entity by its id.
SELECT entity.id, entity.name FROM entity
WHERE entity.id = :id AND {entity_seen}
ORDER BY entity.project_id IS NULL
LIMIT 1

-- with_word --
-- Entities with a word in their names.
SELECT entity_seq FROM entity_word WHERE word = :word AND graph_id = :graph LIMIT :limit

-- chosen --
-- Entities by their places.
SELECT entity.seq, entity.id, entity.name FROM json_each(:seqs) AS asked
CROSS JOIN entity ON entity.seq = asked.value
WHERE {entity_seen}

-- some_entities --
-- Entities of a graph.
SELECT entity.seq, entity.id, entity.name FROM entity WHERE {entity_seen} LIMIT :limit

-- refresh_entity --
-- Keep an entity, unless it is there.
INSERT INTO entity (project_id, graph_id, id, name, created_at) VALUES (:project_id, :graph, :id, :name, :now)
ON CONFLICT DO NOTHING
RETURNING seq

-- add_name --
-- What an entity is called.
INSERT INTO entity_name (key, graph_id, entity_seq, alias) VALUES (:key, :graph, :seq, :alias) ON CONFLICT DO NOTHING

-- add_word --
-- A word of its names.
INSERT INTO entity_word (word, graph_id, entity_seq) VALUES (:word, :graph, :seq) ON CONFLICT DO NOTHING

-- places_of --
-- Where an entity is kept, as far as the asker sees it.
SELECT entity.seq FROM entity WHERE entity.id = :id AND {entity_seen}

-- aliases --
-- Its other names.
SELECT DISTINCT entity_name.alias
FROM entity JOIN entity_name ON entity_name.entity_seq = entity.seq
WHERE entity.graph_id = :graph AND entity.id = :id AND (entity.project_id IS NULL OR entity.project_id = :project)
    AND entity_name.alias IS NOT NULL
ORDER BY entity_name.alias

-- known --
-- The very same relation of the same project.
SELECT {columns} FROM triple
WHERE triple.graph_id = :graph AND triple.subject_id = :subject AND triple.predicate = :predicate
    AND triple.object_id = :object AND coalesce(triple.project_id, '') = coalesce(:project_id, '')

-- add --
-- Keep a triple.
INSERT INTO triple (
    id, project_id, graph_id, subject_id, predicate, object_id, confidence, source, ttl, context, metadata, client,
    created_at, updated_at, expires_at
)
VALUES (
    :id, :project_id, :graph, :subject, :predicate, :object, :confidence, :source, :ttl, :context, :metadata, :client,
    :created_at, :updated_at, :expires_at
)

-- replace --
-- Write what is another; where it was said stays, unless it is said anew.
UPDATE triple
SET confidence = :confidence, source = :source, ttl = :ttl, context = coalesce(:context, context), metadata = :metadata,
    updated_at = :updated_at, expires_at = :expires_at
WHERE seq = :seq

-- erase --
-- Erase a triple.
DELETE FROM triple WHERE seq = :seq

-- erase_unnamed --
-- Erase entities that no triple of theirs names any more.
DELETE FROM entity WHERE seq IN (
    SELECT entity.seq FROM json_each(:ids) AS asked
    CROSS JOIN entity ON entity.graph_id = :graph AND entity.id = asked.value
    WHERE coalesce(entity.project_id, '') = coalesce(:project_id, '')
        AND NOT EXISTS (
            SELECT 1 FROM triple INDEXED BY triple_relation
    WHERE triple.graph_id = entity.graph_id AND triple.subject_id = entity.id
                AND coalesce(triple.project_id, '') = coalesce(entity.project_id, '')
        )
        AND NOT EXISTS (
            SELECT 1 FROM triple INDEXED BY triple_by_object
    WHERE triple.graph_id = entity.graph_id AND triple.object_id = entity.id
                AND coalesce(triple.project_id, '') = coalesce(entity.project_id, '')
        )
)
RETURNING id

-- changed --
-- Count a change of a graph.
INSERT INTO knowledge_graph (graph_id, project_id, generation) VALUES (:graph, :project_id, 1)
ON CONFLICT (graph_id, coalesce(project_id, '')) DO UPDATE SET generation = generation + 1

-- of_client --
-- How many triples come from a client.
SELECT count(*) FROM triple WHERE client = :client

-- by_ids --
-- Triples by their ids.
SELECT {columns} FROM json_each(:ids) AS asked CROSS JOIN triple ON triple.id = asked.value WHERE {seen}

-- inferred_by_ids --
-- The same of what was inferred.
SELECT {inferred_columns} FROM json_each(:ids) AS asked CROSS JOIN inferred AS triple ON triple.id = asked.value
WHERE {seen}

-- rests --
-- The ids of the triples that others follow from.
SELECT inferred_rest.inferred_seq, triple.id
FROM json_each(:seqs) AS asked
CROSS JOIN inferred_rest ON inferred_rest.inferred_seq = asked.value
CROSS JOIN triple ON triple.seq = inferred_rest.triple_seq
ORDER BY inferred_rest.inferred_seq, inferred_rest.place

-- outgoing --
-- What is said of an entity.
SELECT {columns} FROM triple INDEXED BY triple_relation WHERE {seen} AND triple.subject_id = :id AND triple.confidence >= :least
ORDER BY triple.confidence DESC, triple.seq LIMIT :limit

-- incoming --
-- What is said of others with it.
SELECT {columns} FROM triple INDEXED BY triple_by_object WHERE {seen} AND triple.object_id = :id AND triple.confidence >= :least
ORDER BY triple.confidence DESC, triple.seq LIMIT :limit

-- inferred_outgoing --
-- The same of what was inferred.
SELECT {inferred_columns} FROM inferred AS triple
WHERE {seen} AND triple.subject_id = :id AND triple.confidence >= :least
ORDER BY triple.confidence DESC, triple.seq LIMIT :limit

-- inferred_incoming --
-- The same of what was inferred.
SELECT {inferred_columns} FROM inferred AS triple
WHERE {seen} AND triple.object_id = :id AND triple.confidence >= :least
ORDER BY triple.confidence DESC, triple.seq LIMIT :limit

-- count_outgoing --
-- How many there are, inferred ones too.
SELECT (
    SELECT count(*) FROM triple INDEXED BY triple_relation
    WHERE {seen} AND triple.subject_id = :id AND triple.confidence >= :least
)
    + (SELECT count(*) FROM inferred AS triple WHERE {seen} AND triple.subject_id = :id AND triple.confidence >= :least)

-- count_incoming --
-- How many there are, inferred ones too.
SELECT (
    SELECT count(*) FROM triple INDEXED BY triple_by_object
    WHERE {seen} AND triple.object_id = :id AND triple.confidence >= :least
)
    + (SELECT count(*) FROM inferred AS triple WHERE {seen} AND triple.object_id = :id AND triple.confidence >= :least)

-- has_text --
-- What has a text in a name of its entities, or in its predicate.
{seen} AND triple.confidence >= :least AND (
    (:predicate <> '' AND instr(triple.predicate, :predicate) > 0)
    OR triple.subject_id IN (SELECT id FROM called) OR triple.object_id IN (SELECT id FROM called)
)

-- called --
-- Entities with a text in one of their names.
called (id) AS MATERIALIZED (
    SELECT entity.id FROM entity_name JOIN entity ON entity.seq = entity_name.entity_seq
    WHERE entity_name.graph_id = :graph AND instr(entity_name.key, :key) > 0
        AND (entity.project_id IS NULL OR entity.project_id = :project)
)

-- find --
-- Triples with a text, the surest first.
WITH {called}
SELECT {columns} FROM triple WHERE {has_text} ORDER BY triple.confidence DESC, triple.seq LIMIT :limit

-- count_found --
-- How many there are.
WITH {called}
SELECT count(*) FROM triple WHERE {has_text}

-- of_subject --
-- Whether an entity fits a pattern.
SELECT DISTINCT triple.subject_id FROM triple INDEXED BY triple_relation
WHERE {seen} AND triple.subject_id = :subject AND (:predicate IS NULL OR triple.predicate = :predicate)
    AND (:object IS NULL OR triple.object_id = :object)
LIMIT :limit

-- of_object --
-- Subjects that are related to one object.
SELECT DISTINCT triple.subject_id FROM triple INDEXED BY triple_by_object
WHERE {seen} AND triple.object_id = :object AND (:predicate IS NULL OR triple.predicate = :predicate)
LIMIT :limit

-- of_predicate --
-- Subjects with a relation to anything.
SELECT DISTINCT triple.subject_id FROM triple WHERE {seen} AND triple.predicate = :predicate LIMIT :limit

-- of_anything --
-- All subjects.
SELECT DISTINCT triple.subject_id FROM triple WHERE {seen} LIMIT :limit

-- among --
-- Those of some subjects that fit a pattern.
SELECT asked.value FROM json_each(:among) AS asked
WHERE EXISTS (
    SELECT 1 FROM triple INDEXED BY triple_relation
    WHERE {seen} AND triple.subject_id = asked.value AND (:subject IS NULL OR triple.subject_id = :subject)
        AND (:predicate IS NULL OR triple.predicate = :predicate) AND (:object IS NULL OR triple.object_id = :object)
)

-- said_of --
-- All that is said of some subjects.
SELECT {columns} FROM json_each(:ids) AS asked CROSS JOIN triple INDEXED BY triple_relation ON triple.subject_id = asked.value
WHERE {seen}
ORDER BY asked.key, triple.confidence DESC, triple.seq
LIMIT :limit

-- count_said --
-- How much that is.
SELECT count(*) FROM json_each(:ids) AS asked CROSS JOIN triple INDEXED BY triple_relation
    ON triple.subject_id = asked.value WHERE {seen}

-- edge --
-- What a walk needs of a triple.
triple.id, triple.subject_id, triple.predicate, triple.object_id, triple.confidence

-- around_forward --
-- Edges that leave entities.
SELECT {edge} FROM json_each(:ids) AS start CROSS JOIN triple INDEXED BY triple_relation ON triple.subject_id = start.value
WHERE {seen} AND triple.confidence >= :least LIMIT :limit

-- around_backward --
-- Edges that come to entities.
SELECT {edge} FROM json_each(:ids) AS start CROSS JOIN triple INDEXED BY triple_by_object ON triple.object_id = start.value
WHERE {seen} AND triple.confidence >= :least LIMIT :limit

-- around_forward_by --
-- The same with some predicates.
SELECT {edge} FROM json_each(:ids) AS start CROSS JOIN json_each(:predicates) AS kind
CROSS JOIN triple INDEXED BY triple_relation ON triple.subject_id = start.value AND triple.predicate = kind.value
WHERE {seen} AND triple.confidence >= :least LIMIT :limit

-- around_backward_by --
-- The same with some predicates.
SELECT {edge} FROM json_each(:ids) AS start CROSS JOIN json_each(:predicates) AS kind
CROSS JOIN triple INDEXED BY triple_by_object ON triple.object_id = start.value AND triple.predicate = kind.value
WHERE {seen} AND triple.confidence >= :least LIMIT :limit

-- every --
-- Edges with some predicates, the surest first.
SELECT {edge} FROM json_each(:predicates) AS kind CROSS JOIN triple INDEXED BY triple_by_predicate
    ON triple.predicate = kind.value
WHERE {seen} AND triple.confidence >= :least
ORDER BY triple.confidence DESC, triple.seq
LIMIT :limit

-- own --
-- Those of some triples that are of a project.
SELECT triple.id FROM json_each(:ids) AS asked CROSS JOIN triple ON triple.id = asked.value
WHERE triple.project_id = :project

-- of_entity --
-- All triples of an entity that the asker sees, also those that have expired.
SELECT triple.seq, triple.id, triple.project_id, triple.subject_id, triple.object_id FROM triple
INDEXED BY triple_relation WHERE triple.graph_id = :graph AND {visible} AND triple.subject_id = :id
UNION
SELECT triple.seq, triple.id, triple.project_id, triple.subject_id, triple.object_id FROM triple
INDEXED BY triple_by_object WHERE triple.graph_id = :graph AND {visible} AND triple.object_id = :id

-- of_id --
-- A triple that the asker sees, also one that has expired.
SELECT triple.seq, triple.id, triple.project_id, triple.subject_id, triple.object_id FROM triple
WHERE triple.graph_id = :graph AND {visible} AND triple.id = :id

-- expired --
-- Triples that have expired.
SELECT triple.seq, triple.graph_id, triple.project_id, triple.subject_id, triple.object_id FROM triple
WHERE triple.expires_at <= :now LIMIT :limit

-- generation --
-- How often graphs of the project, and of all, were changed.
SELECT coalesce((SELECT generation FROM knowledge_graph WHERE graph_id = :graph AND project_id IS :project), 0),
    coalesce((SELECT generation FROM knowledge_graph WHERE graph_id = :graph AND project_id IS NULL), 0)

-- state --
-- What was inferred last.
SELECT inferred_own, inferred_everybody, inferred_at, problem FROM knowledge_graph
WHERE graph_id = :graph AND project_id IS :project

-- counts --
-- How much there is.
SELECT (SELECT count(DISTINCT entity.id) FROM entity WHERE {entity_seen}),
    (SELECT count(*) FROM triple WHERE {seen}),
    (SELECT count(*) FROM inferred AS triple WHERE {seen})

-- behind --
-- Graphs that changed after what follows from them was inferred, or whose inferred triples changed.
SELECT own.graph_id, own.project_id FROM knowledge_graph AS own
LEFT JOIN knowledge_graph AS everybody ON everybody.graph_id = own.graph_id AND everybody.project_id IS NULL
WHERE own.inferred_own IS NOT own.generation OR own.inferred_everybody IS NOT coalesce(everybody.generation, 0)

-- withdraw --
-- Erase what was inferred for a graph of one project, or of all.
DELETE FROM inferred WHERE graph_id = :graph AND project_id IS :project

-- infer --
-- Keep what follows from others; as long as they last.
INSERT INTO inferred (
    id, project_id, graph_id, subject_id, predicate, object_id, confidence, source, created_at, expires_at
)
VALUES (
    :id, :project, :graph, :subject, :predicate, :object, :confidence, :source, :now,
    (SELECT min(triple.expires_at) FROM json_each(:rests_on) AS asked CROSS JOIN triple ON triple.id = asked.value)
)

-- rest_on --
-- What it follows from.
INSERT INTO inferred_rest (inferred_seq, place, triple_seq)
SELECT :seq, asked.key, triple.seq FROM json_each(:rests_on) AS asked CROSS JOIN triple ON triple.id = asked.value

-- inferred_of --
-- Note of which state it was made.
UPDATE knowledge_graph
SET inferred_own = :own, inferred_everybody = :everybody, inferred_at = :now, problem = :problem
WHERE graph_id = :graph AND project_id IS :project

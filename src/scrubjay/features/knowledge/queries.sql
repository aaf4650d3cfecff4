-- visible --
-- Triples of the scope's project and of the global graph.
(triple.project_id IS NULL OR triple.project_id = :project)

-- live --
-- Triples that have not expired.
(triple.expires_at IS NULL OR triple.expires_at > :now)

-- in_scope --
-- Triples of a graph that are visible in the scope.
triple.graph_id = :graph AND {visible} AND {live}

-- readable --
-- Triples of the scope that are intact. Counts do not need it.
{in_scope} AND {../../db/sqlite/intact.triple}

-- columns --
-- The columns of a stored triple, in the order of `_triple_from` in sqlite.py.
triple.seq, triple.id, triple.project_id, triple.graph_id, triple.subject_id,
(SELECT entity.name FROM entity WHERE entity.graph_id = triple.graph_id AND entity.id = triple.subject_id AND {../../db/sqlite/intact.entity}
    AND coalesce(entity.project_id, '') = coalesce(triple.project_id, '')),
triple.predicate, triple.object_id,
(SELECT entity.name FROM entity WHERE entity.graph_id = triple.graph_id AND entity.id = triple.object_id AND {../../db/sqlite/intact.entity}
    AND coalesce(entity.project_id, '') = coalesce(triple.project_id, '')),
triple.confidence, triple.source, triple.ttl, triple.context, triple.metadata, triple.client, triple.created_at,
triple.updated_at, triple.expires_at

-- inferred_columns --
-- The columns of an inferred triple, in the same order. Names of the project's entities precede global ones.
triple.seq, triple.id, triple.project_id, triple.graph_id, triple.subject_id,
(SELECT entity.name FROM entity WHERE entity.graph_id = triple.graph_id AND entity.id = triple.subject_id AND {../../db/sqlite/intact.entity}
    AND (entity.project_id IS NULL OR entity.project_id = :project) ORDER BY entity.project_id IS NULL LIMIT 1),
triple.predicate, triple.object_id,
(SELECT entity.name FROM entity WHERE entity.graph_id = triple.graph_id AND entity.id = triple.object_id AND {../../db/sqlite/intact.entity}
    AND (entity.project_id IS NULL OR entity.project_id = :project) ORDER BY entity.project_id IS NULL LIMIT 1),
triple.confidence, triple.source, NULL, NULL, '{}', '', triple.created_at, triple.created_at, triple.expires_at

-- has_live_triple --
-- Entities with a triple of the same project that has not expired.
(EXISTS (
    SELECT 1 FROM triple INDEXED BY triple_relation
    WHERE triple.graph_id = entity.graph_id AND triple.subject_id = entity.id
        AND coalesce(triple.project_id, '') = coalesce(entity.project_id, '') AND {live}
) OR EXISTS (
    SELECT 1 FROM triple INDEXED BY triple_by_object
    WHERE triple.graph_id = entity.graph_id AND triple.object_id = entity.id
        AND coalesce(triple.project_id, '') = coalesce(entity.project_id, '') AND {live}
))

-- entity_in_scope --
-- Entities of a graph that are visible in the scope.
entity.graph_id = :graph AND (entity.project_id IS NULL OR entity.project_id = :project) AND {has_live_triple}

-- entities_by_key --
-- Return the entities of name keys, those of the project before global ones.
SELECT entity_name.key, entity.id, entity.name
FROM json_each(:keys) AS given
CROSS JOIN entity_name ON entity_name.key = given.value AND entity_name.graph_id = :graph
CROSS JOIN entity ON entity.seq = entity_name.entity_seq
WHERE {entity_in_scope} AND {../../db/sqlite/intact.entity}
ORDER BY entity.project_id IS NULL, entity.seq

-- entity --
-- Return an entity by its id; the project's before the global one.
SELECT entity.id, entity.name FROM entity
WHERE entity.id = :id AND {entity_in_scope} AND {../../db/sqlite/intact.entity}
ORDER BY entity.project_id IS NULL
LIMIT 1

-- entity_seqs_with_word --
-- Return the seqs of entities with a word in their names.
SELECT entity_seq FROM entity_word WHERE word = :word AND graph_id = :graph LIMIT :limit

-- entities_by_seq --
-- Return entities by their seqs.
SELECT entity.seq, entity.id, entity.name FROM json_each(:seqs) AS given
CROSS JOIN entity ON entity.seq = given.value
WHERE {entity_in_scope} AND {../../db/sqlite/intact.entity}

-- some_entities --
-- Return entities of a graph.
SELECT entity.seq, entity.id, entity.name FROM entity WHERE {entity_in_scope} AND {../../db/sqlite/intact.entity} LIMIT :limit

-- add_entity --
-- Insert an entity unless it exists; return the seq of a new one.
INSERT INTO entity (project_id, graph_id, id, name, created_at) VALUES (:project_id, :graph, :id, :name, :now)
ON CONFLICT DO NOTHING
RETURNING seq

-- add_name --
-- Add a name key to an entity.
INSERT INTO entity_name (key, graph_id, entity_seq, alias) VALUES (:key, :graph, :seq, :alias) ON CONFLICT DO NOTHING

-- add_word --
-- Add an index word to an entity.
INSERT INTO entity_word (word, graph_id, entity_seq) VALUES (:word, :graph, :seq) ON CONFLICT DO NOTHING

-- entity_seqs --
-- Return the seqs of an entity that are visible in the scope: the project's and the global one.
SELECT entity.seq FROM entity WHERE entity.id = :id AND {entity_in_scope} AND {../../db/sqlite/intact.entity}

-- aliases --
-- Return the aliases of an entity.
SELECT DISTINCT entity_name.alias
FROM entity JOIN entity_name ON entity_name.entity_seq = entity.seq
WHERE entity.graph_id = :graph AND entity.id = :id AND (entity.project_id IS NULL OR entity.project_id = :project)
    AND entity_name.alias IS NOT NULL AND {../../db/sqlite/intact.entity}
ORDER BY entity_name.alias

-- same_relation --
-- Return the stored triple of a relation in the same project.
SELECT {columns} FROM triple
WHERE triple.graph_id = :graph AND triple.subject_id = :subject AND triple.predicate = :predicate
    AND triple.object_id = :object AND coalesce(triple.project_id, '') = coalesce(:project_id, '') AND {../../db/sqlite/intact.triple}

-- add_triple --
-- Insert a triple.
INSERT INTO triple (
    id, project_id, graph_id, subject_id, predicate, object_id, confidence, source, ttl, context, metadata, client,
    created_at, updated_at, expires_at
)
VALUES (
    :id, :project_id, :graph, :subject, :predicate, :object, :confidence, :source, :ttl, :context, :metadata, :client,
    :created_at, :updated_at, :expires_at
)

-- update_triple --
-- Update a triple; its context stays unless a new one is given.
UPDATE triple
SET confidence = :confidence, source = :source, ttl = :ttl, context = coalesce(:context, context), metadata = :metadata,
    updated_at = :updated_at, expires_at = :expires_at
WHERE seq = :seq

-- delete_triple --
-- Delete a triple.
DELETE FROM triple WHERE seq = :seq

-- delete_unused_entities --
-- Delete entities without a triple in the same project and graph.
DELETE FROM entity WHERE seq IN (
    SELECT entity.seq FROM json_each(:ids) AS given
    CROSS JOIN entity ON entity.graph_id = :graph AND entity.id = given.value
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

-- increment_generation --
-- Increment the generation of a graph.
INSERT INTO knowledge_graph (graph_id, project_id, generation) VALUES (:graph, :project_id, 1)
ON CONFLICT (graph_id, coalesce(project_id, '')) DO UPDATE SET generation = generation + 1

-- count_of_client --
-- Count the triples of a client.
SELECT count(*) FROM triple WHERE client = :client

-- triples_by_ids --
-- Return stored triples by their ids.
SELECT {columns} FROM json_each(:ids) AS given CROSS JOIN triple ON triple.id = given.value WHERE {readable}

-- inferred_by_ids --
-- Return inferred triples by their ids.
SELECT {inferred_columns} FROM json_each(:ids) AS given CROSS JOIN inferred AS triple ON triple.id = given.value
WHERE {in_scope}

-- premises --
-- Return the ids of the triples that inferred triples follow from, in order.
SELECT inferred_rest.inferred_seq, triple.id
FROM json_each(:seqs) AS given
CROSS JOIN inferred_rest ON inferred_rest.inferred_seq = given.value
CROSS JOIN triple ON triple.seq = inferred_rest.triple_seq
ORDER BY inferred_rest.inferred_seq, inferred_rest.place

-- outgoing --
-- Return triples whose subject is an entity, highest confidence first.
SELECT {columns} FROM triple INDEXED BY triple_relation WHERE {readable} AND triple.subject_id = :id AND triple.confidence >= :min_confidence
ORDER BY triple.confidence DESC, triple.seq LIMIT :limit

-- incoming --
-- Return triples whose object is an entity, highest confidence first.
SELECT {columns} FROM triple INDEXED BY triple_by_object WHERE {readable} AND triple.object_id = :id AND triple.confidence >= :min_confidence
ORDER BY triple.confidence DESC, triple.seq LIMIT :limit

-- inferred_outgoing --
-- Return inferred triples whose subject is an entity.
SELECT {inferred_columns} FROM inferred AS triple
WHERE {in_scope} AND triple.subject_id = :id AND triple.confidence >= :min_confidence
ORDER BY triple.confidence DESC, triple.seq LIMIT :limit

-- inferred_incoming --
-- Return inferred triples whose object is an entity.
SELECT {inferred_columns} FROM inferred AS triple
WHERE {in_scope} AND triple.object_id = :id AND triple.confidence >= :min_confidence
ORDER BY triple.confidence DESC, triple.seq LIMIT :limit

-- count_outgoing --
-- Count the triples whose subject is an entity, inferred ones included.
SELECT (
    SELECT count(*) FROM triple INDEXED BY triple_relation
    WHERE {in_scope} AND triple.subject_id = :id AND triple.confidence >= :min_confidence
)
    + (SELECT count(*) FROM inferred AS triple WHERE {in_scope} AND triple.subject_id = :id AND triple.confidence >= :min_confidence)

-- count_incoming --
-- Count the triples whose object is an entity, inferred ones included.
SELECT (
    SELECT count(*) FROM triple INDEXED BY triple_by_object
    WHERE {in_scope} AND triple.object_id = :id AND triple.confidence >= :min_confidence
)
    + (SELECT count(*) FROM inferred AS triple WHERE {in_scope} AND triple.object_id = :id AND triple.confidence >= :min_confidence)

-- has_text --
-- Triples with a text in a name of their entities or in their predicate.
{in_scope} AND triple.confidence >= :min_confidence AND (
    (:predicate <> '' AND instr(triple.predicate, :predicate) > 0)
    OR triple.subject_id IN (SELECT id FROM named) OR triple.object_id IN (SELECT id FROM named)
)

-- named --
-- Entities with a text in one of their names.
named (id) AS MATERIALIZED (
    SELECT entity.id FROM entity_name JOIN entity ON entity.seq = entity_name.entity_seq
    WHERE entity_name.graph_id = :graph AND instr(entity_name.key, :key) > 0
        AND (entity.project_id IS NULL OR entity.project_id = :project)
)

-- search --
-- Return triples with a text, highest confidence first.
WITH {named}
SELECT {columns} FROM triple WHERE {has_text} AND {../../db/sqlite/intact.triple} ORDER BY triple.confidence DESC, triple.seq LIMIT :limit

-- count_search --
-- Count triples with a text.
WITH {named}
SELECT count(*) FROM triple WHERE {has_text}

-- match_by_subject --
-- Return the subject of a pattern if it matches.
SELECT DISTINCT triple.subject_id FROM triple INDEXED BY triple_relation
WHERE {readable} AND triple.subject_id = :subject AND (:predicate IS NULL OR triple.predicate = :predicate)
    AND (:object IS NULL OR triple.object_id = :object)
LIMIT :limit

-- match_by_object --
-- Return subjects related to an object.
SELECT DISTINCT triple.subject_id FROM triple INDEXED BY triple_by_object
WHERE {readable} AND triple.object_id = :object AND (:predicate IS NULL OR triple.predicate = :predicate)
LIMIT :limit

-- match_by_predicate --
-- Return subjects with a predicate.
SELECT DISTINCT triple.subject_id FROM triple WHERE {readable} AND triple.predicate = :predicate LIMIT :limit

-- match_any --
-- Return all subjects.
SELECT DISTINCT triple.subject_id FROM triple WHERE {readable} LIMIT :limit

-- filter_subjects --
-- Return those of the given subjects that match a pattern.
SELECT given.value FROM json_each(:among) AS given
WHERE EXISTS (
    SELECT 1 FROM triple INDEXED BY triple_relation
    WHERE {readable} AND triple.subject_id = given.value AND (:subject IS NULL OR triple.subject_id = :subject)
        AND (:predicate IS NULL OR triple.predicate = :predicate) AND (:object IS NULL OR triple.object_id = :object)
)

-- triples_of_subjects --
-- Return the triples of subjects, in the order of the subjects, then highest confidence first.
SELECT {columns} FROM json_each(:ids) AS given CROSS JOIN triple INDEXED BY triple_relation ON triple.subject_id = given.value
WHERE {readable}
ORDER BY given.key, triple.confidence DESC, triple.seq
LIMIT :limit

-- count_triples_of_subjects --
-- Count the triples of subjects.
SELECT count(*) FROM json_each(:ids) AS given CROSS JOIN triple INDEXED BY triple_relation
    ON triple.subject_id = given.value WHERE {in_scope}

-- edge --
-- The columns of a `GraphEdge`.
triple.id, triple.subject_id, triple.predicate, triple.object_id, triple.confidence

-- edges_from --
-- Return edges that leave entities.
SELECT {edge} FROM json_each(:ids) AS start CROSS JOIN triple INDEXED BY triple_relation ON triple.subject_id = start.value
WHERE {readable} AND triple.confidence >= :min_confidence LIMIT :limit

-- edges_to --
-- Return edges that reach entities.
SELECT {edge} FROM json_each(:ids) AS start CROSS JOIN triple INDEXED BY triple_by_object ON triple.object_id = start.value
WHERE {readable} AND triple.confidence >= :min_confidence LIMIT :limit

-- edges_from_with_predicates --
-- Return edges with predicates that leave entities.
SELECT {edge} FROM json_each(:ids) AS start CROSS JOIN json_each(:predicates) AS kind
CROSS JOIN triple INDEXED BY triple_relation ON triple.subject_id = start.value AND triple.predicate = kind.value
WHERE {readable} AND triple.confidence >= :min_confidence LIMIT :limit

-- edges_to_with_predicates --
-- Return edges with predicates that reach entities.
SELECT {edge} FROM json_each(:ids) AS start CROSS JOIN json_each(:predicates) AS kind
CROSS JOIN triple INDEXED BY triple_by_object ON triple.object_id = start.value AND triple.predicate = kind.value
WHERE {readable} AND triple.confidence >= :min_confidence LIMIT :limit

-- edges_with_predicates --
-- Return edges with predicates, highest confidence first.
SELECT {edge} FROM json_each(:predicates) AS kind CROSS JOIN triple INDEXED BY triple_by_predicate
    ON triple.predicate = kind.value
WHERE {readable} AND triple.confidence >= :min_confidence
ORDER BY triple.confidence DESC, triple.seq
LIMIT :limit

-- ids_in_project --
-- Return those of the given triple ids that belong to a project.
SELECT triple.id FROM json_each(:ids) AS given CROSS JOIN triple ON triple.id = given.value
WHERE triple.project_id = :project

-- triples_of_entity --
-- Return all triples of an entity in the scope, expired ones included.
SELECT triple.seq, triple.id, triple.project_id, triple.subject_id, triple.object_id FROM triple
INDEXED BY triple_relation WHERE triple.graph_id = :graph AND {visible} AND triple.subject_id = :id
UNION
SELECT triple.seq, triple.id, triple.project_id, triple.subject_id, triple.object_id FROM triple
INDEXED BY triple_by_object WHERE triple.graph_id = :graph AND {visible} AND triple.object_id = :id

-- triple_for_deletion --
-- Return a triple in the scope, even if expired.
SELECT triple.seq, triple.id, triple.project_id, triple.subject_id, triple.object_id FROM triple
WHERE triple.graph_id = :graph AND {visible} AND triple.id = :id

-- expired_triples --
-- Return expired triples.
SELECT triple.seq, triple.graph_id, triple.project_id, triple.subject_id, triple.object_id FROM triple
WHERE triple.expires_at <= :now LIMIT :limit

-- generation --
-- Return the generations of the project's part and of the global part of a graph.
SELECT coalesce((SELECT generation FROM knowledge_graph WHERE graph_id = :graph AND project_id IS :project), 0),
    coalesce((SELECT generation FROM knowledge_graph WHERE graph_id = :graph AND project_id IS NULL), 0)

-- state --
-- Return the state of the last inference.
SELECT inferred_own, inferred_everybody, inferred_at, problem FROM knowledge_graph
WHERE graph_id = :graph AND project_id IS :project

-- counts --
-- Count entities, stored triples and inferred triples of a graph.
SELECT (SELECT count(DISTINCT entity.id) FROM entity WHERE {entity_in_scope}),
    (SELECT count(*) FROM triple WHERE {in_scope}),
    (SELECT count(*) FROM inferred AS triple WHERE {in_scope})

-- outdated_graphs --
-- Return graphs that changed, or whose inferred triples changed, since the last inference.
SELECT own.graph_id, own.project_id FROM knowledge_graph AS own
LEFT JOIN knowledge_graph AS everybody ON everybody.graph_id = own.graph_id AND everybody.project_id IS NULL
WHERE own.inferred_own IS NOT own.generation OR own.inferred_everybody IS NOT coalesce(everybody.generation, 0)

-- delete_inferred --
-- Delete the inferred triples of a graph.
DELETE FROM inferred WHERE graph_id = :graph AND project_id IS :project

-- add_inferred --
-- Insert an inferred triple; it expires with the first of its premises.
INSERT INTO inferred (
    id, project_id, graph_id, subject_id, predicate, object_id, confidence, source, created_at, expires_at
)
VALUES (
    :id, :project, :graph, :subject, :predicate, :object, :confidence, :source, :now,
    (SELECT min(triple.expires_at) FROM json_each(:rests_on) AS given CROSS JOIN triple ON triple.id = given.value)
)

-- add_premises --
-- Store the premises of an inferred triple.
INSERT INTO inferred_rest (inferred_seq, place, triple_seq)
SELECT :seq, given.key, triple.seq FROM json_each(:rests_on) AS given CROSS JOIN triple ON triple.id = given.value

-- set_inference_state --
-- Record the generation from which a graph's triples were inferred.
UPDATE knowledge_graph
SET inferred_own = :own, inferred_everybody = :shared, inferred_at = :now, problem = :problem
WHERE graph_id = :graph AND project_id IS :project

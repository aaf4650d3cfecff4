-- The knowledge graph. Rows without a project are global; graphs are independent of each other.

-- An entity exists as long as a triple of the same project and graph names it.
CREATE TABLE entity (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id TEXT REFERENCES project (id) ON DELETE CASCADE,
    graph_id TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX entity_by_id ON entity (graph_id, id, coalesce(project_id, ''));
CREATE INDEX entity_by_project ON entity (project_id);

-- Names of entities in normalized form; `alias` is the name as written, null for the first name.
CREATE TABLE entity_name (
    key TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    entity_seq INTEGER NOT NULL REFERENCES entity (seq) ON DELETE CASCADE,
    alias TEXT,
    PRIMARY KEY (key, graph_id, entity_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX entity_name_by_entity ON entity_name (entity_seq);

CREATE TABLE entity_word (
    word TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    entity_seq INTEGER NOT NULL REFERENCES entity (seq) ON DELETE CASCADE,
    PRIMARY KEY (word, graph_id, entity_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX entity_word_by_entity ON entity_word (entity_seq);

CREATE TABLE triple (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT REFERENCES project (id) ON DELETE CASCADE,
    graph_id TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    predicate TEXT NOT NULL,
    object_id TEXT NOT NULL,
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    source TEXT NOT NULL,
    ttl INTEGER CHECK (ttl > 0),
    context TEXT,
    metadata TEXT NOT NULL,
    client TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    CHECK ((expires_at IS NULL) = (ttl IS NULL))
) STRICT;
CREATE UNIQUE INDEX triple_relation ON triple (graph_id, subject_id, predicate, object_id, coalesce(project_id, ''));
CREATE INDEX triple_by_object ON triple (graph_id, object_id, predicate);
CREATE INDEX triple_by_predicate ON triple (graph_id, predicate, confidence DESC);
CREATE INDEX triple_by_project ON triple (project_id);
CREATE INDEX triple_by_client ON triple (client);
CREATE INDEX triple_by_expiry ON triple (expires_at) WHERE expires_at IS NOT NULL;

-- Inferred triples, each with its premises; deleted as soon as a premise is deleted or changed.
CREATE TABLE inferred (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT REFERENCES project (id) ON DELETE CASCADE,
    graph_id TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    predicate TEXT NOT NULL,
    object_id TEXT NOT NULL,
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    source TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER
) STRICT;
CREATE UNIQUE INDEX inferred_relation
ON inferred (graph_id, subject_id, predicate, object_id, coalesce(project_id, ''));
CREATE INDEX inferred_by_object ON inferred (graph_id, object_id, predicate);
CREATE INDEX inferred_by_project ON inferred (project_id);

CREATE TABLE inferred_rest (
    inferred_seq INTEGER NOT NULL REFERENCES inferred (seq) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    triple_seq INTEGER NOT NULL REFERENCES triple (seq) ON DELETE CASCADE,
    PRIMARY KEY (inferred_seq, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX inferred_rest_by_triple ON inferred_rest (triple_seq);

CREATE TRIGGER inferred_withdrawn AFTER DELETE ON inferred_rest
BEGIN
    DELETE FROM inferred WHERE seq = OLD.inferred_seq;
END;
CREATE TRIGGER inferred_outdated AFTER UPDATE OF confidence, expires_at ON triple
BEGIN
    DELETE FROM inferred WHERE seq IN (SELECT inferred_seq FROM inferred_rest WHERE triple_seq = NEW.seq);
END;

-- The revision of a graph, and the revisions (its own, and that of the global graph) that its inferred triples are from.
CREATE TABLE knowledge_graph (
    graph_id TEXT NOT NULL,
    project_id TEXT REFERENCES project (id) ON DELETE CASCADE,
    generation INTEGER NOT NULL,
    inferred_own INTEGER,
    inferred_everybody INTEGER,
    inferred_at INTEGER,
    problem TEXT
) STRICT;
CREATE UNIQUE INDEX knowledge_graph_by_id ON knowledge_graph (graph_id, coalesce(project_id, ''));
CREATE INDEX knowledge_graph_by_project ON knowledge_graph (project_id);

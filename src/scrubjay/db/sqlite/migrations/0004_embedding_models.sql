-- The embedding models that calls chose, and how many vectors of each there are.

-- At most one answers, and one is to take its place. A null choice stands for the settings of each process.
CREATE TABLE embedding_model (
    place TEXT PRIMARY KEY CHECK (place IN ('answering', 'coming')),
    choice TEXT,
    model TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    change_id TEXT NOT NULL,
    job_id TEXT
) STRICT, WITHOUT ROWID;

-- Counts the vectors of a model without reading them.
CREATE INDEX memory_vector_by_model ON memory_vector (model, length(vector));

-- The embedding models selected by calls, and the number of vectors of each model.

-- At most one model is in use, and at most one is to replace it. A null choice means the settings of each process.
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

-- schema --
-- Tables are created if missing. When code.db is recreated only code_texts is dropped: vectors may have cost money.
CREATE TABLE IF NOT EXISTS code_texts (
    digest INTEGER PRIMARY KEY,
    texts TEXT NOT NULL,
    model TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE IF NOT EXISTS embedded_text (
    model TEXT NOT NULL,
    text TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (model, text)
) STRICT;
CREATE TABLE IF NOT EXISTS embedding_batch (
    model TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    texts INTEGER NOT NULL,
    file_id TEXT NOT NULL,
    batch_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- unembedded --
-- Contents not marked as completely embedded by a model, each with one file that has it.
SELECT code_digest.seq, file.index_id, file.path, file.blob, file.language, file.size, file.traits, file.dirty,
    file.generation, code_texts.texts
FROM code_digest
JOIN code_file AS file ON file.seq = (
    SELECT max(seq) FROM code_file WHERE code_file.blob = code_digest.blob AND code_file.language = code_digest.language
)
LEFT JOIN code_texts ON code_texts.digest = code_digest.seq
WHERE code_digest.version = :version AND code_digest.seq > :after AND code_texts.model IS NOT :model
ORDER BY code_digest.seq
LIMIT :limit

-- texts --
-- The keys of the texts of these contents.
SELECT code_digest.blob, code_digest.language, code_texts.texts
FROM json_each(:contents) AS wanted
JOIN code_digest
    ON code_digest.blob = wanted.value ->> 0
    AND code_digest.language = wanted.value ->> 1
    AND code_digest.version = :version
JOIN code_texts ON code_texts.digest = code_digest.seq

-- keep_texts --
-- Store the keys of the texts of one content.
INSERT INTO code_texts (digest, texts)
SELECT seq, :texts FROM code_digest WHERE blob = :blob AND language = :language AND version = :version
ON CONFLICT DO NOTHING

-- note_done --
-- Mark these contents as completely embedded.
UPDATE code_texts SET model = :model
WHERE digest IN (
    SELECT code_digest.seq
    FROM json_each(:contents) AS wanted
    JOIN code_digest
        ON code_digest.blob = wanted.value ->> 0
        AND code_digest.language = wanted.value ->> 1
        AND code_digest.version = :version
)

-- vectors --
-- The vectors of these texts.
SELECT embedded_text.text, embedded_text.vector
FROM json_each(:texts) AS wanted
JOIN embedded_text ON embedded_text.model = :model AND embedded_text.text = wanted.value

-- keep --
-- Store a vector, unless another process already did.
INSERT INTO embedded_text (model, text, vector) VALUES (:model, :text, :vector) ON CONFLICT DO NOTHING

-- counts --
-- For each index: chunks with a vector, all chunks, and files whose chunks are not counted yet.
SELECT code_file.index_id,
    coalesce(sum(CASE WHEN code_texts.model = :model THEN json_array_length(code_texts.texts) ELSE (
        SELECT count(*) FROM json_each(code_texts.texts) AS one
        WHERE EXISTS (SELECT 1 FROM embedded_text WHERE embedded_text.model = :model AND text = one.value)
    ) END), 0),
    coalesce(sum(json_array_length(code_texts.texts)), 0),
    count(*) FILTER (WHERE code_texts.digest IS NULL)
FROM code_file
JOIN code_digest
    ON code_digest.blob = code_file.blob
    AND code_digest.language = code_file.language
    AND code_digest.version = :version
LEFT JOIN code_texts ON code_texts.digest = code_digest.seq
GROUP BY code_file.index_id

-- batch --
-- The current batch of a model.
SELECT model, name, texts, file_id, batch_id FROM embedding_batch WHERE model = :model

-- put_batch --
-- Insert or update a batch.
INSERT INTO embedding_batch (model, name, texts, file_id, batch_id)
VALUES (:model, :name, :texts, :file_id, :batch_id)
ON CONFLICT (model) DO UPDATE SET
    name = excluded.name,
    texts = excluded.texts,
    file_id = excluded.file_id,
    batch_id = excluded.batch_id

-- end_batch --
-- Delete a batch that ended.
DELETE FROM embedding_batch WHERE model = :model

-- sweep_texts --
-- Delete the texts of deleted digests, whose row ids may be reused.
DELETE FROM code_texts WHERE digest NOT IN (SELECT seq FROM code_digest)

-- is_unread --
-- A file whose texts are not known in this version, so that the vectors it needs are not known either.
SELECT 1
FROM code_file
WHERE NOT EXISTS (
    SELECT 1
    FROM code_digest
    JOIN code_texts ON code_texts.digest = code_digest.seq
    WHERE code_digest.blob = code_file.blob
        AND code_digest.language = code_file.language
        AND code_digest.version = :version
)
LIMIT 1

-- sweep_vectors --
-- Delete the vectors of texts that no content has.
DELETE FROM embedded_text
WHERE text NOT IN (SELECT one.value FROM code_texts, json_each(code_texts.texts) AS one)

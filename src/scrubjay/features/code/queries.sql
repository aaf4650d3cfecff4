-- schema --
-- Schema of code.db; a file with another schema version is dropped and recreated.
CREATE TABLE code_index (
    id TEXT PRIMARY KEY,
    root TEXT NOT NULL,
    rev TEXT NOT NULL,
    options TEXT NOT NULL,
    generation INTEGER NOT NULL,
    commit_id TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    details TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE code_digest (
    seq INTEGER PRIMARY KEY,
    blob TEXT NOT NULL,
    language TEXT NOT NULL,
    version INTEGER NOT NULL,
    digest BLOB NOT NULL,
    UNIQUE (blob, language, version)
) STRICT;
CREATE TABLE code_name (
    name TEXT NOT NULL,
    digest INTEGER NOT NULL,
    PRIMARY KEY (name, digest)
) STRICT, WITHOUT ROWID;
CREATE TABLE code_file (
    seq INTEGER PRIMARY KEY,
    index_id TEXT NOT NULL REFERENCES code_index (id) ON DELETE CASCADE,
    path BLOB NOT NULL,
    blob TEXT NOT NULL,
    language TEXT NOT NULL,
    size INTEGER NOT NULL,
    traits INTEGER NOT NULL,
    dirty INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    -- Generation in which the file or its edges last changed.
    linked INTEGER NOT NULL,
    edges BLOB NOT NULL,
    UNIQUE (index_id, path)
) STRICT;
CREATE INDEX code_file_by_content ON code_file (blob, language);
CREATE INDEX code_file_by_linked ON code_file (index_id, linked);
CREATE TABLE code_link (
    target INTEGER NOT NULL,
    source INTEGER NOT NULL,
    PRIMARY KEY (target, source)
) STRICT, WITHOUT ROWID;

-- indexes --
-- All indexes, most recently updated first.
SELECT id, root, rev, options, generation, commit_id, created_at, updated_at, details
FROM code_index
ORDER BY updated_at DESC, id

-- index --
-- One index.
SELECT id, root, rev, options, generation, commit_id, created_at, updated_at, details FROM code_index WHERE id = :id

-- known --
-- Those of these contents that have a digest.
SELECT wanted.value ->> 0, wanted.value ->> 1
FROM json_each(:contents) AS wanted
WHERE EXISTS (
    SELECT 1 FROM code_digest
    WHERE blob = wanted.value ->> 0 AND language = wanted.value ->> 1 AND version = :version
)

-- digests --
-- The digests of these contents.
SELECT code_digest.blob, code_digest.language, code_digest.digest
FROM json_each(:contents) AS wanted
JOIN code_digest
    ON code_digest.blob = wanted.value ->> 0
    AND code_digest.language = wanted.value ->> 1
    AND code_digest.version = :version

-- keep --
-- Store a digest, unless another process already did.
INSERT INTO code_digest (blob, language, version, digest) VALUES (:blob, :language, :version, :digest)
ON CONFLICT DO NOTHING
RETURNING seq

-- keep_name --
-- Store a name that a digest defines.
INSERT INTO code_name (name, digest) VALUES (:name, :digest) ON CONFLICT DO NOTHING

-- defining --
-- The files of an index that define one of these names. CROSS JOIN fixes the order: start from the few names.
SELECT code_name.name, code_file.path
FROM json_each(:names) AS wanted
CROSS JOIN code_name ON code_name.name = wanted.value
CROSS JOIN code_digest ON code_digest.seq = code_name.digest AND code_digest.version = :version
CROSS JOIN code_file
    ON code_file.blob = code_digest.blob
    AND code_file.language = code_digest.language
    AND code_file.index_id = :id
ORDER BY code_name.name, code_file.path

-- files --
-- The files of an index that changed after a generation.
SELECT path, blob, language, size, traits, dirty, generation
FROM code_file
WHERE index_id = :id AND generation > :after
ORDER BY path

-- unread --
-- The files of an index whose content has no digest.
SELECT path
FROM code_file
WHERE index_id = :id
    AND NOT EXISTS (
        SELECT 1 FROM code_digest
        WHERE code_digest.blob = code_file.blob
            AND code_digest.language = code_file.language
            AND code_digest.version = :version
    )

-- paths --
-- The paths of all files of an index.
SELECT path FROM code_file WHERE index_id = :id ORDER BY path

-- all_edges --
-- The edges of all files of an index whose edges changed after a generation.
SELECT path, edges FROM code_file WHERE index_id = :id AND linked > :after

-- edges --
-- The edges of one file.
SELECT edges FROM code_file WHERE index_id = :id AND path = :path

-- put_index --
-- Insert an index, or update it if its generation is the previous one.
INSERT INTO code_index (id, root, rev, options, generation, commit_id, created_at, updated_at, details)
VALUES (:id, :root, :rev, :options, :generation, :commit, :created_at, :updated_at, :details)
ON CONFLICT (id) DO UPDATE SET
    generation = excluded.generation,
    commit_id = excluded.commit_id,
    updated_at = excluded.updated_at,
    details = excluded.details
WHERE code_index.generation = excluded.generation - 1
RETURNING generation

-- put_file --
-- Insert or update a file of an index; without edges it keeps its edges.
INSERT INTO code_file (index_id, path, blob, language, size, traits, dirty, generation, linked, edges)
VALUES (:id, :path, :blob, :language, :size, :traits, :dirty, :generation, :generation, coalesce(:edges, x''))
ON CONFLICT (index_id, path) DO UPDATE SET
    blob = excluded.blob,
    language = excluded.language,
    size = excluded.size,
    traits = excluded.traits,
    dirty = excluded.dirty,
    generation = excluded.generation,
    linked = excluded.linked,
    edges = coalesce(:edges, edges)

-- put_edges --
-- Update the edges of a file.
UPDATE code_file SET edges = :edges, linked = :generation WHERE seq = :file

-- place --
-- The row id of one file of an index.
SELECT seq FROM code_file WHERE index_id = :id AND path = :path

-- places --
-- The row ids of the files of an index.
SELECT seq, path FROM code_file WHERE index_id = :id

-- put_link --
-- Store the target of an edge between files. Old targets stay: the table is a superset, used only as a hint.
INSERT INTO code_link (target, source) VALUES (:target, :file) ON CONFLICT DO NOTHING

-- leading_to --
-- The files that have, or had, an edge to a file.
SELECT source.path
FROM code_file AS target
JOIN code_link ON code_link.target = target.seq
JOIN code_file AS source ON source.seq = code_link.source AND source.index_id = :id
WHERE target.index_id = :id AND target.path = :path

-- remove_file --
-- Delete a file of an index.
DELETE FROM code_file WHERE index_id = :id AND path = :path

-- delete --
-- Delete an index.
DELETE FROM code_index WHERE id = :id RETURNING id

-- sweep --
-- Delete digests that no index needs.
DELETE FROM code_digest
WHERE version <> :version
    OR NOT EXISTS (
        SELECT 1 FROM code_file WHERE code_file.blob = code_digest.blob AND code_file.language = code_digest.language
    )
RETURNING seq

-- sweep_names --
-- Delete the names of deleted digests.
DELETE FROM code_name WHERE digest NOT IN (SELECT seq FROM code_digest)

-- sweep_links --
-- Delete links from or to deleted files.
DELETE FROM code_link
WHERE target NOT IN (SELECT seq FROM code_file) OR source NOT IN (SELECT seq FROM code_file)

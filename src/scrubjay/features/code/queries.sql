-- schema --
-- What the database of code has; it is made anew when an older program made it.
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
    -- The state with which it came to lead where it does, or to be what it is.
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
-- All indexes, the one that was brought up to date last first.
SELECT id, root, rev, options, generation, commit_id, created_at, updated_at, details
FROM code_index
ORDER BY updated_at DESC, id

-- index --
-- One index.
SELECT id, root, rev, options, generation, commit_id, created_at, updated_at, details FROM code_index WHERE id = :id

-- known --
-- Which of these contents have a digest.
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
-- Keep a digest, unless another process was faster.
INSERT INTO code_digest (blob, language, version, digest) VALUES (:blob, :language, :version, :digest)
ON CONFLICT DO NOTHING
RETURNING seq

-- keep_name --
-- By which name a digest is found.
INSERT INTO code_name (name, digest) VALUES (:name, :digest) ON CONFLICT DO NOTHING

-- defining --
-- The files of an index in which something has one of these names. CROSS keeps the order: from the few names on.
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
-- The files of an index that changed after a state.
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
-- What all files of an index lead to for which that changed after a state.
SELECT path, edges FROM code_file WHERE index_id = :id AND linked > :after

-- edges --
-- What one file leads to.
SELECT edges FROM code_file WHERE index_id = :id AND path = :path

-- put_index --
-- Make an index, or bring it to its next state.
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
-- Make a file of an index what it is now; without edges it leads where it did.
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
-- What a file leads to now.
UPDATE code_file SET edges = :edges, linked = :generation WHERE seq = :file

-- place --
-- The row of one file of an index.
SELECT seq FROM code_file WHERE index_id = :id AND path = :path

-- places --
-- The rows of the files of an index.
SELECT seq, path FROM code_file WHERE index_id = :id

-- put_link --
-- A file that a file leads to now; those that it led to before stay, as a hint that is not needed.
INSERT INTO code_link (target, source) VALUES (:target, :file) ON CONFLICT DO NOTHING

-- leading_to --
-- The files that lead to one, or did so.
SELECT source.path
FROM code_file AS target
JOIN code_link ON code_link.target = target.seq
JOIN code_file AS source ON source.seq = code_link.source AND source.index_id = :id
WHERE target.index_id = :id AND target.path = :path

-- remove_file --
-- A file that is not there any more.
DELETE FROM code_file WHERE index_id = :id AND path = :path

-- delete --
-- Forget an index.
DELETE FROM code_index WHERE id = :id RETURNING id

-- sweep --
-- Remove what no index needs.
DELETE FROM code_digest
WHERE version <> :version
    OR NOT EXISTS (
        SELECT 1 FROM code_file WHERE code_file.blob = code_digest.blob AND code_file.language = code_digest.language
    )
RETURNING seq

-- sweep_names --
-- Remove the names of digests that are gone.
DELETE FROM code_name WHERE digest NOT IN (SELECT seq FROM code_digest)

-- sweep_links --
-- Remove what led from or to files that are gone.
DELETE FROM code_link
WHERE target NOT IN (SELECT seq FROM code_file) OR source NOT IN (SELECT seq FROM code_file)

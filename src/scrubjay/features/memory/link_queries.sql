-- columns --
-- Fields of a link, in the order that `link_rows.link_from` expects.
root, name, origin, path, symbol, blob, digest, commit_id, first_line, last_line, linked_at, text

-- of_memories --
-- Intact links of the memories in these rows, in the order stored.
SELECT seq, {columns} FROM memory_link
WHERE seq IN (SELECT value FROM json_each(:seqs)) AND {../../db/sqlite/intact.memory_link}
ORDER BY rowid

-- add --
-- Link a memory to code.
INSERT INTO memory_link (seq, {columns})
VALUES (
    :seq, :root, :name, :origin, :path, :symbol, :blob, :digest, :commit_id, :first_line, :last_line, :linked_at, :text
)

-- delete --
-- Delete all links of a memory.
DELETE FROM memory_link WHERE seq = :seq

-- copy --
-- Copy the links of a memory to its earlier version; a copy of a damaged one would have a valid checksum.
INSERT INTO memory_link (seq, {columns})
SELECT :copy, {columns} FROM memory_link WHERE seq = :seq AND {../../db/sqlite/intact.memory_link} ORDER BY rowid

-- linked --
-- Row numbers of the valid, visible memories with links, first stored first.
SELECT memory.seq FROM memory
WHERE memory.seq IN (SELECT seq FROM memory_link) AND memory.superseded_by IS NULL AND {queries.visible}
ORDER BY memory.seq

-- linked_among --
-- Row numbers of the valid, visible memories with links among these ids, first stored first.
SELECT memory.seq FROM memory
WHERE memory.id IN (SELECT value FROM json_each(:ids)) AND memory.superseded_by IS NULL AND {queries.visible}
    AND EXISTS (SELECT 1 FROM memory_link WHERE memory_link.seq = memory.seq)
ORDER BY memory.seq

-- linked_to --
-- Row numbers of the valid, visible memories with links to these files, or with pending links to the repository,
-- first stored first.
SELECT memory.seq FROM memory
WHERE memory.seq IN (
        SELECT seq FROM memory_link
        WHERE root = :root AND (path IS NULL OR path IN (SELECT value FROM json_each(:paths)))
    )
    AND memory.superseded_by IS NULL AND {queries.visible}
ORDER BY memory.seq

-- seq_of --
-- Row number of a visible memory.
SELECT memory.seq FROM memory WHERE memory.id = :id AND {queries.visible}

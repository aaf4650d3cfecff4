-- columns --
-- A link's fields, in the order in which `links.link_from` takes them.
root, name, origin, path, symbol, blob, digest, commit_id, first_line, last_line, linked_at, text

-- of_places --
-- The links of the memories at these places, in the order kept.
SELECT seq, {columns} FROM memory_link WHERE seq IN (SELECT value FROM json_each(:seqs)) ORDER BY rowid

-- keep --
-- Tie a memory to code.
INSERT INTO memory_link (seq, {columns})
VALUES (
    :seq, :root, :name, :origin, :path, :symbol, :blob, :digest, :commit_id, :first_line, :last_line, :linked_at, :text
)

-- drop --
-- A memory is about no code.
DELETE FROM memory_link WHERE seq = :seq

-- copy --
-- What a memory was before is about what the memory was about.
INSERT INTO memory_link (seq, {columns}) SELECT :copy, {columns} FROM memory_link WHERE seq = :seq ORDER BY rowid

-- linked --
-- The visible memories that are held true and are about code, those kept first before the others.
SELECT memory.seq, {queries.columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.seq IN (SELECT seq FROM memory_link) AND memory.superseded_by IS NULL AND {queries.visible}
ORDER BY memory.seq

-- linked_among --
-- The same among these ids.
SELECT memory.seq, {queries.columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.id IN (SELECT value FROM json_each(:ids)) AND memory.superseded_by IS NULL AND {queries.visible}
    AND EXISTS (SELECT 1 FROM memory_link WHERE memory_link.seq = memory.seq)
ORDER BY memory.seq

-- linked_to --
-- The same among those that are about these files, or about what could not be looked up yet.
SELECT memory.seq, {queries.columns}
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.seq IN (
        SELECT seq FROM memory_link
        WHERE root = :root AND (path IS NULL OR path IN (SELECT value FROM json_each(:paths)))
    )
    AND memory.superseded_by IS NULL AND {queries.visible}
ORDER BY memory.seq

-- place --
-- Where a visible memory is.
SELECT memory.seq FROM memory WHERE memory.id = :id AND {queries.visible}

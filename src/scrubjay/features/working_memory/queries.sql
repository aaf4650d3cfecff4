-- columns --
-- Columns of an item in the order that `sqlite._item_from` expects.
id, project_id, session_id, content, context, importance, source, tool_name, client, created_at, expires_at,
accessed_at, access_count, mark, memory_id

-- in_scope --
-- Items of one scope.
session_id = :session_id AND project_id IS :project_id

-- in_scope_or_any --
-- Items of one scope, or of all if the session is null.
(:session_id IS NULL OR ({in_scope}))

-- waiting --
-- Marked items that have not become memories.
mark <> 'none' AND memory_id IS NULL

-- add --
-- Store an item.
INSERT INTO working_item (
    id, project_id, session_id, content, context, importance, source, tool_name, client, created_at, expires_at,
    accessed_at, access_count, mark, memory_id
)
VALUES (
    :id, :project_id, :session_id, :content, :context, :importance, :source, :tool_name, :client, :created_at,
    :expires_at, :accessed_at, :access_count, :mark, :memory_id
)

-- count --
-- Number of unexpired items of the scope.
SELECT count(*) FROM working_item WHERE {in_scope} AND expires_at > :now

-- to_evict --
-- Items to evict: soonest to expire first, items that wait to become memories last.
SELECT {columns} FROM working_item
WHERE {in_scope} AND expires_at > :now AND id <> :id AND {../../db/sqlite/intact.working_item}
ORDER BY {waiting}, expires_at, seq
LIMIT :limit

-- expire --
-- Expire an item now.
UPDATE working_item SET expires_at = :now WHERE id = :id

-- erase --
-- Delete an item.
DELETE FROM working_item WHERE id = :id

-- access --
-- Count a read.
UPDATE working_item SET accessed_at = :now, access_count = access_count + 1
WHERE id = :id AND {in_scope} AND expires_at > :now AND {../../db/sqlite/intact.working_item}
RETURNING {columns}

-- items --
-- Unexpired items of the scope, newest first; a negative limit means no limit.
SELECT {columns} FROM working_item WHERE {in_scope} AND expires_at > :now AND {../../db/sqlite/intact.working_item} ORDER BY seq DESC LIMIT :limit

-- one --
-- One item, and the end of the lease of its move.
SELECT moving_until, {columns} FROM working_item WHERE id = :id AND {in_scope} AND expires_at > :now AND {../../db/sqlite/intact.working_item}

-- moving --
-- Number of items of the scope whose move is leased.
SELECT count(*) FROM working_item WHERE {in_scope} AND {waiting} AND moving_until > :now

-- mark --
-- Set the mark of an item.
UPDATE working_item SET mark = :mark WHERE id = :id RETURNING {columns}

-- all_items --
-- All items of the scope, expired ones included.
SELECT {columns} FROM working_item WHERE {in_scope} AND {../../db/sqlite/intact.working_item} ORDER BY seq

-- clear --
-- Delete all items of the scope, damaged ones included.
DELETE FROM working_item WHERE {in_scope}

-- clear_expired --
-- Delete expired items that do not wait, or are listed in :without.
DELETE FROM working_item
WHERE expires_at <= :now AND {in_scope_or_any}
    AND (NOT ({waiting}) OR id IN (SELECT value FROM json_each(:without)))
RETURNING id

-- usage --
-- Counts of the scope.
SELECT
    count(*) FILTER (WHERE expires_at > :now),
    coalesce(sum((length(content) + 3) / 4) FILTER (WHERE expires_at > :now), 0),
    count(*) FILTER (WHERE expires_at > :now AND {waiting}),
    count(*) FILTER (WHERE expires_at > :now AND memory_id IS NOT NULL),
    min(expires_at) FILTER (WHERE expires_at > :now),
    count(*) FILTER (WHERE expires_at <= :now AND {waiting})
FROM working_item
WHERE {in_scope} AND {../../db/sqlite/intact.working_item}

-- candidates --
-- Waiting items, soonest to expire first, each with all items of its move; a null session means all scopes.
WITH soonest AS (
    SELECT seq, move_id FROM working_item
    WHERE {waiting} AND {in_scope_or_any} AND {../../db/sqlite/intact.working_item}
    ORDER BY expires_at, seq
    LIMIT :limit
)
SELECT move_id, moving_until, {columns} FROM working_item
WHERE {waiting} AND (seq IN (SELECT seq FROM soonest) OR move_id IN (SELECT move_id FROM soonest)) AND {../../db/sqlite/intact.working_item}
ORDER BY expires_at, seq

-- count_movable --
-- Number of these items that wait, are in no other move, and are not leased.
SELECT count(*) FROM working_item
WHERE id IN (SELECT value FROM json_each(:ids)) AND {waiting}
    AND (move_id IS NULL OR move_id = :move_id) AND (moving_until IS NULL OR moving_until <= :now)

-- begin_move --
-- Lease these items.
UPDATE working_item SET move_id = :move_id, moving_until = :until
WHERE id IN (SELECT value FROM json_each(:ids))

-- finish_move --
-- Record the memory that these items became.
UPDATE working_item SET memory_id = :memory_id, moving_until = NULL WHERE move_id = :move_id

-- release_move --
-- Release the lease of an unfinished move.
UPDATE working_item SET moving_until = NULL WHERE move_id = :move_id

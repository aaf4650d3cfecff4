-- columns --
-- An item's fields, in the order in which `working._item_from` takes them.
id, project_id, session_id, content, context, importance, source, tool_name, client, created_at, expires_at,
accessed_at, access_count, mark, memory_id

-- there --
-- What lies on one desk.
session_id = :session_id AND project_id IS :project_id

-- there_or_anywhere --
-- What lies on one desk, or without a session on any.
(:session_id IS NULL OR ({there}))

-- waiting --
-- What is to become a memory and has not.
mark <> 'none' AND memory_id IS NULL

-- add --
-- Keep an item.
INSERT INTO working_item (
    id, project_id, session_id, content, context, importance, source, tool_name, client, created_at, expires_at,
    accessed_at, access_count, mark, memory_id
)
VALUES (
    :id, :project_id, :session_id, :content, :context, :importance, :source, :tool_name, :client, :created_at,
    :expires_at, :accessed_at, :access_count, :mark, :memory_id
)

-- count --
-- How many items lie there.
SELECT count(*) FROM working_item WHERE {there} AND expires_at > :now

-- first_to_go --
-- The items that give way to a new one: soonest to expire first, but those that wait to become memories last.
SELECT {columns} FROM working_item
WHERE {there} AND expires_at > :now AND id <> :id
ORDER BY {waiting}, expires_at, seq
LIMIT :limit

-- expire --
-- End an item's time.
UPDATE working_item SET expires_at = :now WHERE id = :id

-- erase --
-- Erase an item.
DELETE FROM working_item WHERE id = :id

-- access --
-- Count an item as read once more.
UPDATE working_item SET accessed_at = :now, access_count = access_count + 1
WHERE id = :id AND {there} AND expires_at > :now
RETURNING {columns}

-- items --
-- What lies there, the item put last first; a negative limit is none.
SELECT {columns} FROM working_item WHERE {there} AND expires_at > :now ORDER BY seq DESC LIMIT :limit

-- one --
-- One item, and until when somebody is moving it.
SELECT moving_until, {columns} FROM working_item WHERE id = :id AND {there} AND expires_at > :now

-- moving --
-- How many items there somebody is moving.
SELECT count(*) FROM working_item WHERE {there} AND {waiting} AND moving_until > :now

-- mark --
-- Mark an item, or take its mark away.
UPDATE working_item SET mark = :mark WHERE id = :id RETURNING {columns}

-- clear --
-- Erase everything there.
DELETE FROM working_item WHERE {there} RETURNING {columns}

-- clear_expired --
-- Erase what has expired and does not wait, or waits in vain.
DELETE FROM working_item
WHERE expires_at <= :now AND {there_or_anywhere}
    AND (NOT ({waiting}) OR id IN (SELECT value FROM json_each(:without)))
RETURNING id

-- tally --
-- How much lies there.
SELECT
    count(*) FILTER (WHERE expires_at > :now),
    coalesce(sum((length(content) + 3) / 4) FILTER (WHERE expires_at > :now), 0),
    count(*) FILTER (WHERE expires_at > :now AND {waiting}),
    count(*) FILTER (WHERE expires_at > :now AND memory_id IS NOT NULL),
    min(expires_at) FILTER (WHERE expires_at > :now),
    count(*) FILTER (WHERE expires_at <= :now AND {waiting})
FROM working_item
WHERE {there}

-- candidates --
-- What waits to become a memory, soonest to expire first, and with each all of its move; no session means every desk.
WITH soonest AS (
    SELECT seq, move_id FROM working_item
    WHERE {waiting} AND {there_or_anywhere}
    ORDER BY expires_at, seq
    LIMIT :limit
)
SELECT move_id, moving_until, {columns} FROM working_item
WHERE {waiting} AND (seq IN (SELECT seq FROM soonest) OR move_id IN (SELECT move_id FROM soonest))
ORDER BY expires_at, seq

-- movable --
-- Which of these items wait, and are in no other move than this one, which nobody is at.
SELECT count(*) FROM working_item
WHERE id IN (SELECT value FROM json_each(:ids)) AND {waiting}
    AND (move_id IS NULL OR move_id = :move_id) AND (moving_until IS NULL OR moving_until <= :now)

-- begin_move --
-- Have these items for oneself until then.
UPDATE working_item SET move_id = :move_id, moving_until = :until
WHERE id IN (SELECT value FROM json_each(:ids))

-- finish_move --
-- Note which memory these items have become.
UPDATE working_item SET memory_id = :memory_id, moving_until = NULL WHERE move_id = :move_id

-- release_move --
-- Let go of a move that has not been finished.
UPDATE working_item SET moving_until = NULL WHERE move_id = :move_id

-- columns --
-- A message's fields, in the order in which `discussions._message_from` takes them.
seq, id, owner, project_id, thread_id, sender, recipient, content, created_at, completed_at

-- add --
-- Keep a message.
INSERT INTO agent_message (id, owner, project_id, thread_id, sender, recipient, content, created_at)
VALUES (:id, :owner, :project_id, :thread_id, :sender, :recipient, :content, :created_at)

-- count_open --
-- How many messages of an owner have no complete answer.
SELECT count(*) FROM agent_message WHERE owner = :owner AND completed_at IS NULL

-- get --
-- A message of this owner, or of anybody.
SELECT {columns} FROM agent_message WHERE id = :id AND (:owner IS NULL OR owner = :owner)

-- page --
-- The last messages that an asker may see, the last one first.
SELECT {columns} FROM agent_message
WHERE (:owner IS NULL OR owner = :owner) AND (project_id IS NULL OR project_id = :project)
    AND NOT (:only_open AND completed_at IS NOT NULL)
ORDER BY seq DESC
LIMIT :limit

-- replies --
-- What was answered to a message, in its order.
SELECT sender, content, way, complete, created_at FROM agent_reply WHERE message_seq = :seq ORDER BY seq

-- reply --
-- Keep an answer.
INSERT INTO agent_reply (message_seq, sender, content, way, complete, created_at)
VALUES (:seq, :sender, :content, :way, :complete, :created_at)

-- complete --
-- Nothing more is to come.
UPDATE agent_message SET completed_at = :created_at WHERE seq = :seq

-- forget_before --
-- Erase what is old; answers go with their messages.
DELETE FROM agent_message WHERE created_at < :moment

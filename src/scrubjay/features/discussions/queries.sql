-- columns --
-- Columns of a message, in the order that `sqlite._message_from` expects.
seq, id, owner, project_id, thread_id, sender, recipient, content, created_at, completed_at

-- add --
-- Insert a message.
INSERT INTO agent_message (id, owner, project_id, thread_id, sender, recipient, content, created_at)
VALUES (:id, :owner, :project_id, :thread_id, :sender, :recipient, :content, :created_at)

-- count_open --
-- Number of messages of an owner without a complete reply.
SELECT count(*) FROM agent_message WHERE owner = :owner AND completed_at IS NULL

-- get --
-- A message of this owner, or of any owner.
SELECT {columns} FROM agent_message WHERE id = :id AND (:owner IS NULL OR owner = :owner) AND {../../db/sqlite/intact.agent_message}

-- page --
-- The newest visible messages, newest first.
SELECT {columns} FROM agent_message
WHERE (:owner IS NULL OR owner = :owner) AND (project_id IS NULL OR project_id = :project)
    AND NOT (:only_open AND completed_at IS NOT NULL) AND {../../db/sqlite/intact.agent_message}
ORDER BY seq DESC
LIMIT :limit

-- replies --
-- Replies to a message, oldest first.
SELECT sender, content, way, complete, created_at FROM agent_reply WHERE message_seq = :seq AND {../../db/sqlite/intact.agent_reply} ORDER BY seq

-- reply --
-- Insert a reply.
INSERT INTO agent_reply (message_seq, sender, content, way, complete, created_at)
VALUES (:seq, :sender, :content, :way, :complete, :created_at)

-- complete --
-- Mark the reply as complete.
UPDATE agent_message SET completed_at = :created_at WHERE seq = :seq

-- delete_before --
-- Delete old messages; their replies are deleted by the foreign key.
DELETE FROM agent_message WHERE created_at < :moment

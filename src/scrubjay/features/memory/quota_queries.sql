-- kept --
-- How many memories come from a client.
SELECT memories FROM client_memories WHERE client = :client

-- growth_beyond --
-- The client that is to keep more memories than it may, and more than it does.
SELECT coming.client, coming.memories
FROM coming_client_memories AS coming
LEFT JOIN client_memories AS present ON present.client = coming.client
WHERE coming.memories > :most AND coming.memories > coalesce(present.memories, 0)
ORDER BY coming.memories DESC
LIMIT 1

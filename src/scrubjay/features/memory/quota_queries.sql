-- client_memories --
-- Number of memories of a client.
SELECT memories FROM client_memories WHERE client = :client

-- growth_beyond --
-- The client that would have more memories than allowed, and more than now.
SELECT coming.client, coming.memories
FROM coming_client_memories AS coming
LEFT JOIN client_memories AS present ON present.client = coming.client
WHERE coming.memories > :most AND coming.memories > coalesce(present.memories, 0)
ORDER BY coming.memories DESC
LIMIT 1

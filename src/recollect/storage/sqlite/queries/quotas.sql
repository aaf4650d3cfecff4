-- kept --
-- How many memories come from a client.
SELECT memories FROM client_memories WHERE client = :client

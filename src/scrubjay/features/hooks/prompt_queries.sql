-- put --
-- Store the last prompt of a client.
INSERT INTO agent_prompt (client, prompt, asked_at) VALUES (:client, :prompt, :asked_at)
ON CONFLICT (client) DO UPDATE SET prompt = excluded.prompt, asked_at = excluded.asked_at

-- take --
-- Return and delete the last prompt of a client.
DELETE FROM agent_prompt WHERE client = :client RETURNING prompt

-- delete_before --
-- Delete prompts that were never answered.
DELETE FROM agent_prompt WHERE asked_at < :moment

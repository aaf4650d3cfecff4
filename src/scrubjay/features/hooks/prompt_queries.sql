-- put --
-- Keep what a client was asked last.
INSERT INTO agent_prompt (client, prompt, asked_at) VALUES (:client, :prompt, :asked_at)
ON CONFLICT (client) DO UPDATE SET prompt = excluded.prompt, asked_at = excluded.asked_at

-- take --
-- What a client was asked last, which is then no longer kept.
DELETE FROM agent_prompt WHERE client = :client RETURNING prompt

-- forget_before --
-- Let go of what was never answered.
DELETE FROM agent_prompt WHERE asked_at < :moment

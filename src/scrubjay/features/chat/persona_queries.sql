-- get --
-- One layer.
SELECT content FROM persona WHERE owner = :owner AND layer = :layer AND place = :place

-- put --
-- Keep a layer in the place of what was there.
INSERT INTO persona (owner, layer, place, content, updated_at) VALUES (:owner, :layer, :place, :content, :at)
ON CONFLICT (owner, layer, place) DO UPDATE SET content = excluded.content, updated_at = excluded.updated_at

-- count --
-- How many an owner has.
SELECT count(*) FROM persona WHERE owner = :owner

-- remove --
-- Erase one.
DELETE FROM persona WHERE owner = :owner AND layer = :layer AND place = :place RETURNING 1

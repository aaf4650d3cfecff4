-- get --
-- Return the content of a layer.
SELECT content FROM persona WHERE owner = :owner AND layer = :layer AND place = :place

-- put --
-- Insert or replace a layer.
INSERT INTO persona (owner, layer, place, content, updated_at) VALUES (:owner, :layer, :place, :content, :at)
ON CONFLICT (owner, layer, place) DO UPDATE SET content = excluded.content, updated_at = excluded.updated_at

-- count --
-- Count the layers of an owner.
SELECT count(*) FROM persona WHERE owner = :owner

-- remove --
-- Delete a layer; no row when there was none.
DELETE FROM persona WHERE owner = :owner AND layer = :layer AND place = :place RETURNING 1

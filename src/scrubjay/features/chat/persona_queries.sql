-- get --
-- Return the content of a layer.
SELECT content FROM persona WHERE owner = :owner AND layer = :layer AND place = :place AND {../../db/sqlite/intact.persona}

-- put --
-- Insert or replace a layer. A new row, because the checksum of a damaged one would stay wrong.
INSERT OR REPLACE INTO persona (owner, layer, place, content, updated_at) VALUES (:owner, :layer, :place, :content, :at)

-- count --
-- Count the layers of an owner.
SELECT count(*) FROM persona WHERE owner = :owner

-- remove --
-- Delete a layer; no row when there was none.
DELETE FROM persona WHERE owner = :owner AND layer = :layer AND place = :place RETURNING 1

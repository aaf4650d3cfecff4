-- columns --
-- Columns of a key, in the order that `sqlite._key_from` expects.
id, name, digest, scopes, created_at, expires_at, revoked_at, last_used_at, uses

-- revision --
-- Changes with every change of keys or scopes.
SELECT number FROM access_revision

-- all --
-- All intact keys, oldest first.
SELECT {columns} FROM access_key WHERE {../../db/sqlite/intact.access_key} ORDER BY created_at, id

-- damaged --
-- Number of damaged keys.
SELECT count(*) FROM access_key WHERE NOT {../../db/sqlite/intact.access_key}

-- active --
-- Number of active keys of this name.
SELECT count(*) FROM access_key
WHERE name = :name AND (revoked_at IS NULL OR revoked_at > :now) AND (expires_at IS NULL OR expires_at > :now)

-- add --
-- Insert a key.
INSERT INTO access_key (id, name, digest, scopes, created_at, expires_at, revoked_at)
VALUES (:id, :name, :digest, :scopes, :created_at, :expires_at, :revoked_at)

-- current --
-- The newest key of this name that was not revoked.
SELECT {columns} FROM access_key WHERE name = :name AND revoked_at IS NULL AND {../../db/sqlite/intact.access_key} ORDER BY created_at DESC, id DESC LIMIT 1

-- end --
-- Revoke a key at a time.
UPDATE access_key SET revoked_at = :ends_at WHERE id = :id

-- revoke --
-- Revoke all keys of this name.
UPDATE access_key SET revoked_at = :now WHERE name = :name AND (revoked_at IS NULL OR revoked_at > :now)
RETURNING id

-- delete_ended --
-- Delete the revoked and expired keys of this name.
DELETE FROM access_key WHERE name = :name AND (revoked_at <= :now OR expires_at <= :now)
RETURNING id

-- add_use --
-- Add to the uses of a key.
UPDATE access_key SET uses = uses + :uses, last_used_at = max(coalesce(last_used_at, 0), :last_used_at) WHERE id = :id

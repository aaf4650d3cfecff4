-- columns --
-- What `key_from` reads.
id, name, digest, scopes, created_at, expires_at, revoked_at, last_used_at, uses

-- revision --
-- Differs whenever what the keys open does.
SELECT number FROM access_revision

-- all --
-- Every key, the oldest first.
SELECT {columns} FROM access_key ORDER BY created_at, id

-- active --
-- Whether a key of this name still opens something.
SELECT count(*) FROM access_key
WHERE name = :name AND (revoked_at IS NULL OR revoked_at > :now) AND (expires_at IS NULL OR expires_at > :now)

-- add --
-- Keep a key.
INSERT INTO access_key (id, name, digest, scopes, created_at, expires_at, revoked_at)
VALUES (:id, :name, :digest, :scopes, :created_at, :expires_at, :revoked_at)

-- standing --
-- The newest key of this name that was not revoked.
SELECT {columns} FROM access_key WHERE name = :name AND revoked_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 1

-- end --
-- Refuse this key from then on.
UPDATE access_key SET revoked_at = :ends_at WHERE id = :id

-- revoke --
-- Refuse all keys of this name from now on.
UPDATE access_key SET revoked_at = :now WHERE name = :name AND (revoked_at IS NULL OR revoked_at > :now)
RETURNING id

-- forget --
-- Erase the keys of this name that open nothing any more.
DELETE FROM access_key WHERE name = :name AND (revoked_at <= :now OR expires_at <= :now)
RETURNING id

-- add_use --
-- Count some more uses of a key.
UPDATE access_key SET uses = uses + :uses, last_used_at = max(coalesce(last_used_at, 0), :last_used_at) WHERE id = :id

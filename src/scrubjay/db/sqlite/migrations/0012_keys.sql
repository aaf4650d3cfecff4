-- API keys. Only the digest of a key is stored.
CREATE TABLE access_key (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER,
    uses INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX access_key_by_name ON access_key (name);

-- Changes whenever a key's permissions change, so that every process notices at once. Uses do not change it.
CREATE TABLE access_revision (number INTEGER NOT NULL) STRICT;
INSERT INTO access_revision (number) VALUES (0);
CREATE TRIGGER access_key_added AFTER INSERT ON access_key
BEGIN UPDATE access_revision SET number = number + 1; END;
CREATE TRIGGER access_key_erased AFTER DELETE ON access_key
BEGIN UPDATE access_revision SET number = number + 1; END;
CREATE TRIGGER access_key_changed AFTER UPDATE OF name, digest, scopes, expires_at, revoked_at ON access_key
BEGIN UPDATE access_revision SET number = number + 1; END;

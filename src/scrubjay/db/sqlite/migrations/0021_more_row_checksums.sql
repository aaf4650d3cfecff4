-- Checksums of calls, jobs and keys too (see 0020_row_checksums.sql).

ALTER TABLE tool_call ADD COLUMN checksum INTEGER;
ALTER TABLE job ADD COLUMN checksum INTEGER;
ALTER TABLE access_key ADD COLUMN checksum INTEGER;

UPDATE tool_call SET checksum =
    row_checksum(seq, session_seq, CAST(tool AS BLOB), success, milliseconds, called_at, erased,
    CAST(arguments AS BLOB), CAST(result AS BLOB));
CREATE TRIGGER tool_call_checksum_added AFTER INSERT ON tool_call WHEN NEW.checksum IS NULL BEGIN
    UPDATE tool_call SET checksum =
        row_checksum(seq, session_seq, CAST(tool AS BLOB), success, milliseconds, called_at, erased,
        CAST(arguments AS BLOB), CAST(result AS BLOB))
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER tool_call_checksum_changed AFTER UPDATE OF
    seq, session_seq, tool, success, milliseconds, called_at, erased, arguments, result
ON tool_call WHEN OLD.checksum =
    row_checksum(OLD.seq, OLD.session_seq, CAST(OLD.tool AS BLOB), OLD.success, OLD.milliseconds, OLD.called_at,
    OLD.erased, CAST(OLD.arguments AS BLOB), CAST(OLD.result AS BLOB))
BEGIN
    UPDATE tool_call SET checksum =
        row_checksum(seq, session_seq, CAST(tool AS BLOB), success, milliseconds, called_at, erased,
        CAST(arguments AS BLOB), CAST(result AS BLOB))
    WHERE seq = NEW.seq;
END;

UPDATE job SET checksum =
    row_checksum(seq, CAST(id AS BLOB), CAST(kind AS BLOB), CAST(payload AS BLOB), CAST(state AS BLOB), done, total,
    CAST(message AS BLOB), CAST(result AS BLOB), CAST(error AS BLOB), attempts, CAST(owner AS BLOB), leased_until,
    created_at, started_at, ended_at);
CREATE TRIGGER job_checksum_added AFTER INSERT ON job WHEN NEW.checksum IS NULL BEGIN
    UPDATE job SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(kind AS BLOB), CAST(payload AS BLOB), CAST(state AS BLOB), done,
        total, CAST(message AS BLOB), CAST(result AS BLOB), CAST(error AS BLOB), attempts, CAST(owner AS BLOB),
        leased_until, created_at, started_at, ended_at)
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER job_checksum_changed AFTER UPDATE OF
    seq, id, kind, payload, state, done, total, message, result, error, attempts, owner, leased_until, created_at,
    started_at, ended_at
ON job WHEN OLD.checksum =
    row_checksum(OLD.seq, CAST(OLD.id AS BLOB), CAST(OLD.kind AS BLOB), CAST(OLD.payload AS BLOB),
    CAST(OLD.state AS BLOB), OLD.done, OLD.total, CAST(OLD.message AS BLOB), CAST(OLD.result AS BLOB),
    CAST(OLD.error AS BLOB), OLD.attempts, CAST(OLD.owner AS BLOB), OLD.leased_until, OLD.created_at, OLD.started_at,
    OLD.ended_at)
BEGIN
    UPDATE job SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(kind AS BLOB), CAST(payload AS BLOB), CAST(state AS BLOB), done,
        total, CAST(message AS BLOB), CAST(result AS BLOB), CAST(error AS BLOB), attempts, CAST(owner AS BLOB),
        leased_until, created_at, started_at, ended_at)
    WHERE seq = NEW.seq;
END;

UPDATE access_key SET checksum =
    row_checksum(CAST(id AS BLOB), CAST(name AS BLOB), digest, CAST(scopes AS BLOB), created_at, expires_at,
    revoked_at, last_used_at, uses);
CREATE TRIGGER access_key_checksum_added AFTER INSERT ON access_key WHEN NEW.checksum IS NULL BEGIN
    UPDATE access_key SET checksum =
        row_checksum(CAST(id AS BLOB), CAST(name AS BLOB), digest, CAST(scopes AS BLOB), created_at, expires_at,
        revoked_at, last_used_at, uses)
    WHERE id = NEW.id;
END;
CREATE TRIGGER access_key_checksum_changed AFTER UPDATE OF
    id, name, digest, scopes, created_at, expires_at, revoked_at, last_used_at, uses
ON access_key WHEN OLD.checksum =
    row_checksum(CAST(OLD.id AS BLOB), CAST(OLD.name AS BLOB), OLD.digest, CAST(OLD.scopes AS BLOB), OLD.created_at,
    OLD.expires_at, OLD.revoked_at, OLD.last_used_at, OLD.uses)
BEGIN
    UPDATE access_key SET checksum =
        row_checksum(CAST(id AS BLOB), CAST(name AS BLOB), digest, CAST(scopes AS BLOB), created_at, expires_at,
        revoked_at, last_used_at, uses)
    WHERE id = NEW.id;
END;

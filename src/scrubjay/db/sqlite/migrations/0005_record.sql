-- One record for facts, turns and summaries: its kind, its provenance, and the period in which it is true.

ALTER TABLE memory ADD COLUMN kind TEXT NOT NULL DEFAULT 'general';
-- Fields that only memories of this kind have.
ALTER TABLE memory ADD COLUMN details TEXT NOT NULL DEFAULT '{}';
ALTER TABLE memory ADD COLUMN provenance TEXT NOT NULL DEFAULT '{}';
ALTER TABLE memory ADD COLUMN subject TEXT;
ALTER TABLE memory ADD COLUMN valid_from INTEGER;
ALTER TABLE memory ADD COLUMN valid_until INTEGER;
-- A superseded memory is kept as a memory of its own, without a key.
ALTER TABLE memory ADD COLUMN superseded_by TEXT;
ALTER TABLE memory ADD COLUMN protected INTEGER NOT NULL DEFAULT 0;

CREATE INDEX memory_by_successor ON memory (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memory_by_subject ON memory (audience_id, subject) WHERE subject IS NOT NULL;
CREATE INDEX memory_by_session ON memory (session_id, seq) WHERE session_id IS NOT NULL;
CREATE INDEX memory_by_kind ON memory (kind, seq) WHERE kind <> 'general';

-- Idempotency keys of writes, so that a repeated request is not carried out again.
CREATE TABLE write_once (
    client TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    outcomes TEXT NOT NULL,
    written_at INTEGER NOT NULL,
    PRIMARY KEY (client, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX write_once_by_age ON write_once (written_at);

-- A covering index for listing the turns of a session.

CREATE INDEX memory_turns ON memory (audience_id, session_id, recorded_at, id, kind, superseded_by)
WHERE kind = 'turn' AND superseded_by IS NULL AND session_id IS NOT NULL;

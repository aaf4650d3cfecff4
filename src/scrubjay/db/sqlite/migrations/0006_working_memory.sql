-- Working memory: short-lived items of sessions.

-- An item without a project belongs to a session without a project. Items of one consolidation become one memory.
CREATE TABLE working_item (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT,
    session_id TEXT NOT NULL,
    importance REAL NOT NULL,
    source TEXT NOT NULL,
    tool_name TEXT,
    client TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    accessed_at INTEGER NOT NULL,
    access_count INTEGER NOT NULL,
    mark TEXT NOT NULL CHECK (mark IN ('none', 'importance', 'caller')),
    memory_id TEXT,
    move_id TEXT,
    moving_until INTEGER,
    context TEXT NOT NULL,
    content TEXT NOT NULL
) STRICT;

CREATE INDEX working_item_by_desk ON working_item (session_id, project_id, seq);
CREATE INDEX working_item_by_expiry ON working_item (expires_at);
CREATE INDEX working_item_waiting ON working_item (expires_at) WHERE mark <> 'none' AND memory_id IS NULL;
CREATE INDEX working_item_by_move ON working_item (move_id) WHERE move_id IS NOT NULL;

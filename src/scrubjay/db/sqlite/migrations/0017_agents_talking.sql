-- Messages between agents, and personas of the chat.

CREATE TABLE agent_message (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    project_id TEXT REFERENCES project (id) ON DELETE CASCADE,
    thread_id TEXT NOT NULL,
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    content TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    completed_at INTEGER
) STRICT;
CREATE INDEX agent_message_by_owner ON agent_message (owner, seq);
CREATE INDEX agent_message_by_time ON agent_message (created_at);

CREATE TABLE agent_reply (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    message_seq INTEGER NOT NULL REFERENCES agent_message (seq) ON DELETE CASCADE,
    sender TEXT NOT NULL,
    content TEXT NOT NULL,
    way TEXT NOT NULL CHECK (way IN ('called', 'printed')),
    complete INTEGER NOT NULL CHECK (complete IN (0, 1)),
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX agent_reply_by_message ON agent_reply (message_seq);

-- The persona that an owner set for a project or a session.
CREATE TABLE persona (
    owner TEXT NOT NULL,
    layer TEXT NOT NULL CHECK (layer IN ('project', 'session')),
    place TEXT NOT NULL,
    content TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (owner, layer, place)
) STRICT, WITHOUT ROWID;

-- Imported tasks and goals, staged until they replace the present ones.
CREATE TABLE incoming_plan (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    import_id TEXT NOT NULL,
    content TEXT NOT NULL
) STRICT;

-- What agents say to each other, and how the chat is to be.

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

-- Of everybody who chats, what they want in a project or in a session.
CREATE TABLE persona (
    owner TEXT NOT NULL,
    layer TEXT NOT NULL CHECK (layer IN ('project', 'session')),
    place TEXT NOT NULL,
    content TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (owner, layer, place)
) STRICT, WITHOUT ROWID;

-- Tasks and goals that an import brings, until they take the place of those that are there.
CREATE TABLE incoming_plan (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    import_id TEXT NOT NULL,
    content TEXT NOT NULL
) STRICT;

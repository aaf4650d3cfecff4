-- Sessions of clients, and their tool calls.

CREATE TABLE session (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    project_id TEXT REFERENCES project (id),
    client TEXT,
    started_at INTEGER NOT NULL,
    last_activity INTEGER NOT NULL,
    ended_at INTEGER
) STRICT;

-- Clients choose session ids: the same id in another project is another session.
CREATE UNIQUE INDEX session_by_id ON session (coalesce(project_id, ''), id);
CREATE INDEX session_by_activity ON session (project_id, last_activity);
CREATE INDEX session_by_age ON session (last_activity);

-- Calls are written some seconds after they were made, by any process. The next two tables give the session and the
-- project of a client at the time of a call.
CREATE TABLE client_session (
    client TEXT NOT NULL,
    since INTEGER NOT NULL,
    session_seq INTEGER NOT NULL REFERENCES session (seq) ON DELETE CASCADE,
    PRIMARY KEY (client, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX client_session_by_session ON client_session (session_seq);

CREATE TABLE client_project_next (
    client TEXT NOT NULL,
    since INTEGER NOT NULL,
    project_id TEXT NOT NULL REFERENCES project (id),
    PRIMARY KEY (client, since)
) STRICT, WITHOUT ROWID;
INSERT INTO client_project_next (client, since, project_id) SELECT client, 0, project_id FROM client_project;
DROP TABLE client_project;
ALTER TABLE client_project_next RENAME TO client_project;

CREATE TABLE tool_call (
    seq INTEGER PRIMARY KEY,
    session_seq INTEGER NOT NULL REFERENCES session (seq) ON DELETE CASCADE,
    tool TEXT NOT NULL,
    success INTEGER NOT NULL,
    milliseconds REAL NOT NULL,
    called_at INTEGER NOT NULL,
    erased INTEGER NOT NULL DEFAULT 0,
    arguments TEXT NOT NULL,
    result TEXT NOT NULL
) STRICT;
CREATE INDEX tool_call_by_session ON tool_call (session_seq, called_at, tool, success);
CREATE INDEX tool_call_by_age ON tool_call (called_at);

-- The memories named by each call, so that forgetting a memory also erases it from the call history.
CREATE TABLE tool_call_memory (
    memory_id TEXT NOT NULL,
    call_seq INTEGER NOT NULL REFERENCES tool_call (seq) ON DELETE CASCADE,
    PRIMARY KEY (memory_id, call_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX tool_call_memory_by_call ON tool_call_memory (call_seq);

CREATE TRIGGER calls_forget AFTER DELETE ON memory BEGIN
    UPDATE tool_call SET arguments = '{}', result = '', erased = 1
    WHERE seq IN (SELECT call_seq FROM tool_call_memory WHERE memory_id = OLD.id);
    DELETE FROM tool_call_memory WHERE memory_id = OLD.id;
END;

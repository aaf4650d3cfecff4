-- Permission rules for agents' tools, and prompts that agents have not answered yet.

CREATE TABLE permission_rule (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    effect TEXT NOT NULL CHECK (effect IN ('deny', 'ask', 'allow')),
    tool_name TEXT NOT NULL,
    match_type TEXT NOT NULL CHECK (match_type IN ('exact', 'prefix', 'glob', 'regex')),
    pattern TEXT NOT NULL,
    field TEXT,
    project_id TEXT REFERENCES project (id),
    note TEXT,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL
) STRICT;

-- A rule is stored once.
CREATE UNIQUE INDEX permission_rule_by_content
ON permission_rule (effect, tool_name, match_type, pattern, coalesce(field, ''), coalesce(project_id, ''));

CREATE TABLE agent_prompt (
    client TEXT PRIMARY KEY,
    prompt TEXT NOT NULL,
    asked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

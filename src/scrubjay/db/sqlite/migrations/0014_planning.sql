-- Tasks, goals and milestones. Priorities are stored as ranks, so that an index returns lists in order.

CREATE TABLE task (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT REFERENCES project (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'completed', 'blocked')),
    rank INTEGER NOT NULL CHECK (rank BETWEEN 0 AND 3),
    parent_seq INTEGER REFERENCES task (seq) ON DELETE CASCADE,
    notes TEXT,
    client TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    completed_at INTEGER,
    CHECK ((completed_at IS NULL) = (status <> 'completed'))
) STRICT;
CREATE INDEX task_in_order ON task (project_id, rank DESC, seq);
CREATE INDEX task_by_parent ON task (parent_seq, status);
CREATE INDEX task_by_client ON task (client);

CREATE TABLE goal (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT REFERENCES project (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL CHECK (status IN ('planning', 'in_progress', 'blocked', 'completed', 'abandoned')),
    rank INTEGER NOT NULL CHECK (rank BETWEEN 0 AND 3),
    success_criteria TEXT,
    given_progress REAL NOT NULL CHECK (given_progress BETWEEN 0 AND 100),
    client TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    completed_at INTEGER,
    CHECK ((completed_at IS NULL) = (status <> 'completed'))
) STRICT;
CREATE INDEX goal_in_order ON goal (project_id, rank DESC, seq);
CREATE INDEX goal_by_client ON goal (client);

CREATE TABLE milestone (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    goal_seq INTEGER NOT NULL REFERENCES goal (seq) ON DELETE CASCADE,
    title TEXT NOT NULL,
    weight REAL NOT NULL CHECK (weight > 0),
    client TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    completed_at INTEGER
) STRICT;
CREATE INDEX milestone_by_goal ON milestone (goal_seq);
CREATE INDEX milestone_by_client ON milestone (client);

-- nearest_project --
-- Id, path and name of the project at the longest of these paths.
SELECT id, path, name FROM project WHERE path IN (SELECT value FROM json_each(:paths)) AND {../../db/sqlite/intact.project} ORDER BY length(path) DESC LIMIT 1

-- note_columns --
-- Columns of a `MemoryNote`.
memory.id, memory.category, memory.content

-- is_current --
-- True for a memory of these kinds that is not superseded.
memory.superseded_by IS NULL AND memory.kind IN (SELECT value FROM json_each(:kinds)) AND {../../db/sqlite/intact.memory}

-- latest --
-- The newest memories.
SELECT {note_columns} FROM memory WHERE {../memory/queries.visible} AND {is_current} ORDER BY memory.seq DESC LIMIT :limit

-- matching --
-- Memories with any of these terms, best first, each with all of its indexed terms.
SELECT {note_columns}, indexed.c0
FROM memory_terms
JOIN memory ON memory.seq = memory_terms.rowid
JOIN memory_terms_content AS indexed ON indexed.id = memory.seq
WHERE memory_terms MATCH :match AND {../memory/queries.visible} AND {is_current}
ORDER BY memory_terms.rank
LIMIT :limit

-- tasks --
-- Open tasks of the project and global ones, by descending priority.
SELECT task.title, task.rank, task.status, task.id FROM task
WHERE (task.project_id IS NULL OR task.project_id = :project_id) AND task.status <> 'completed'
    AND {../../db/sqlite/intact.task}
ORDER BY task.rank DESC, task.seq
LIMIT :limit

-- goals --
-- Unfinished goals of the project and global ones, by descending priority.
SELECT goal.title, goal.rank, goal.status, goal.id FROM goal
WHERE (goal.project_id IS NULL OR goal.project_id = :project_id) AND goal.status NOT IN ('completed', 'abandoned')
    AND {../../db/sqlite/intact.goal}
ORDER BY goal.rank DESC, goal.seq
LIMIT :limit

-- latest_sessions --
-- Sessions of the project with a turn among the latest memories, most recent first.
{../summaries/queries.latest}

-- summary --
-- The summary of a session.
SELECT memory.content, memory.details FROM memory
WHERE memory.key = :key AND memory.kind = 'summary' AND {../memory/queries.visible} AND {../../db/sqlite/intact.memory}
LIMIT 1

-- turns --
-- The latest turns of a session, newest first, with their number.
SELECT memory.details ->> 'prompt', memory.details ->> 'response', memory.content, count(*) OVER ()
FROM memory
WHERE memory.session_id = :session AND memory.kind = 'turn' AND memory.superseded_by IS NULL
    AND {../memory/queries.visible} AND {../../db/sqlite/intact.memory}
ORDER BY memory.seq DESC
LIMIT :limit

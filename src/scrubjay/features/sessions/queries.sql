-- columns --
-- The columns of a session, in the order of `_session_from` in sqlite.py.
session.seq, session.id, session.project_id, session.client, session.started_at, session.last_activity,
session.ended_at,
(SELECT count(*) FROM tool_call WHERE tool_call.session_seq = session.seq AND NOT success),
(
    SELECT json_group_object(tool, calls)
    FROM (SELECT tool, count(*) AS calls FROM tool_call WHERE tool_call.session_seq = session.seq GROUP BY tool)
)

-- get --
-- Return the session with this id in a project, or in none.
SELECT {columns} FROM session WHERE coalesce(project_id, '') = coalesce(:project, '') AND id = :id AND {../../db/sqlite/intact.session}

-- by_seq --
-- Return a session by its seq.
SELECT {columns} FROM session WHERE seq = :seq AND {../../db/sqlite/intact.session}

-- list --
-- Return the sessions of a project, or of none, most recently active first.
SELECT {columns} FROM session WHERE project_id IS :project AND {../../db/sqlite/intact.session} ORDER BY last_activity DESC, seq DESC LIMIT :limit

-- current_of_client --
-- Return the session that a client entered last.
SELECT {columns}
FROM client_session JOIN session ON session.seq = client_session.session_seq
WHERE client_session.client = :client AND {../../db/sqlite/intact.session}
ORDER BY client_session.since DESC
LIMIT 1

-- current_id --
-- Return what identifies the session that a client entered last, without counting its calls.
SELECT session.id, session.project_id, session.last_activity, session.ended_at
FROM client_session JOIN session ON session.seq = client_session.session_seq
WHERE client_session.client = :client AND {../../db/sqlite/intact.session}
ORDER BY client_session.since DESC
LIMIT 1

-- summaries --
-- Return the visible summaries of sessions by session id.
SELECT substr(memory.key, length(:prefix) + 1), memory.content
FROM memory
WHERE memory.key IN (SELECT :prefix || value FROM json_each(:sessions)) AND memory.kind = 'summary'
    AND {../memory/queries.visible} AND {../../db/sqlite/intact.memory}

-- assignment_columns --
-- The columns that decide whether a call belongs to a session.
session.seq, session.project_id, session.last_activity, session.ended_at

-- session_at --
-- Return the current session of a client at a time.
SELECT {assignment_columns}
FROM client_session JOIN session ON session.seq = client_session.session_seq
WHERE client_session.client = :client AND since <= :at
ORDER BY since DESC
LIMIT 1

-- session_after --
-- Return the session that a client entered within `MAX_WRITE_DELAY` after a time.
SELECT {assignment_columns}
FROM client_session JOIN session ON session.seq = client_session.session_seq
WHERE client_session.client = :client AND since > :at AND since <= :until
ORDER BY since
LIMIT 1

-- is_final_session --
-- True when a client's session is open, and the client entered no other session or project since.
SELECT
    (SELECT ended_at IS NULL FROM session WHERE seq = :seq)
    AND NOT EXISTS (SELECT 1 FROM client_session WHERE client = :client AND since > :at)
    AND NOT EXISTS (SELECT 1 FROM client_project WHERE client = :client AND since > :at)

-- project_at --
-- Return the project that a client had set at a time.
SELECT project_id FROM client_project WHERE client = :client AND since <= :at ORDER BY since DESC LIMIT 1

-- add_session --
-- Insert a session.
INSERT INTO session (id, project_id, client, started_at, last_activity) VALUES (:id, :project, :client, :at, :at)
RETURNING seq

-- reopen --
-- Resume a session.
UPDATE session SET client = :client, last_activity = max(last_activity, :now), ended_at = NULL WHERE seq = :seq

-- set_current --
-- Record the current session of a client from a time on.
INSERT INTO client_session (client, since, session_seq) VALUES (:client, :since, :seq)
ON CONFLICT (client, since) DO UPDATE SET session_seq = excluded.session_seq

-- set_current_now --
-- Record the current session of a client from now on; later than any earlier entry, even if the clock was set back.
INSERT INTO client_session (client, since, session_seq)
SELECT :client, max(:now, coalesce(max(since) + 1, 0)), :seq FROM client_session WHERE client = :client

-- end --
-- End a session that was not ended before.
UPDATE session SET ended_at = :now WHERE seq = :seq AND ended_at IS NULL

-- mentions_deleted --
-- True when one of these memories is deleted.
{../../tooling/jobs/queries.mentions_forgotten}

-- add_call --
-- Insert a call.
INSERT INTO tool_call (session_seq, tool, success, milliseconds, called_at, arguments, result, erased)
VALUES (:session, :tool, :success, :milliseconds, :called_at, :arguments, :result, :erased)
RETURNING seq

-- set_activity --
-- Update the last client and activity of a session.
UPDATE session SET client = :client, last_activity = max(last_activity, :at) WHERE seq = :seq

-- add_mentioned_memories --
-- Record the memories that a call mentions.
INSERT INTO tool_call_memory (memory_id, call_seq) SELECT value, :call FROM json_each(:memories)

-- calls_of_session --
-- The calls of a session.
SELECT tool, arguments, result, success, milliseconds, called_at, erased
FROM tool_call
WHERE session_seq = (SELECT seq FROM session WHERE coalesce(project_id, '') = coalesce(:project, '') AND id = :id)
    AND {../../db/sqlite/intact.tool_call}

-- calls_ended_between --
-- The calls of a project that ended between two times.
SELECT tool, arguments, result, success, milliseconds, called_at, erased
FROM tool_call JOIN session ON session.seq = tool_call.session_seq
WHERE coalesce(session.project_id, '') = coalesce(:project, '')
    AND called_at BETWEEN :begun_after AND :until
    AND called_at + CAST(round(1000 * milliseconds) AS INTEGER) > :after
    AND called_at + CAST(round(1000 * milliseconds) AS INTEGER) <= :until
    AND {../../db/sqlite/intact.tool_call}

-- calls_newest --
-- Return the calls of a session, newest first.
{calls_of_session}
ORDER BY called_at DESC, seq DESC
LIMIT :limit

-- calls_oldest --
-- Return the calls of a session, oldest first.
{calls_of_session}
ORDER BY called_at, seq
LIMIT :limit

-- ended_newest --
-- Return the calls of a project that ended between two times, last first.
{calls_ended_between}
ORDER BY called_at + CAST(round(1000 * milliseconds) AS INTEGER) DESC, tool_call.seq DESC
LIMIT :limit

-- ended_oldest --
-- Return the calls of a project that ended between two times, first first.
{calls_ended_between}
ORDER BY called_at + CAST(round(1000 * milliseconds) AS INTEGER), tool_call.seq
LIMIT :limit

-- delete_calls --
-- Delete the calls made before a time.
DELETE FROM tool_call WHERE called_at < :before

-- count_deleted --
-- Return the number of rows of the last delete.
SELECT changes()

-- delete_sessions --
-- Delete sessions without calls that were idle since a time.
DELETE FROM session
WHERE last_activity < :before AND NOT EXISTS (SELECT 1 FROM tool_call WHERE tool_call.session_seq = session.seq)

-- delete_old_projects --
-- Delete project settings of clients that a later one, before a time, has replaced.
DELETE FROM client_project
WHERE EXISTS (
    SELECT 1 FROM client_project AS later
    WHERE later.client = client_project.client AND later.since > client_project.since AND later.since < :before
)

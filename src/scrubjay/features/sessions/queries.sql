-- columns --
-- A session's fields, in the order in which `sessions._session_from` takes them.
session.seq, session.id, session.project_id, session.client, session.started_at, session.last_activity,
session.ended_at,
(SELECT count(*) FROM tool_call WHERE tool_call.session_seq = session.seq AND NOT success),
(
    SELECT json_group_object(tool, calls)
    FROM (SELECT tool, count(*) AS calls FROM tool_call WHERE tool_call.session_seq = session.seq GROUP BY tool)
)

-- get --
-- The session of this id in this project, or in none.
SELECT {columns} FROM session WHERE coalesce(project_id, '') = coalesce(:project, '') AND id = :id

-- by_place --
-- The session at this place.
SELECT {columns} FROM session WHERE seq = :seq

-- latest --
-- The sessions of a project, or of none, the one that was active last first.
SELECT {columns} FROM session WHERE project_id IS :project ORDER BY last_activity DESC, seq DESC LIMIT :limit

-- of_client --
-- The session that a client went into last.
SELECT {columns}
FROM client_session JOIN session ON session.seq = client_session.session_seq
WHERE client_session.client = :client
ORDER BY client_session.since DESC
LIMIT 1

-- summaries --
-- What was summed up of these sessions, as far as the asker may see it.
SELECT substr(memory.key, length(:prefix) + 1), memory.content
FROM memory
WHERE memory.key IN (SELECT :prefix || value FROM json_each(:sessions)) AND memory.kind = 'summary'
    AND {../memory/queries.visible}

-- brief --
-- What tells whether a call belongs to a session.
session.seq, session.project_id, session.last_activity, session.ended_at

-- at --
-- The session that a client was in at a moment.
SELECT {brief}
FROM client_session JOIN session ON session.seq = client_session.session_seq
WHERE client_session.client = :client AND since <= :at
ORDER BY since DESC
LIMIT 1

-- soon_after --
-- The session that a client went into a little later.
SELECT {brief}
FROM client_session JOIN session ON session.seq = client_session.session_seq
WHERE client_session.client = :client AND since > :at AND since <= :until
ORDER BY since
LIMIT 1

-- is_settled --
-- Whether a client stays in an open session: it has gone into no other one since, and into no other project.
SELECT
    (SELECT ended_at IS NULL FROM session WHERE seq = :seq)
    AND NOT EXISTS (SELECT 1 FROM client_session WHERE client = :client AND since > :at)
    AND NOT EXISTS (SELECT 1 FROM client_project WHERE client = :client AND since > :at)

-- project_at --
-- The project that a client had set by a moment.
SELECT project_id FROM client_project WHERE client = :client AND since <= :at ORDER BY since DESC LIMIT 1

-- add --
-- Begin a session.
INSERT INTO session (id, project_id, client, started_at, last_activity) VALUES (:id, :project, :client, :at, :at)
RETURNING seq

-- reopen --
-- Go on with a session.
UPDATE session SET client = :client, last_activity = max(last_activity, :now), ended_at = NULL WHERE seq = :seq

-- enter --
-- Note which session a client is in from a moment on.
INSERT INTO client_session (client, since, session_seq) VALUES (:client, :since, :seq)
ON CONFLICT (client, since) DO UPDATE SET session_seq = excluded.session_seq

-- enter_now --
-- The same from now on; the last one noted holds, also when the clock was put back.
INSERT INTO client_session (client, since, session_seq)
SELECT :client, max(:now, coalesce(max(since) + 1, 0)), :seq FROM client_session WHERE client = :client

-- end --
-- End a session that was not ended before.
UPDATE session SET ended_at = :now WHERE seq = :seq AND ended_at IS NULL

-- tells_of_forgotten --
-- Whether one of these memories is gone.
{../../tooling/jobs/queries.mentions_forgotten}

-- keep --
-- Keep a call.
INSERT INTO tool_call (session_seq, tool, success, milliseconds, called_at, arguments, result, erased)
VALUES (:session, :tool, :success, :milliseconds, :called_at, :arguments, :result, :erased)
RETURNING seq

-- note_activity --
-- Somebody was heard of in a session.
UPDATE session SET client = :client, last_activity = max(last_activity, :at) WHERE seq = :seq

-- note_memories --
-- The memories that a call tells of.
INSERT INTO tool_call_memory (memory_id, call_seq) SELECT value, :call FROM json_each(:memories)

-- calls_newest --
-- The calls of a session, the last one first.
SELECT tool, arguments, result, success, milliseconds, called_at, erased
FROM tool_call
WHERE session_seq = (SELECT seq FROM session WHERE coalesce(project_id, '') = coalesce(:project, '') AND id = :id)
ORDER BY called_at DESC, seq DESC
LIMIT :limit

-- calls_oldest --
-- The same, the first one first.
SELECT tool, arguments, result, success, milliseconds, called_at, erased
FROM tool_call
WHERE session_seq = (SELECT seq FROM session WHERE coalesce(project_id, '') = coalesce(:project, '') AND id = :id)
ORDER BY called_at, seq
LIMIT :limit

-- ended_newest --
-- The calls of a project that ended between two moments, the last one first.
SELECT tool, arguments, result, success, milliseconds, called_at, erased
FROM tool_call JOIN session ON session.seq = tool_call.session_seq
WHERE coalesce(session.project_id, '') = coalesce(:project, '')
    AND called_at BETWEEN :begun_after AND :until
    AND called_at + CAST(round(1000 * milliseconds) AS INTEGER) > :after
    AND called_at + CAST(round(1000 * milliseconds) AS INTEGER) <= :until
ORDER BY called_at + CAST(round(1000 * milliseconds) AS INTEGER) DESC, tool_call.seq DESC
LIMIT :limit

-- ended_oldest --
-- The same, the first one first.
SELECT tool, arguments, result, success, milliseconds, called_at, erased
FROM tool_call JOIN session ON session.seq = tool_call.session_seq
WHERE coalesce(session.project_id, '') = coalesce(:project, '')
    AND called_at BETWEEN :begun_after AND :until
    AND called_at + CAST(round(1000 * milliseconds) AS INTEGER) > :after
    AND called_at + CAST(round(1000 * milliseconds) AS INTEGER) <= :until
ORDER BY called_at + CAST(round(1000 * milliseconds) AS INTEGER), tool_call.seq
LIMIT :limit

-- forget_calls --
-- Erase the calls made before a moment.
DELETE FROM tool_call WHERE called_at < :before

-- forgotten --
-- How many that were.
SELECT changes()

-- forget_sessions --
-- Erase the sessions without a call that nobody was in since a moment.
DELETE FROM session
WHERE last_activity < :before AND NOT EXISTS (SELECT 1 FROM tool_call WHERE tool_call.session_seq = session.seq)

-- forget_places --
-- Nobody asks any more in which project a client was before the one that it was in at a moment.
DELETE FROM client_project
WHERE EXISTS (
    SELECT 1 FROM client_project AS later
    WHERE later.client = client_project.client AND later.since > client_project.since AND later.since < :before
)

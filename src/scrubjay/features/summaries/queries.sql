-- sessions --
-- Sessions with turns that are not in a summary. A partial index covers the columns read from the turns.
WITH session AS (
    SELECT memory.audience_id, memory.session_id, count(*) AS turns, max(memory.id) AS through,
        max(memory.recorded_at) AS last_at
    FROM memory
    WHERE memory.kind = 'turn' AND memory.superseded_by IS NULL AND memory.session_id IS NOT NULL
        AND (:everything OR {../memory/queries.visible})
        AND (:only IS NULL OR memory.session_id = :only)
    GROUP BY memory.audience_id, memory.session_id
)
SELECT audience.scope, audience.project_id, session.session_id, session.turns, session.through
FROM session
JOIN audience ON audience.id = session.audience_id
LEFT JOIN memory AS summary ON summary.audience_id = session.audience_id AND summary.kind = 'summary'
    AND summary.key = :prefix || session.session_id
WHERE (:ended_before IS NULL OR session.last_at < :ended_before)
    AND (
        :only IS NOT NULL
        OR summary.seq IS NULL
        -- An imported summary has only the number of its memories.
        OR session.turns > CAST(coalesce(summary.details ->> 'turns', summary.details ->> 'memoryCount', 0) AS INTEGER)
        OR session.through > coalesce(summary.details ->> 'through', session.through)
        OR (:with_model AND coalesce(summary.details ->> 'tryAgain', 0))
    )
ORDER BY session.last_at, session.session_id, audience.id

-- latest --
-- Sessions of the project, or of none, with a turn among the latest memories, most recent first.
SELECT memory.session_id, max(coalesce(memory.occurred_at, memory.recorded_at)) AS last_at
FROM memory JOIN audience ON audience.id = memory.audience_id
WHERE memory.seq > (SELECT coalesce(max(latest.seq), 0) FROM memory AS latest) - :memories
    AND memory.kind = 'turn' AND memory.superseded_by IS NULL AND memory.session_id IS NOT NULL
    AND audience.project_id IS :project_id
    AND {../memory/queries.visible} AND {../../db/sqlite/intact.memory}
GROUP BY memory.session_id
ORDER BY last_at DESC
LIMIT :limit

-- periods --
-- Days or weeks with summarised parts that are not in the period's own summary.
WITH period AS (
    SELECT memory.audience_id,
        strftime(:form, coalesce(memory.occurred_at, memory.recorded_at) / 1000000, 'unixepoch') AS name,
        count(*) AS parts, max(memory.updated_at) AS changed_at
    FROM memory
    WHERE memory.kind = 'summary' AND memory.superseded_by IS NULL AND coalesce(memory.details ->> 'level', 1) = :part_level
        AND coalesce(memory.occurred_at, memory.recorded_at) < :before
        AND (:everything OR {../memory/queries.visible})
    GROUP BY 1, 2
)
SELECT audience.scope, audience.project_id, period.name, period.parts, period.changed_at
FROM period
JOIN audience ON audience.id = period.audience_id AND audience.scope <> 'session'
LEFT JOIN memory AS summary ON summary.audience_id = period.audience_id AND summary.kind = 'summary'
    AND summary.key = :prefix || period.name
WHERE summary.seq IS NULL
    OR period.parts > coalesce(summary.details ->> 'parts', 0)
    OR period.changed_at > coalesce(summary.details ->> 'changedAt', 0)
    OR (:with_model AND coalesce(summary.details ->> 'tryAgain', 0))
ORDER BY period.name, audience.id

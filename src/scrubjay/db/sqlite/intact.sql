-- memory --
-- Rows of memory that are intact.
is_intact_row('memory', 'blob' IN (typeof(memory.id), typeof(memory.session_id), typeof(memory.key),
    typeof(memory.category), typeof(memory.speaker), typeof(memory.tags), typeof(memory.metadata),
    typeof(memory.content), typeof(memory.kind), typeof(memory.details), typeof(memory.provenance),
    typeof(memory.subject), typeof(memory.superseded_by)), memory.checksum, memory.seq, CAST(memory.id AS BLOB),
    memory.audience_id, CAST(memory.session_id AS BLOB), CAST(memory.key AS BLOB), CAST(memory.category AS BLOB),
    memory.importance, memory.confidence, CAST(memory.speaker AS BLOB), memory.occurred_at, memory.recorded_at,
    memory.updated_at, CAST(memory.tags AS BLOB), CAST(memory.metadata AS BLOB), CAST(memory.content AS BLOB), memory.traits,
    CAST(memory.kind AS BLOB), CAST(memory.details AS BLOB), CAST(memory.provenance AS BLOB), CAST(memory.subject AS BLOB),
    memory.valid_from, memory.valid_until, CAST(memory.superseded_by AS BLOB), memory.protected)

-- audience --
-- Rows of audience that are intact.
is_intact_row('audience', 'blob' IN (typeof(audience.scope), typeof(audience.project_id),
    typeof(audience.session_id)), audience.checksum, audience.id, CAST(audience.scope AS BLOB),
    CAST(audience.project_id AS BLOB), CAST(audience.session_id AS BLOB))

-- memory_link --
-- Rows of memory_link that are intact.
is_intact_row('memory_link', 'blob' IN (typeof(memory_link.root), typeof(memory_link.name),
    typeof(memory_link.origin), typeof(memory_link.path), typeof(memory_link.symbol), typeof(memory_link.blob),
    typeof(memory_link.digest), typeof(memory_link.commit_id), typeof(memory_link.text)), memory_link.checksum,
    memory_link.seq, CAST(memory_link.root AS BLOB), CAST(memory_link.name AS BLOB), CAST(memory_link.origin AS BLOB),
    CAST(memory_link.path AS BLOB), CAST(memory_link.symbol AS BLOB), CAST(memory_link.blob AS BLOB),
    CAST(memory_link.digest AS BLOB), CAST(memory_link.commit_id AS BLOB), memory_link.first_line, memory_link.last_line,
    memory_link.linked_at, CAST(memory_link.text AS BLOB))

-- project --
-- Rows of project that are intact.
is_intact_row('project', 'blob' IN (typeof(project.id), typeof(project.path), typeof(project.name)),
    project.checksum, project.seq, CAST(project.id AS BLOB), CAST(project.path AS BLOB), CAST(project.name AS BLOB),
    project.created_at, project.set_by_owner)

-- session --
-- Rows of session that are intact.
is_intact_row('session', 'blob' IN (typeof(session.id), typeof(session.project_id), typeof(session.client)),
    session.checksum, session.seq, CAST(session.id AS BLOB), CAST(session.project_id AS BLOB), CAST(session.client AS BLOB),
    session.started_at, session.last_activity, session.ended_at)

-- working_item --
-- Rows of working_item that are intact.
is_intact_row('working_item', 'blob' IN (typeof(working_item.id), typeof(working_item.project_id),
    typeof(working_item.session_id), typeof(working_item.source), typeof(working_item.tool_name),
    typeof(working_item.client), typeof(working_item.mark), typeof(working_item.memory_id),
    typeof(working_item.move_id), typeof(working_item.context), typeof(working_item.content)),
    working_item.checksum, working_item.seq, CAST(working_item.id AS BLOB), CAST(working_item.project_id AS BLOB),
    CAST(working_item.session_id AS BLOB), working_item.importance, CAST(working_item.source AS BLOB),
    CAST(working_item.tool_name AS BLOB), CAST(working_item.client AS BLOB), working_item.created_at,
    working_item.expires_at, working_item.accessed_at, working_item.access_count, CAST(working_item.mark AS BLOB),
    CAST(working_item.memory_id AS BLOB), CAST(working_item.move_id AS BLOB), working_item.moving_until,
    CAST(working_item.context AS BLOB), CAST(working_item.content AS BLOB))

-- task --
-- Rows of task that are intact.
is_intact_row('task', 'blob' IN (typeof(task.id), typeof(task.project_id), typeof(task.title),
    typeof(task.description), typeof(task.status), typeof(task.notes), typeof(task.client)), task.checksum,
    task.seq, CAST(task.id AS BLOB), CAST(task.project_id AS BLOB), CAST(task.title AS BLOB), CAST(task.description AS BLOB),
    CAST(task.status AS BLOB), task.rank, task.parent_seq, CAST(task.notes AS BLOB), CAST(task.client AS BLOB),
    task.created_at, task.updated_at, task.completed_at)

-- goal --
-- Rows of goal that are intact.
is_intact_row('goal', 'blob' IN (typeof(goal.id), typeof(goal.project_id), typeof(goal.title),
    typeof(goal.description), typeof(goal.status), typeof(goal.success_criteria), typeof(goal.client)),
    goal.checksum, goal.seq, CAST(goal.id AS BLOB), CAST(goal.project_id AS BLOB), CAST(goal.title AS BLOB),
    CAST(goal.description AS BLOB), CAST(goal.status AS BLOB), goal.rank, CAST(goal.success_criteria AS BLOB),
    goal.given_progress, CAST(goal.client AS BLOB), goal.created_at, goal.updated_at, goal.completed_at)

-- milestone --
-- Rows of milestone that are intact.
is_intact_row('milestone', 'blob' IN (typeof(milestone.id), typeof(milestone.title), typeof(milestone.client)),
    milestone.checksum, milestone.seq, CAST(milestone.id AS BLOB), milestone.goal_seq, CAST(milestone.title AS BLOB),
    milestone.weight, CAST(milestone.client AS BLOB), milestone.created_at, milestone.completed_at)

-- episode --
-- Rows of episode that are intact.
is_intact_row('episode', 'blob' IN (typeof(episode.id), typeof(episode.project_id), typeof(episode.client),
    typeof(episode.task_type), typeof(episode.domain), typeof(episode.folded_domain), typeof(episode.language),
    typeof(episode.framework), typeof(episode.complexity), typeof(episode.outcome_type), typeof(episode.tags),
    typeof(episode.metadata), typeof(episode.task_description), typeof(episode.checkpoints),
    typeof(episode.applied_patterns), typeof(episode.completion)), episode.checksum, episode.seq,
    CAST(episode.id AS BLOB), CAST(episode.project_id AS BLOB), CAST(episode.client AS BLOB), CAST(episode.task_type AS BLOB),
    CAST(episode.domain AS BLOB), CAST(episode.folded_domain AS BLOB), CAST(episode.language AS BLOB),
    CAST(episode.framework AS BLOB), CAST(episode.complexity AS BLOB), episode.start_time, episode.end_time,
    CAST(episode.outcome_type AS BLOB), episode.reward, episode.quality, episode.steps, episode.bytes,
    episode.revision, CAST(episode.tags AS BLOB), CAST(episode.metadata AS BLOB), CAST(episode.task_description AS BLOB),
    CAST(episode.checkpoints AS BLOB), CAST(episode.applied_patterns AS BLOB), CAST(episode.completion AS BLOB))

-- episode_step --
-- Rows of episode_step that are intact.
is_intact_row('episode_step', 'blob' IN (typeof(episode_step.tool), typeof(episode_step.action),
    typeof(episode_step.parameters), typeof(episode_step.result), typeof(episode_step.metadata)),
    episode_step.checksum, episode_step.seq, episode_step.episode_seq, episode_step.number, episode_step.time,
    CAST(episode_step.tool AS BLOB), CAST(episode_step.action AS BLOB), CAST(episode_step.parameters AS BLOB),
    CAST(episode_step.result AS BLOB), episode_step.latency_ms, episode_step.tokens_used,
    CAST(episode_step.metadata AS BLOB))

-- pattern --
-- Rows of pattern that are intact.
is_intact_row('pattern', 'blob' IN (typeof(pattern.id), typeof(pattern.project_id), typeof(pattern.type),
    typeof(pattern.task_type), typeof(pattern.domain), typeof(pattern.folded_domain), typeof(pattern.context),
    typeof(pattern.form)), pattern.checksum, pattern.seq, CAST(pattern.id AS BLOB), CAST(pattern.project_id AS BLOB),
    CAST(pattern.type AS BLOB), CAST(pattern.task_type AS BLOB), CAST(pattern.domain AS BLOB),
    CAST(pattern.folded_domain AS BLOB), CAST(pattern.context AS BLOB), CAST(pattern.form AS BLOB), pattern.sample,
    pattern.successes, pattern.times_retrieved, pattern.times_applied, pattern.success_when_applied,
    pattern.failure_when_applied, pattern.avg_reward_delta, pattern.compared, pattern.last_used, pattern.created_at,
    pattern.last_seen)

-- entity --
-- Rows of entity that are intact.
is_intact_row('entity', 'blob' IN (typeof(entity.project_id), typeof(entity.graph_id), typeof(entity.id),
    typeof(entity.name)), entity.checksum, entity.seq, CAST(entity.project_id AS BLOB), CAST(entity.graph_id AS BLOB),
    CAST(entity.id AS BLOB), CAST(entity.name AS BLOB), entity.created_at)

-- triple --
-- Rows of triple that are intact.
is_intact_row('triple', 'blob' IN (typeof(triple.id), typeof(triple.project_id), typeof(triple.graph_id),
    typeof(triple.subject_id), typeof(triple.predicate), typeof(triple.object_id), typeof(triple.source),
    typeof(triple.context), typeof(triple.metadata), typeof(triple.client)), triple.checksum, triple.seq,
    CAST(triple.id AS BLOB), CAST(triple.project_id AS BLOB), CAST(triple.graph_id AS BLOB), CAST(triple.subject_id AS BLOB),
    CAST(triple.predicate AS BLOB), CAST(triple.object_id AS BLOB), triple.confidence, CAST(triple.source AS BLOB),
    triple.ttl, CAST(triple.context AS BLOB), CAST(triple.metadata AS BLOB), CAST(triple.client AS BLOB), triple.created_at,
    triple.updated_at, triple.expires_at)

-- agent_message --
-- Rows of agent_message that are intact.
is_intact_row('agent_message', 'blob' IN (typeof(agent_message.id), typeof(agent_message.owner),
    typeof(agent_message.project_id), typeof(agent_message.thread_id), typeof(agent_message.sender),
    typeof(agent_message.recipient), typeof(agent_message.content)), agent_message.checksum, agent_message.seq,
    CAST(agent_message.id AS BLOB), CAST(agent_message.owner AS BLOB), CAST(agent_message.project_id AS BLOB),
    CAST(agent_message.thread_id AS BLOB), CAST(agent_message.sender AS BLOB), CAST(agent_message.recipient AS BLOB),
    CAST(agent_message.content AS BLOB), agent_message.created_at, agent_message.completed_at)

-- agent_reply --
-- Rows of agent_reply that are intact.
is_intact_row('agent_reply', 'blob' IN (typeof(agent_reply.sender), typeof(agent_reply.content),
    typeof(agent_reply.way)), agent_reply.checksum, agent_reply.seq, agent_reply.message_seq,
    CAST(agent_reply.sender AS BLOB), CAST(agent_reply.content AS BLOB), CAST(agent_reply.way AS BLOB), agent_reply.complete,
    agent_reply.created_at)

-- persona --
-- Rows of persona that are intact.
is_intact_row('persona', 'blob' IN (typeof(persona.owner), typeof(persona.layer), typeof(persona.place),
    typeof(persona.content)), persona.checksum, CAST(persona.owner AS BLOB), CAST(persona.layer AS BLOB),
    CAST(persona.place AS BLOB), CAST(persona.content AS BLOB), persona.updated_at)

-- permission_rule --
-- Rows of permission_rule that are intact.
is_intact_row('permission_rule', 'blob' IN (typeof(permission_rule.id), typeof(permission_rule.effect),
    typeof(permission_rule.tool_name), typeof(permission_rule.match_type), typeof(permission_rule.pattern),
    typeof(permission_rule.field), typeof(permission_rule.project_id), typeof(permission_rule.note),
    typeof(permission_rule.created_by)), permission_rule.checksum, permission_rule.seq,
    CAST(permission_rule.id AS BLOB), CAST(permission_rule.effect AS BLOB), CAST(permission_rule.tool_name AS BLOB),
    CAST(permission_rule.match_type AS BLOB), CAST(permission_rule.pattern AS BLOB), CAST(permission_rule.field AS BLOB),
    CAST(permission_rule.project_id AS BLOB), CAST(permission_rule.note AS BLOB), permission_rule.created_at,
    CAST(permission_rule.created_by AS BLOB))

-- tool_call --
-- Rows of tool_call that are intact.
is_intact_row('tool_call', 'blob' IN (typeof(tool_call.tool), typeof(tool_call.arguments),
    typeof(tool_call.result)), tool_call.checksum, tool_call.seq, tool_call.session_seq, CAST(tool_call.tool AS BLOB),
    tool_call.success, tool_call.milliseconds, tool_call.called_at, tool_call.erased,
    CAST(tool_call.arguments AS BLOB), CAST(tool_call.result AS BLOB))

-- job --
-- Rows of job that are intact.
is_intact_row('job', 'blob' IN (typeof(job.id), typeof(job.kind), typeof(job.payload), typeof(job.state),
    typeof(job.message), typeof(job.result), typeof(job.error), typeof(job.owner)), job.checksum, job.seq,
    CAST(job.id AS BLOB), CAST(job.kind AS BLOB), CAST(job.payload AS BLOB), CAST(job.state AS BLOB), job.done, job.total,
    CAST(job.message AS BLOB), CAST(job.result AS BLOB), CAST(job.error AS BLOB), job.attempts, CAST(job.owner AS BLOB),
    job.leased_until, job.created_at, job.started_at, job.ended_at)

-- access_key --
-- Rows of access_key that are intact.
is_intact_row('access_key', 'blob' IN (typeof(access_key.id), typeof(access_key.name), typeof(access_key.scopes)),
    access_key.checksum, CAST(access_key.id AS BLOB), CAST(access_key.name AS BLOB), access_key.digest,
    CAST(access_key.scopes AS BLOB), access_key.created_at, access_key.expires_at, access_key.revoked_at,
    access_key.last_used_at, access_key.uses)

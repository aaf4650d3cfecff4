-- A checksum for each row that a user wrote, so that damage is found (see checksums.py).

-- The triggers read the stored row: its values have the types of the columns. An update of a row that is already damaged
-- leaves its checksum alone, and a copied row keeps the checksum that it was copied with: damage stays visible.

-- The checksum is no change that a copy of the memories has to follow.
DROP TRIGGER memory_revised;

CREATE TRIGGER memory_revised AFTER UPDATE OF
    seq, id, audience_id, session_id, key, category, importance, confidence, speaker, occurred_at, recorded_at,
    updated_at, tags, metadata, content, traits, kind, details, provenance, subject, valid_from, valid_until,
    superseded_by, protected
ON memory BEGIN
    INSERT INTO memory_change (seq) VALUES (NEW.seq);
END;
-- First, because SQLite parses every trigger again for each added column.

ALTER TABLE memory ADD COLUMN checksum INTEGER;
ALTER TABLE audience ADD COLUMN checksum INTEGER;
ALTER TABLE memory_link ADD COLUMN checksum INTEGER;
ALTER TABLE project ADD COLUMN checksum INTEGER;
ALTER TABLE session ADD COLUMN checksum INTEGER;
ALTER TABLE working_item ADD COLUMN checksum INTEGER;
ALTER TABLE task ADD COLUMN checksum INTEGER;
ALTER TABLE goal ADD COLUMN checksum INTEGER;
ALTER TABLE milestone ADD COLUMN checksum INTEGER;
ALTER TABLE episode ADD COLUMN checksum INTEGER;
ALTER TABLE episode_step ADD COLUMN checksum INTEGER;
ALTER TABLE pattern ADD COLUMN checksum INTEGER;
ALTER TABLE entity ADD COLUMN checksum INTEGER;
ALTER TABLE triple ADD COLUMN checksum INTEGER;
ALTER TABLE agent_message ADD COLUMN checksum INTEGER;
ALTER TABLE agent_reply ADD COLUMN checksum INTEGER;
ALTER TABLE persona ADD COLUMN checksum INTEGER;
ALTER TABLE permission_rule ADD COLUMN checksum INTEGER;

UPDATE memory SET checksum =
    row_checksum(seq, CAST(id AS BLOB), audience_id, CAST(session_id AS BLOB), CAST(key AS BLOB),
    CAST(category AS BLOB), importance, confidence, CAST(speaker AS BLOB), occurred_at, recorded_at, updated_at,
    CAST(tags AS BLOB), CAST(metadata AS BLOB), CAST(content AS BLOB), traits, CAST(kind AS BLOB),
    CAST(details AS BLOB), CAST(provenance AS BLOB), CAST(subject AS BLOB), valid_from, valid_until,
    CAST(superseded_by AS BLOB), protected);
CREATE TRIGGER memory_checksum_added AFTER INSERT ON memory WHEN NEW.checksum IS NULL BEGIN
    UPDATE memory SET checksum =
        row_checksum(seq, CAST(id AS BLOB), audience_id, CAST(session_id AS BLOB), CAST(key AS BLOB),
        CAST(category AS BLOB), importance, confidence, CAST(speaker AS BLOB), occurred_at, recorded_at, updated_at,
        CAST(tags AS BLOB), CAST(metadata AS BLOB), CAST(content AS BLOB), traits, CAST(kind AS BLOB),
        CAST(details AS BLOB), CAST(provenance AS BLOB), CAST(subject AS BLOB), valid_from, valid_until,
        CAST(superseded_by AS BLOB), protected)
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER memory_checksum_changed AFTER UPDATE OF
    seq, id, audience_id, session_id, key, category, importance, confidence, speaker, occurred_at, recorded_at,
    updated_at, tags, metadata, content, traits, kind, details, provenance, subject, valid_from, valid_until,
    superseded_by, protected
ON memory WHEN OLD.checksum =
    row_checksum(OLD.seq, CAST(OLD.id AS BLOB), OLD.audience_id, CAST(OLD.session_id AS BLOB),
    CAST(OLD.key AS BLOB), CAST(OLD.category AS BLOB), OLD.importance, OLD.confidence, CAST(OLD.speaker AS BLOB),
    OLD.occurred_at, OLD.recorded_at, OLD.updated_at, CAST(OLD.tags AS BLOB), CAST(OLD.metadata AS BLOB),
    CAST(OLD.content AS BLOB), OLD.traits, CAST(OLD.kind AS BLOB), CAST(OLD.details AS BLOB),
    CAST(OLD.provenance AS BLOB), CAST(OLD.subject AS BLOB), OLD.valid_from, OLD.valid_until,
    CAST(OLD.superseded_by AS BLOB), OLD.protected)
BEGIN
    UPDATE memory SET checksum =
        row_checksum(seq, CAST(id AS BLOB), audience_id, CAST(session_id AS BLOB), CAST(key AS BLOB),
        CAST(category AS BLOB), importance, confidence, CAST(speaker AS BLOB), occurred_at, recorded_at, updated_at,
        CAST(tags AS BLOB), CAST(metadata AS BLOB), CAST(content AS BLOB), traits, CAST(kind AS BLOB),
        CAST(details AS BLOB), CAST(provenance AS BLOB), CAST(subject AS BLOB), valid_from, valid_until,
        CAST(superseded_by AS BLOB), protected)
    WHERE seq = NEW.seq;
END;

UPDATE audience SET checksum =
    row_checksum(id, CAST(scope AS BLOB), CAST(project_id AS BLOB), CAST(session_id AS BLOB));
CREATE TRIGGER audience_checksum_added AFTER INSERT ON audience WHEN NEW.checksum IS NULL BEGIN
    UPDATE audience SET checksum =
        row_checksum(id, CAST(scope AS BLOB), CAST(project_id AS BLOB), CAST(session_id AS BLOB))
    WHERE id = NEW.id;
END;
CREATE TRIGGER audience_checksum_changed AFTER UPDATE OF
    id, scope, project_id, session_id
ON audience WHEN OLD.checksum =
    row_checksum(OLD.id, CAST(OLD.scope AS BLOB), CAST(OLD.project_id AS BLOB), CAST(OLD.session_id AS BLOB))
BEGIN
    UPDATE audience SET checksum =
        row_checksum(id, CAST(scope AS BLOB), CAST(project_id AS BLOB), CAST(session_id AS BLOB))
    WHERE id = NEW.id;
END;

UPDATE memory_link SET checksum =
    row_checksum(seq, CAST(root AS BLOB), CAST(name AS BLOB), CAST(origin AS BLOB), CAST(path AS BLOB),
    CAST(symbol AS BLOB), CAST(blob AS BLOB), CAST(digest AS BLOB), CAST(commit_id AS BLOB), first_line, last_line,
    linked_at, CAST(text AS BLOB));
CREATE TRIGGER memory_link_checksum_added AFTER INSERT ON memory_link WHEN NEW.checksum IS NULL BEGIN
    UPDATE memory_link SET checksum =
        row_checksum(seq, CAST(root AS BLOB), CAST(name AS BLOB), CAST(origin AS BLOB), CAST(path AS BLOB),
        CAST(symbol AS BLOB), CAST(blob AS BLOB), CAST(digest AS BLOB), CAST(commit_id AS BLOB), first_line,
        last_line, linked_at, CAST(text AS BLOB))
    WHERE rowid = NEW.rowid;
END;
CREATE TRIGGER memory_link_checksum_changed AFTER UPDATE OF
    seq, root, name, origin, path, symbol, blob, digest, commit_id, first_line, last_line, linked_at, text
ON memory_link WHEN OLD.checksum =
    row_checksum(OLD.seq, CAST(OLD.root AS BLOB), CAST(OLD.name AS BLOB), CAST(OLD.origin AS BLOB),
    CAST(OLD.path AS BLOB), CAST(OLD.symbol AS BLOB), CAST(OLD.blob AS BLOB), CAST(OLD.digest AS BLOB),
    CAST(OLD.commit_id AS BLOB), OLD.first_line, OLD.last_line, OLD.linked_at, CAST(OLD.text AS BLOB))
BEGIN
    UPDATE memory_link SET checksum =
        row_checksum(seq, CAST(root AS BLOB), CAST(name AS BLOB), CAST(origin AS BLOB), CAST(path AS BLOB),
        CAST(symbol AS BLOB), CAST(blob AS BLOB), CAST(digest AS BLOB), CAST(commit_id AS BLOB), first_line,
        last_line, linked_at, CAST(text AS BLOB))
    WHERE rowid = NEW.rowid;
END;

UPDATE project SET checksum =
    row_checksum(seq, CAST(id AS BLOB), CAST(path AS BLOB), CAST(name AS BLOB), created_at, set_by_owner);
CREATE TRIGGER project_checksum_added AFTER INSERT ON project WHEN NEW.checksum IS NULL BEGIN
    UPDATE project SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(path AS BLOB), CAST(name AS BLOB), created_at, set_by_owner)
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER project_checksum_changed AFTER UPDATE OF
    seq, id, path, name, created_at, set_by_owner
ON project WHEN OLD.checksum =
    row_checksum(OLD.seq, CAST(OLD.id AS BLOB), CAST(OLD.path AS BLOB), CAST(OLD.name AS BLOB), OLD.created_at,
    OLD.set_by_owner)
BEGIN
    UPDATE project SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(path AS BLOB), CAST(name AS BLOB), created_at, set_by_owner)
    WHERE seq = NEW.seq;
END;

UPDATE session SET checksum =
    row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(client AS BLOB), started_at, last_activity,
    ended_at);
CREATE TRIGGER session_checksum_added AFTER INSERT ON session WHEN NEW.checksum IS NULL BEGIN
    UPDATE session SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(client AS BLOB), started_at,
        last_activity, ended_at)
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER session_checksum_changed AFTER UPDATE OF
    seq, id, project_id, client, started_at, last_activity, ended_at
ON session WHEN OLD.checksum =
    row_checksum(OLD.seq, CAST(OLD.id AS BLOB), CAST(OLD.project_id AS BLOB), CAST(OLD.client AS BLOB),
    OLD.started_at, OLD.last_activity, OLD.ended_at)
BEGIN
    UPDATE session SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(client AS BLOB), started_at,
        last_activity, ended_at)
    WHERE seq = NEW.seq;
END;

UPDATE working_item SET checksum =
    row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(session_id AS BLOB), importance,
    CAST(source AS BLOB), CAST(tool_name AS BLOB), CAST(client AS BLOB), created_at, expires_at, accessed_at,
    access_count, CAST(mark AS BLOB), CAST(memory_id AS BLOB), CAST(move_id AS BLOB), moving_until,
    CAST(context AS BLOB), CAST(content AS BLOB));
CREATE TRIGGER working_item_checksum_added AFTER INSERT ON working_item WHEN NEW.checksum IS NULL BEGIN
    UPDATE working_item SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(session_id AS BLOB), importance,
        CAST(source AS BLOB), CAST(tool_name AS BLOB), CAST(client AS BLOB), created_at, expires_at, accessed_at,
        access_count, CAST(mark AS BLOB), CAST(memory_id AS BLOB), CAST(move_id AS BLOB), moving_until,
        CAST(context AS BLOB), CAST(content AS BLOB))
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER working_item_checksum_changed AFTER UPDATE OF
    seq, id, project_id, session_id, importance, source, tool_name, client, created_at, expires_at, accessed_at,
    access_count, mark, memory_id, move_id, moving_until, context, content
ON working_item WHEN OLD.checksum =
    row_checksum(OLD.seq, CAST(OLD.id AS BLOB), CAST(OLD.project_id AS BLOB), CAST(OLD.session_id AS BLOB),
    OLD.importance, CAST(OLD.source AS BLOB), CAST(OLD.tool_name AS BLOB), CAST(OLD.client AS BLOB), OLD.created_at,
    OLD.expires_at, OLD.accessed_at, OLD.access_count, CAST(OLD.mark AS BLOB), CAST(OLD.memory_id AS BLOB),
    CAST(OLD.move_id AS BLOB), OLD.moving_until, CAST(OLD.context AS BLOB), CAST(OLD.content AS BLOB))
BEGIN
    UPDATE working_item SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(session_id AS BLOB), importance,
        CAST(source AS BLOB), CAST(tool_name AS BLOB), CAST(client AS BLOB), created_at, expires_at, accessed_at,
        access_count, CAST(mark AS BLOB), CAST(memory_id AS BLOB), CAST(move_id AS BLOB), moving_until,
        CAST(context AS BLOB), CAST(content AS BLOB))
    WHERE seq = NEW.seq;
END;

UPDATE task SET checksum =
    row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(title AS BLOB), CAST(description AS BLOB),
    CAST(status AS BLOB), rank, parent_seq, CAST(notes AS BLOB), CAST(client AS BLOB), created_at, updated_at,
    completed_at);
CREATE TRIGGER task_checksum_added AFTER INSERT ON task WHEN NEW.checksum IS NULL BEGIN
    UPDATE task SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(title AS BLOB),
        CAST(description AS BLOB), CAST(status AS BLOB), rank, parent_seq, CAST(notes AS BLOB),
        CAST(client AS BLOB), created_at, updated_at, completed_at)
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER task_checksum_changed AFTER UPDATE OF
    seq, id, project_id, title, description, status, rank, parent_seq, notes, client, created_at, updated_at,
    completed_at
ON task WHEN OLD.checksum =
    row_checksum(OLD.seq, CAST(OLD.id AS BLOB), CAST(OLD.project_id AS BLOB), CAST(OLD.title AS BLOB),
    CAST(OLD.description AS BLOB), CAST(OLD.status AS BLOB), OLD.rank, OLD.parent_seq, CAST(OLD.notes AS BLOB),
    CAST(OLD.client AS BLOB), OLD.created_at, OLD.updated_at, OLD.completed_at)
BEGIN
    UPDATE task SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(title AS BLOB),
        CAST(description AS BLOB), CAST(status AS BLOB), rank, parent_seq, CAST(notes AS BLOB),
        CAST(client AS BLOB), created_at, updated_at, completed_at)
    WHERE seq = NEW.seq;
END;

UPDATE goal SET checksum =
    row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(title AS BLOB), CAST(description AS BLOB),
    CAST(status AS BLOB), rank, CAST(success_criteria AS BLOB), given_progress, CAST(client AS BLOB), created_at,
    updated_at, completed_at);
CREATE TRIGGER goal_checksum_added AFTER INSERT ON goal WHEN NEW.checksum IS NULL BEGIN
    UPDATE goal SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(title AS BLOB),
        CAST(description AS BLOB), CAST(status AS BLOB), rank, CAST(success_criteria AS BLOB), given_progress,
        CAST(client AS BLOB), created_at, updated_at, completed_at)
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER goal_checksum_changed AFTER UPDATE OF
    seq, id, project_id, title, description, status, rank, success_criteria, given_progress, client, created_at,
    updated_at, completed_at
ON goal WHEN OLD.checksum =
    row_checksum(OLD.seq, CAST(OLD.id AS BLOB), CAST(OLD.project_id AS BLOB), CAST(OLD.title AS BLOB),
    CAST(OLD.description AS BLOB), CAST(OLD.status AS BLOB), OLD.rank, CAST(OLD.success_criteria AS BLOB),
    OLD.given_progress, CAST(OLD.client AS BLOB), OLD.created_at, OLD.updated_at, OLD.completed_at)
BEGIN
    UPDATE goal SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(title AS BLOB),
        CAST(description AS BLOB), CAST(status AS BLOB), rank, CAST(success_criteria AS BLOB), given_progress,
        CAST(client AS BLOB), created_at, updated_at, completed_at)
    WHERE seq = NEW.seq;
END;

UPDATE milestone SET checksum =
    row_checksum(seq, CAST(id AS BLOB), goal_seq, CAST(title AS BLOB), weight, CAST(client AS BLOB), created_at,
    completed_at);
CREATE TRIGGER milestone_checksum_added AFTER INSERT ON milestone WHEN NEW.checksum IS NULL BEGIN
    UPDATE milestone SET checksum =
        row_checksum(seq, CAST(id AS BLOB), goal_seq, CAST(title AS BLOB), weight, CAST(client AS BLOB), created_at,
        completed_at)
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER milestone_checksum_changed AFTER UPDATE OF
    seq, id, goal_seq, title, weight, client, created_at, completed_at
ON milestone WHEN OLD.checksum =
    row_checksum(OLD.seq, CAST(OLD.id AS BLOB), OLD.goal_seq, CAST(OLD.title AS BLOB), OLD.weight,
    CAST(OLD.client AS BLOB), OLD.created_at, OLD.completed_at)
BEGIN
    UPDATE milestone SET checksum =
        row_checksum(seq, CAST(id AS BLOB), goal_seq, CAST(title AS BLOB), weight, CAST(client AS BLOB), created_at,
        completed_at)
    WHERE seq = NEW.seq;
END;

UPDATE episode SET checksum =
    row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(client AS BLOB), CAST(task_type AS BLOB),
    CAST(domain AS BLOB), CAST(folded_domain AS BLOB), CAST(language AS BLOB), CAST(framework AS BLOB),
    CAST(complexity AS BLOB), start_time, end_time, CAST(outcome_type AS BLOB), reward, quality, steps, bytes,
    revision, CAST(tags AS BLOB), CAST(metadata AS BLOB), CAST(task_description AS BLOB), CAST(checkpoints AS BLOB),
    CAST(applied_patterns AS BLOB), CAST(completion AS BLOB));
CREATE TRIGGER episode_checksum_added AFTER INSERT ON episode WHEN NEW.checksum IS NULL BEGIN
    UPDATE episode SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(client AS BLOB), CAST(task_type AS BLOB),
        CAST(domain AS BLOB), CAST(folded_domain AS BLOB), CAST(language AS BLOB), CAST(framework AS BLOB),
        CAST(complexity AS BLOB), start_time, end_time, CAST(outcome_type AS BLOB), reward, quality, steps, bytes,
        revision, CAST(tags AS BLOB), CAST(metadata AS BLOB), CAST(task_description AS BLOB),
        CAST(checkpoints AS BLOB), CAST(applied_patterns AS BLOB), CAST(completion AS BLOB))
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER episode_checksum_changed AFTER UPDATE OF
    seq, id, project_id, client, task_type, domain, folded_domain, language, framework, complexity, start_time,
    end_time, outcome_type, reward, quality, steps, bytes, revision, tags, metadata, task_description, checkpoints,
    applied_patterns, completion
ON episode WHEN OLD.checksum =
    row_checksum(OLD.seq, CAST(OLD.id AS BLOB), CAST(OLD.project_id AS BLOB), CAST(OLD.client AS BLOB),
    CAST(OLD.task_type AS BLOB), CAST(OLD.domain AS BLOB), CAST(OLD.folded_domain AS BLOB),
    CAST(OLD.language AS BLOB), CAST(OLD.framework AS BLOB), CAST(OLD.complexity AS BLOB), OLD.start_time,
    OLD.end_time, CAST(OLD.outcome_type AS BLOB), OLD.reward, OLD.quality, OLD.steps, OLD.bytes, OLD.revision,
    CAST(OLD.tags AS BLOB), CAST(OLD.metadata AS BLOB), CAST(OLD.task_description AS BLOB),
    CAST(OLD.checkpoints AS BLOB), CAST(OLD.applied_patterns AS BLOB), CAST(OLD.completion AS BLOB))
BEGIN
    UPDATE episode SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(client AS BLOB), CAST(task_type AS BLOB),
        CAST(domain AS BLOB), CAST(folded_domain AS BLOB), CAST(language AS BLOB), CAST(framework AS BLOB),
        CAST(complexity AS BLOB), start_time, end_time, CAST(outcome_type AS BLOB), reward, quality, steps, bytes,
        revision, CAST(tags AS BLOB), CAST(metadata AS BLOB), CAST(task_description AS BLOB),
        CAST(checkpoints AS BLOB), CAST(applied_patterns AS BLOB), CAST(completion AS BLOB))
    WHERE seq = NEW.seq;
END;

UPDATE episode_step SET checksum =
    row_checksum(seq, episode_seq, number, time, CAST(tool AS BLOB), CAST(action AS BLOB), CAST(parameters AS BLOB),
    CAST(result AS BLOB), latency_ms, tokens_used, CAST(metadata AS BLOB));
CREATE TRIGGER episode_step_checksum_added AFTER INSERT ON episode_step WHEN NEW.checksum IS NULL BEGIN
    UPDATE episode_step SET checksum =
        row_checksum(seq, episode_seq, number, time, CAST(tool AS BLOB), CAST(action AS BLOB),
        CAST(parameters AS BLOB), CAST(result AS BLOB), latency_ms, tokens_used, CAST(metadata AS BLOB))
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER episode_step_checksum_changed AFTER UPDATE OF
    seq, episode_seq, number, time, tool, action, parameters, result, latency_ms, tokens_used, metadata
ON episode_step WHEN OLD.checksum =
    row_checksum(OLD.seq, OLD.episode_seq, OLD.number, OLD.time, CAST(OLD.tool AS BLOB), CAST(OLD.action AS BLOB),
    CAST(OLD.parameters AS BLOB), CAST(OLD.result AS BLOB), OLD.latency_ms, OLD.tokens_used,
    CAST(OLD.metadata AS BLOB))
BEGIN
    UPDATE episode_step SET checksum =
        row_checksum(seq, episode_seq, number, time, CAST(tool AS BLOB), CAST(action AS BLOB),
        CAST(parameters AS BLOB), CAST(result AS BLOB), latency_ms, tokens_used, CAST(metadata AS BLOB))
    WHERE seq = NEW.seq;
END;

UPDATE pattern SET checksum =
    row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(type AS BLOB), CAST(task_type AS BLOB),
    CAST(domain AS BLOB), CAST(folded_domain AS BLOB), CAST(context AS BLOB), CAST(form AS BLOB), sample, successes,
    times_retrieved, times_applied, success_when_applied, failure_when_applied, avg_reward_delta, compared,
    last_used, created_at, last_seen);
CREATE TRIGGER pattern_checksum_added AFTER INSERT ON pattern WHEN NEW.checksum IS NULL BEGIN
    UPDATE pattern SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(type AS BLOB), CAST(task_type AS BLOB),
        CAST(domain AS BLOB), CAST(folded_domain AS BLOB), CAST(context AS BLOB), CAST(form AS BLOB), sample,
        successes, times_retrieved, times_applied, success_when_applied, failure_when_applied, avg_reward_delta,
        compared, last_used, created_at, last_seen)
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER pattern_checksum_changed AFTER UPDATE OF
    seq, id, project_id, type, task_type, domain, folded_domain, context, form, sample, successes, times_retrieved,
    times_applied, success_when_applied, failure_when_applied, avg_reward_delta, compared, last_used, created_at,
    last_seen
ON pattern WHEN OLD.checksum =
    row_checksum(OLD.seq, CAST(OLD.id AS BLOB), CAST(OLD.project_id AS BLOB), CAST(OLD.type AS BLOB),
    CAST(OLD.task_type AS BLOB), CAST(OLD.domain AS BLOB), CAST(OLD.folded_domain AS BLOB),
    CAST(OLD.context AS BLOB), CAST(OLD.form AS BLOB), OLD.sample, OLD.successes, OLD.times_retrieved,
    OLD.times_applied, OLD.success_when_applied, OLD.failure_when_applied, OLD.avg_reward_delta, OLD.compared,
    OLD.last_used, OLD.created_at, OLD.last_seen)
BEGIN
    UPDATE pattern SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(type AS BLOB), CAST(task_type AS BLOB),
        CAST(domain AS BLOB), CAST(folded_domain AS BLOB), CAST(context AS BLOB), CAST(form AS BLOB), sample,
        successes, times_retrieved, times_applied, success_when_applied, failure_when_applied, avg_reward_delta,
        compared, last_used, created_at, last_seen)
    WHERE seq = NEW.seq;
END;

UPDATE entity SET checksum =
    row_checksum(seq, CAST(project_id AS BLOB), CAST(graph_id AS BLOB), CAST(id AS BLOB), CAST(name AS BLOB),
    created_at);
CREATE TRIGGER entity_checksum_added AFTER INSERT ON entity WHEN NEW.checksum IS NULL BEGIN
    UPDATE entity SET checksum =
        row_checksum(seq, CAST(project_id AS BLOB), CAST(graph_id AS BLOB), CAST(id AS BLOB), CAST(name AS BLOB),
        created_at)
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER entity_checksum_changed AFTER UPDATE OF
    seq, project_id, graph_id, id, name, created_at
ON entity WHEN OLD.checksum =
    row_checksum(OLD.seq, CAST(OLD.project_id AS BLOB), CAST(OLD.graph_id AS BLOB), CAST(OLD.id AS BLOB),
    CAST(OLD.name AS BLOB), OLD.created_at)
BEGIN
    UPDATE entity SET checksum =
        row_checksum(seq, CAST(project_id AS BLOB), CAST(graph_id AS BLOB), CAST(id AS BLOB), CAST(name AS BLOB),
        created_at)
    WHERE seq = NEW.seq;
END;

UPDATE triple SET checksum =
    row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(graph_id AS BLOB), CAST(subject_id AS BLOB),
    CAST(predicate AS BLOB), CAST(object_id AS BLOB), confidence, CAST(source AS BLOB), ttl, CAST(context AS BLOB),
    CAST(metadata AS BLOB), CAST(client AS BLOB), created_at, updated_at, expires_at);
CREATE TRIGGER triple_checksum_added AFTER INSERT ON triple WHEN NEW.checksum IS NULL BEGIN
    UPDATE triple SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(graph_id AS BLOB),
        CAST(subject_id AS BLOB), CAST(predicate AS BLOB), CAST(object_id AS BLOB), confidence,
        CAST(source AS BLOB), ttl, CAST(context AS BLOB), CAST(metadata AS BLOB), CAST(client AS BLOB), created_at,
        updated_at, expires_at)
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER triple_checksum_changed AFTER UPDATE OF
    seq, id, project_id, graph_id, subject_id, predicate, object_id, confidence, source, ttl, context, metadata,
    client, created_at, updated_at, expires_at
ON triple WHEN OLD.checksum =
    row_checksum(OLD.seq, CAST(OLD.id AS BLOB), CAST(OLD.project_id AS BLOB), CAST(OLD.graph_id AS BLOB),
    CAST(OLD.subject_id AS BLOB), CAST(OLD.predicate AS BLOB), CAST(OLD.object_id AS BLOB), OLD.confidence,
    CAST(OLD.source AS BLOB), OLD.ttl, CAST(OLD.context AS BLOB), CAST(OLD.metadata AS BLOB),
    CAST(OLD.client AS BLOB), OLD.created_at, OLD.updated_at, OLD.expires_at)
BEGIN
    UPDATE triple SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(project_id AS BLOB), CAST(graph_id AS BLOB),
        CAST(subject_id AS BLOB), CAST(predicate AS BLOB), CAST(object_id AS BLOB), confidence,
        CAST(source AS BLOB), ttl, CAST(context AS BLOB), CAST(metadata AS BLOB), CAST(client AS BLOB), created_at,
        updated_at, expires_at)
    WHERE seq = NEW.seq;
END;

UPDATE agent_message SET checksum =
    row_checksum(seq, CAST(id AS BLOB), CAST(owner AS BLOB), CAST(project_id AS BLOB), CAST(thread_id AS BLOB),
    CAST(sender AS BLOB), CAST(recipient AS BLOB), CAST(content AS BLOB), created_at, completed_at);
CREATE TRIGGER agent_message_checksum_added AFTER INSERT ON agent_message WHEN NEW.checksum IS NULL BEGIN
    UPDATE agent_message SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(owner AS BLOB), CAST(project_id AS BLOB), CAST(thread_id AS BLOB),
        CAST(sender AS BLOB), CAST(recipient AS BLOB), CAST(content AS BLOB), created_at, completed_at)
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER agent_message_checksum_changed AFTER UPDATE OF
    seq, id, owner, project_id, thread_id, sender, recipient, content, created_at, completed_at
ON agent_message WHEN OLD.checksum =
    row_checksum(OLD.seq, CAST(OLD.id AS BLOB), CAST(OLD.owner AS BLOB), CAST(OLD.project_id AS BLOB),
    CAST(OLD.thread_id AS BLOB), CAST(OLD.sender AS BLOB), CAST(OLD.recipient AS BLOB), CAST(OLD.content AS BLOB),
    OLD.created_at, OLD.completed_at)
BEGIN
    UPDATE agent_message SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(owner AS BLOB), CAST(project_id AS BLOB), CAST(thread_id AS BLOB),
        CAST(sender AS BLOB), CAST(recipient AS BLOB), CAST(content AS BLOB), created_at, completed_at)
    WHERE seq = NEW.seq;
END;

UPDATE agent_reply SET checksum =
    row_checksum(seq, message_seq, CAST(sender AS BLOB), CAST(content AS BLOB), CAST(way AS BLOB), complete,
    created_at);
CREATE TRIGGER agent_reply_checksum_added AFTER INSERT ON agent_reply WHEN NEW.checksum IS NULL BEGIN
    UPDATE agent_reply SET checksum =
        row_checksum(seq, message_seq, CAST(sender AS BLOB), CAST(content AS BLOB), CAST(way AS BLOB), complete,
        created_at)
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER agent_reply_checksum_changed AFTER UPDATE OF
    seq, message_seq, sender, content, way, complete, created_at
ON agent_reply WHEN OLD.checksum =
    row_checksum(OLD.seq, OLD.message_seq, CAST(OLD.sender AS BLOB), CAST(OLD.content AS BLOB),
    CAST(OLD.way AS BLOB), OLD.complete, OLD.created_at)
BEGIN
    UPDATE agent_reply SET checksum =
        row_checksum(seq, message_seq, CAST(sender AS BLOB), CAST(content AS BLOB), CAST(way AS BLOB), complete,
        created_at)
    WHERE seq = NEW.seq;
END;

UPDATE persona SET checksum =
    row_checksum(CAST(owner AS BLOB), CAST(layer AS BLOB), CAST(place AS BLOB), CAST(content AS BLOB), updated_at);
CREATE TRIGGER persona_checksum_added AFTER INSERT ON persona WHEN NEW.checksum IS NULL BEGIN
    UPDATE persona SET checksum =
        row_checksum(CAST(owner AS BLOB), CAST(layer AS BLOB), CAST(place AS BLOB), CAST(content AS BLOB),
        updated_at)
    WHERE owner = NEW.owner AND layer = NEW.layer AND place = NEW.place;
END;
CREATE TRIGGER persona_checksum_changed AFTER UPDATE OF
    owner, layer, place, content, updated_at
ON persona WHEN OLD.checksum =
    row_checksum(CAST(OLD.owner AS BLOB), CAST(OLD.layer AS BLOB), CAST(OLD.place AS BLOB),
    CAST(OLD.content AS BLOB), OLD.updated_at)
BEGIN
    UPDATE persona SET checksum =
        row_checksum(CAST(owner AS BLOB), CAST(layer AS BLOB), CAST(place AS BLOB), CAST(content AS BLOB),
        updated_at)
    WHERE owner = NEW.owner AND layer = NEW.layer AND place = NEW.place;
END;

UPDATE permission_rule SET checksum =
    row_checksum(seq, CAST(id AS BLOB), CAST(effect AS BLOB), CAST(tool_name AS BLOB), CAST(match_type AS BLOB),
    CAST(pattern AS BLOB), CAST(field AS BLOB), CAST(project_id AS BLOB), CAST(note AS BLOB), created_at,
    CAST(created_by AS BLOB));
CREATE TRIGGER permission_rule_checksum_added AFTER INSERT ON permission_rule WHEN NEW.checksum IS NULL BEGIN
    UPDATE permission_rule SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(effect AS BLOB), CAST(tool_name AS BLOB), CAST(match_type AS BLOB),
        CAST(pattern AS BLOB), CAST(field AS BLOB), CAST(project_id AS BLOB), CAST(note AS BLOB), created_at,
        CAST(created_by AS BLOB))
    WHERE seq = NEW.seq;
END;
CREATE TRIGGER permission_rule_checksum_changed AFTER UPDATE OF
    seq, id, effect, tool_name, match_type, pattern, field, project_id, note, created_at, created_by
ON permission_rule WHEN OLD.checksum =
    row_checksum(OLD.seq, CAST(OLD.id AS BLOB), CAST(OLD.effect AS BLOB), CAST(OLD.tool_name AS BLOB),
    CAST(OLD.match_type AS BLOB), CAST(OLD.pattern AS BLOB), CAST(OLD.field AS BLOB), CAST(OLD.project_id AS BLOB),
    CAST(OLD.note AS BLOB), OLD.created_at, CAST(OLD.created_by AS BLOB))
BEGIN
    UPDATE permission_rule SET checksum =
        row_checksum(seq, CAST(id AS BLOB), CAST(effect AS BLOB), CAST(tool_name AS BLOB), CAST(match_type AS BLOB),
        CAST(pattern AS BLOB), CAST(field AS BLOB), CAST(project_id AS BLOB), CAST(note AS BLOB), created_at,
        CAST(created_by AS BLOB))
    WHERE seq = NEW.seq;
END;

-- columns --
-- Columns of a task, in the order that `rows.task_from` expects.
task.seq, task.id, task.project_id, task.title, task.description, task.status, task.rank,
(SELECT parent.id FROM task AS parent WHERE parent.seq = task.parent_seq), task.notes, task.client, task.created_at,
task.updated_at, task.completed_at, (SELECT count(*) FROM task AS part WHERE part.parent_seq = task.seq),
(SELECT count(*) FROM task AS part WHERE part.parent_seq = task.seq AND part.status <> 'completed')

-- visible --
-- Tasks of the caller's project, and global ones.
(task.project_id IS NULL OR task.project_id = :project)

-- matches_filter --
-- Tasks that match the filter.
(:status IS NULL OR task.status = :status)
AND (:rank IS NULL OR task.rank = :rank)
AND (:parent IS NULL OR task.parent_seq = (SELECT parent.seq FROM task AS parent WHERE parent.id = :parent))
AND (:all OR :status IS NOT NULL OR task.status <> 'completed')

-- add --
-- Insert a task.
INSERT INTO task (
    id, project_id, title, description, status, rank, parent_seq, notes, client, created_at, updated_at, completed_at
)
VALUES (
    :id, :project_id, :title, :description, :status, :rank, :parent_seq, :notes, :client, :created_at, :updated_at,
    :completed_at
)

-- get --
-- Read a visible task.
SELECT {columns} FROM task WHERE task.id = :id AND {visible} AND {../../db/sqlite/intact.task}

-- page --
-- One page of tasks after a position.
SELECT {columns} FROM task
WHERE {visible} AND {matches_filter} AND {../../db/sqlite/intact.task}
    AND (:after_rank IS NULL OR task.rank < :after_rank OR (task.rank = :after_rank AND task.seq > :after_seq))
ORDER BY task.rank DESC, task.seq
LIMIT :limit OFFSET :offset

-- count --
-- Count all matching tasks.
SELECT count(*) FROM task WHERE {visible} AND {matches_filter}

-- change --
-- Update the changeable columns.
UPDATE task
SET title = :title, description = :description, status = :status, rank = :rank, parent_seq = :parent_seq,
    notes = :notes, updated_at = :updated_at, completed_at = :completed_at
WHERE seq = :seq

-- parent --
-- Row number of a task of the same project.
SELECT seq FROM task WHERE id = :id AND project_id IS :project_id AND {../../db/sqlite/intact.task}

-- is_part --
-- Test if one task is the other, or a subtask of it at any depth.
WITH RECURSIVE above (seq) AS (
    VALUES (:seq)
    UNION
    SELECT task.parent_seq FROM above JOIN task ON task.seq = above.seq WHERE task.parent_seq IS NOT NULL
)
SELECT EXISTS (SELECT 1 FROM above WHERE seq = :whole)

-- parts --
-- The task itself first, then its subtasks at any depth.
WITH RECURSIVE below (seq) AS (
    VALUES (:seq)
    UNION
    SELECT task.seq FROM below JOIN task ON task.parent_seq = below.seq
)
SELECT {columns} FROM task JOIN below ON below.seq = task.seq WHERE {../../db/sqlite/intact.task} ORDER BY task.seq <> :seq, task.seq

-- erase --
-- Delete a task with its subtasks.
DELETE FROM task WHERE seq = :seq

-- planned --
-- Count the tasks, goals and milestones of a client.
SELECT (SELECT count(*) FROM task WHERE client = :client)
    + (SELECT count(*) FROM goal WHERE client = :client)
    + (SELECT count(*) FROM milestone WHERE client = :client)

-- count_tasks --
-- How many tasks there are.
SELECT count(*) FROM task

-- count_goals --
-- How many goals there are.
SELECT count(*) FROM goal

-- tasks --
-- Every task, each after the one that it is a part of.
WITH RECURSIVE below (seq, depth) AS (
    SELECT seq, 0 FROM task WHERE parent_seq IS NULL
    UNION ALL
    SELECT task.seq, below.depth + 1 FROM below JOIN task ON task.parent_seq = below.seq
)
SELECT {../tasks/queries.columns} FROM below JOIN task ON task.seq = below.seq ORDER BY below.depth, task.seq

-- goals --
-- Every goal in the order kept.
SELECT {../tasks/goal_queries.columns} FROM goal ORDER BY goal.seq

-- known --
-- Those of these ids that tasks, goals and milestones have.
SELECT id FROM task WHERE id IN (SELECT value FROM json_each(:ids))
UNION ALL
SELECT id FROM goal WHERE id IN (SELECT value FROM json_each(:ids))
UNION ALL
SELECT id FROM milestone WHERE id IN (SELECT value FROM json_each(:ids))

-- parent --
-- The place of the task that one is a part of.
SELECT seq FROM task WHERE id = :parent_id AND project_id IS :project_id

-- goal_place --
-- The place of a goal.
SELECT seq FROM goal WHERE id = :id

-- stage --
-- Let one wait.
INSERT INTO incoming_plan (import_id, content) VALUES (:import_id, :content)

-- staged --
-- Those that wait, in their order, some at a time.
SELECT seq, content FROM incoming_plan WHERE import_id = :import_id AND seq > :after ORDER BY seq LIMIT 500

-- erase_tasks --
-- Erase all tasks.
DELETE FROM task

-- erase_goals --
-- Erase all goals, and with them their milestones.
DELETE FROM goal

-- clear --
-- What is not of this import, or not of one that goes on, waits for nothing.
DELETE FROM incoming_plan
WHERE import_id = :import_id OR import_id NOT IN (SELECT id FROM job WHERE ended_at IS NULL)

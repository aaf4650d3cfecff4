-- count_tasks --
-- Count the tasks.
SELECT count(*) FROM task

-- count_goals --
-- Count the goals.
SELECT count(*) FROM goal

-- tasks --
-- Every task, parents before children.
WITH RECURSIVE below (seq, depth) AS (
    SELECT seq, 0 FROM task WHERE parent_seq IS NULL
    UNION ALL
    SELECT task.seq, below.depth + 1 FROM below JOIN task ON task.parent_seq = below.seq
)
SELECT {../tasks/queries.columns} FROM below JOIN task ON task.seq = below.seq WHERE {../../db/sqlite/intact.task} ORDER BY below.depth, task.seq

-- goals --
-- Every goal in insertion order.
SELECT {../tasks/goal_queries.columns} FROM goal WHERE {../../db/sqlite/intact.goal} ORDER BY goal.seq

-- known --
-- The given ids that exist as task, goal or milestone.
SELECT id FROM task WHERE id IN (SELECT value FROM json_each(:ids))
UNION ALL
SELECT id FROM goal WHERE id IN (SELECT value FROM json_each(:ids))
UNION ALL
SELECT id FROM milestone WHERE id IN (SELECT value FROM json_each(:ids))

-- parent --
-- Row number of the parent task.
SELECT seq FROM task WHERE id = :parent_id AND project_id IS :project_id

-- goal_place --
-- Row number of a goal.
SELECT seq FROM goal WHERE id = :id

-- stage --
-- Stage one task or goal.
INSERT INTO incoming_plan (import_id, content) VALUES (:import_id, :content)

-- staged --
-- The next staged tasks and goals in order.
SELECT seq, content FROM incoming_plan WHERE import_id = :import_id AND seq > :after AND +seq > :after ORDER BY seq LIMIT 500

-- erase_tasks --
-- Delete all tasks.
DELETE FROM task

-- erase_goals --
-- Delete all goals with their milestones.
DELETE FROM goal

-- clear --
-- Drop staged plans of this import and of imports whose jobs have ended.
DELETE FROM incoming_plan
WHERE import_id = :import_id OR import_id NOT IN (SELECT id FROM job WHERE ended_at IS NULL)

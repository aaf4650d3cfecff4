-- columns --
-- Columns of a goal without its milestones, in the order that `rows._goal_from` expects.
goal.seq, goal.id, goal.project_id, goal.title, goal.description, goal.status, goal.rank, goal.success_criteria,
goal.given_progress, goal.client, goal.created_at, goal.updated_at, goal.completed_at

-- visible --
-- Goals of the caller's project, and global ones.
(goal.project_id IS NULL OR goal.project_id = :project)

-- matches_filter --
-- Goals that match the filter.
(:status IS NULL OR goal.status = :status)
AND (:rank IS NULL OR goal.rank = :rank)
AND (:all OR :status IS NOT NULL OR goal.status NOT IN ('completed', 'abandoned'))

-- add --
-- Insert a goal.
INSERT INTO goal (
    id, project_id, title, description, status, rank, success_criteria, given_progress, client, created_at, updated_at,
    completed_at
)
VALUES (
    :id, :project_id, :title, :description, :status, :rank, :success_criteria, :given_progress, :client, :created_at,
    :updated_at, :completed_at
)

-- get --
-- Read a visible goal.
SELECT {columns} FROM goal WHERE goal.id = :id AND {visible} AND {../../db/sqlite/intact.goal}

-- of_milestone --
-- Read the goal of a milestone, if it is visible and has the given id.
SELECT {columns} FROM goal
WHERE goal.seq = (SELECT goal_seq FROM milestone WHERE milestone.id = :milestone AND {../../db/sqlite/intact.milestone})
    AND (:id IS NULL OR goal.id = :id) AND {visible} AND {../../db/sqlite/intact.goal}

-- page --
-- One page of goals after a position.
SELECT {columns} FROM goal
WHERE {visible} AND {matches_filter} AND {../../db/sqlite/intact.goal}
    AND (:after_rank IS NULL OR goal.rank < :after_rank OR (goal.rank = :after_rank AND goal.seq > :after_seq))
ORDER BY goal.rank DESC, goal.seq
LIMIT :limit OFFSET :offset

-- count --
-- Count all matching goals.
SELECT count(*) FROM goal WHERE {visible} AND {matches_filter}

-- change --
-- Update the changeable columns.
UPDATE goal
SET title = :title, description = :description, status = :status, rank = :rank, success_criteria = :success_criteria,
    given_progress = :given_progress, updated_at = :updated_at, completed_at = :completed_at
WHERE seq = :seq

-- erase --
-- Delete a goal with its milestones.
DELETE FROM goal WHERE seq = :seq

-- milestones --
-- Milestones of these goals in insertion order.
SELECT goal_seq, id, title, weight, client, created_at, completed_at
FROM milestone
WHERE goal_seq IN (SELECT value FROM json_each(:goals)) AND {../../db/sqlite/intact.milestone}
ORDER BY seq

-- add_milestone --
-- Insert a milestone.
INSERT INTO milestone (id, goal_seq, title, weight, client, created_at, completed_at)
VALUES (:id, :goal_seq, :title, :weight, :client, :created_at, :completed_at)

-- complete_milestone --
-- Complete a milestone; the first completion time is kept.
UPDATE milestone SET completed_at = coalesce(completed_at, :at) WHERE id = :milestone

-- erase_milestone --
-- Delete a milestone.
DELETE FROM milestone WHERE id = :milestone

-- touch --
-- Update a goal's modification time.
UPDATE goal SET updated_at = :at WHERE seq = :seq

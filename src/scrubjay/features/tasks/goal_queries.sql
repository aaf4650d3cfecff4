-- columns --
-- A goal's fields without its milestones, in the order in which `planning._goal_from` takes them.
goal.seq, goal.id, goal.project_id, goal.title, goal.description, goal.status, goal.rank, goal.success_criteria,
goal.given_progress, goal.client, goal.created_at, goal.updated_at, goal.completed_at

-- visible --
-- What is of the asker's project, or of none.
(goal.project_id IS NULL OR goal.project_id = :project)

-- asked_for --
-- What a filter lets through.
(:status IS NULL OR goal.status = :status)
AND (:rank IS NULL OR goal.rank = :rank)
AND (:all OR :status IS NOT NULL OR goal.status NOT IN ('completed', 'abandoned'))

-- add --
-- Keep a goal.
INSERT INTO goal (
    id, project_id, title, description, status, rank, success_criteria, given_progress, client, created_at, updated_at,
    completed_at
)
VALUES (
    :id, :project_id, :title, :description, :status, :rank, :success_criteria, :given_progress, :client, :created_at,
    :updated_at, :completed_at
)

-- get --
-- A goal that the asker can see.
SELECT {columns} FROM goal WHERE goal.id = :id AND {visible}

-- of_milestone --
-- The goal of a milestone, if the asker can see it, and it is the one that is meant.
SELECT {columns} FROM goal
WHERE goal.seq = (SELECT goal_seq FROM milestone WHERE milestone.id = :milestone)
    AND (:id IS NULL OR goal.id = :id) AND {visible}

-- page --
-- Goals in their order, behind a place.
SELECT {columns} FROM goal
WHERE {visible} AND {asked_for}
    AND (:after_rank IS NULL OR goal.rank < :after_rank OR (goal.rank = :after_rank AND goal.seq > :after_seq))
ORDER BY goal.rank DESC, goal.seq
LIMIT :limit OFFSET :offset

-- count --
-- How many there are of them.
SELECT count(*) FROM goal WHERE {visible} AND {asked_for}

-- change --
-- Write what may be another.
UPDATE goal
SET title = :title, description = :description, status = :status, rank = :rank, success_criteria = :success_criteria,
    given_progress = :given_progress, updated_at = :updated_at, completed_at = :completed_at
WHERE seq = :seq

-- erase --
-- Erase a goal, and with it its milestones.
DELETE FROM goal WHERE seq = :seq

-- milestones --
-- The milestones of goals, in the order in which they were made.
SELECT goal_seq, id, title, weight, client, created_at, completed_at
FROM milestone
WHERE goal_seq IN (SELECT value FROM json_each(:goals))
ORDER BY seq

-- add_milestone --
-- Keep a milestone.
INSERT INTO milestone (id, goal_seq, title, weight, client, created_at, completed_at)
VALUES (:id, :goal_seq, :title, :weight, :client, :created_at, :completed_at)

-- complete_milestone --
-- Complete a milestone; the first time holds.
UPDATE milestone SET completed_at = coalesce(completed_at, :at) WHERE id = :milestone

-- erase_milestone --
-- Erase a milestone.
DELETE FROM milestone WHERE id = :milestone

-- touch --
-- Note that something of a goal was changed.
UPDATE goal SET updated_at = :at WHERE seq = :seq

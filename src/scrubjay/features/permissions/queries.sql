-- columns --
-- Columns of a rule, in the order that `rows._rule` expects.
id, effect, tool_name, match_type, pattern, field, project_id, note, created_at, created_by

-- add --
-- Insert a rule unless an identical one exists.
INSERT INTO permission_rule (id, effect, tool_name, match_type, pattern, field, project_id, note, created_at, created_by)
VALUES (:id, :effect, :tool_name, :match_type, :pattern, :field, :project_id, :note, :created_at, :created_by)
ON CONFLICT DO NOTHING

-- same --
-- Read the identical rule.
SELECT {columns} FROM permission_rule
WHERE effect = :effect AND tool_name = :tool_name AND match_type = :match_type AND pattern = :pattern
    AND field IS :field AND project_id IS :project_id AND {../../db/sqlite/intact.permission_rule}

-- of_project --
-- Rules of a project and global ones, newest first.
SELECT {columns} FROM permission_rule WHERE (project_id IS NULL OR project_id = :project_id) AND {../../db/sqlite/intact.permission_rule} ORDER BY seq DESC

-- holding_at --
-- Rules that apply in a folder, given its path and all parent paths, newest first.
SELECT {columns} FROM permission_rule
WHERE project_id IS NULL
    OR project_id IN (SELECT project.id FROM project WHERE project.path IN (SELECT value FROM json_each(:paths)))
ORDER BY seq DESC

-- damaged --
-- A row if a rule, or a folder for which rules were made, is damaged: then it is not known which rules apply.
SELECT 1 FROM permission_rule WHERE NOT {../../db/sqlite/intact.permission_rule}
UNION ALL
SELECT 1 FROM project WHERE EXISTS (SELECT 1 FROM permission_rule WHERE project_id IS NOT NULL) AND NOT {../../db/sqlite/intact.project}
LIMIT 1

-- count --
-- Count all rules, or those of one match type.
SELECT count(*) FROM permission_rule WHERE :match_type IS NULL OR match_type = :match_type

-- get --
-- Read the rule with this id.
SELECT {columns} FROM permission_rule WHERE id = :id AND {../../db/sqlite/intact.permission_rule}

-- remove --
-- Remove a rule.
DELETE FROM permission_rule WHERE id = :id

-- columns --
-- A rule's fields, in the order in which `rule_from` takes them.
id, effect, tool_name, match_type, pattern, field, project_id, note, created_at, created_by

-- add --
-- Keep a rule, unless the same one is kept.
INSERT INTO permission_rule (id, effect, tool_name, match_type, pattern, field, project_id, note, created_at, created_by)
VALUES (:id, :effect, :tool_name, :match_type, :pattern, :field, :project_id, :note, :created_at, :created_by)
ON CONFLICT DO NOTHING

-- same --
-- The rule that says the same.
SELECT {columns} FROM permission_rule
WHERE effect = :effect AND tool_name = :tool_name AND match_type = :match_type AND pattern = :pattern
    AND field IS :field AND project_id IS :project_id

-- of_project --
-- The rules of a project and those of all; those made last first.
SELECT {columns} FROM permission_rule WHERE project_id IS NULL OR project_id = :project_id ORDER BY seq DESC

-- holding_at --
-- The rules that hold in a folder, given the paths of it and of all that it is in; those made last first.
SELECT {columns} FROM permission_rule
WHERE project_id IS NULL
    OR project_id IN (SELECT project.id FROM project WHERE project.path IN (SELECT value FROM json_each(:paths)))
ORDER BY seq DESC

-- count --
-- How many rules there are, all or of one kind.
SELECT count(*) FROM permission_rule WHERE :match_type IS NULL OR match_type = :match_type

-- get --
-- The rule with this id.
SELECT {columns} FROM permission_rule WHERE id = :id

-- remove --
-- Remove a rule.
DELETE FROM permission_rule WHERE id = :id

-- columns --
-- A project's fields, in the order in which `rows.project_from` takes them.
project.id, project.path, project.name, project.created_at

-- add --
-- Make a project.
INSERT INTO project (id, path, name, created_at) VALUES (:id, :path, :name, :created_at)

-- rename --
-- Give a project another name.
UPDATE project SET name = :name WHERE path = :path

-- get --
-- The project with this id.
SELECT {columns} FROM project WHERE id = :id

-- at --
-- The project at this path.
SELECT {columns} FROM project WHERE path = :path

-- named --
-- The projects with this name, the one made last first.
SELECT {columns} FROM project WHERE name = :name ORDER BY seq DESC

-- all --
-- All projects, the one made last first.
SELECT {columns} FROM project ORDER BY seq DESC

-- activate --
-- Note which project a client works in from now on; the last one noted holds, also when the clock was put back.
INSERT INTO client_project (client, since, project_id)
SELECT :client, max(:now, coalesce(max(since) + 1, 0)), :id
FROM client_project
WHERE client = :client
HAVING :id IS NOT (SELECT project_id FROM client_project WHERE client = :client ORDER BY since DESC LIMIT 1)

-- active --
-- The project that a client works in.
SELECT {columns}
FROM client_project JOIN project ON project.id = client_project.project_id
WHERE client_project.client = :client
ORDER BY client_project.since DESC
LIMIT 1

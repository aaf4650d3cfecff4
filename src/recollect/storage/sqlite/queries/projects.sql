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
-- Note which project a client works in.
INSERT INTO client_project (client, project_id) VALUES (:client, :id)
ON CONFLICT (client) DO UPDATE SET project_id = excluded.project_id

-- active --
-- The project that a client works in.
SELECT {columns}
FROM client_project JOIN project ON project.id = client_project.project_id
WHERE client_project.client = :client

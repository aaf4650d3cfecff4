-- columns --
-- Columns of a project, in the order that `rows.project_from` expects.
project.id, project.path, project.name, project.created_at

-- add --
-- Insert a project.
INSERT INTO project (id, path, name, created_at) VALUES (:id, :path, :name, :created_at)

-- rename --
-- Rename a project.
UPDATE project SET name = :name WHERE path = :path

-- set_by_owner --
-- Record that the owner set the project at this path.
UPDATE project SET set_by_owner = 1 WHERE path = :path

-- paths_of_owner --
-- Folders of the projects that the owner set.
SELECT path FROM project WHERE set_by_owner AND {../../db/sqlite/intact.project} ORDER BY seq

-- get --
-- Read the project with this id.
SELECT {columns} FROM project WHERE id = :id AND {../../db/sqlite/intact.project}

-- at --
-- Read the project at this path.
SELECT {columns} FROM project WHERE path = :path AND {../../db/sqlite/intact.project}

-- named --
-- Projects with this name, newest first.
SELECT {columns} FROM project WHERE name = :name AND {../../db/sqlite/intact.project} ORDER BY seq DESC

-- all --
-- All projects, newest first.
SELECT {columns} FROM project WHERE {../../db/sqlite/intact.project} ORDER BY seq DESC

-- activate --
-- Set a client's active project; the last insert wins, even if the clock was set back.
INSERT INTO client_project (client, since, project_id)
SELECT :client, max(:now, coalesce(max(since) + 1, 0)), :id
FROM client_project
WHERE client = :client
HAVING :id IS NOT (SELECT project_id FROM client_project WHERE client = :client ORDER BY since DESC LIMIT 1)

-- active --
-- Read a client's active project.
SELECT {columns}
FROM client_project JOIN project ON project.id = client_project.project_id
WHERE client_project.client = :client AND {../../db/sqlite/intact.project}
ORDER BY client_project.since DESC
LIMIT 1

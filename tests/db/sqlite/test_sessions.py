"""Data about clients survives the migration of an older store."""

from pathlib import Path

from scrubjay.app.sqlite_store import DATABASE, SqliteStore
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.schema import load_migrations, migrate


async def test_053_clients_of_an_older_store_keep_their_active_project(empty_home: Path) -> None:
    steps = load_migrations()
    before = next(step.version for step in steps if step.name == "sessions") - 1
    connection = Connection(empty_home / DATABASE, 1.0)
    migrate(connection, steps[:before])
    connection.execute("INSERT INTO project (id, path, name, created_at) VALUES ('prj_1', '/apollo', 'apollo', 0)")
    connection.execute("INSERT INTO client_project (client, project_id) VALUES ('ada', 'prj_1')")
    connection.close()
    store = await SqliteStore.open(empty_home)
    try:
        project = await store.projects.active("ada")
        assert project is not None
        assert (project.id, project.path) == ("prj_1", "/apollo")
        other = await store.projects.ensure("/gemini", None)
        await store.projects.activate("ada", other.id)
        assert await store.projects.active("ada") == other
        assert (await store.check()).problems == []
    finally:
        await store.close()

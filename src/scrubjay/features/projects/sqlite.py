"""Projects in SQLite."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import Any

from scrubjay.core.clock import Clock
from scrubjay.core.errors import NotFound
from scrubjay.core.ids import new_id
from scrubjay.db.sqlite.columns import microseconds
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.projects.models import Project
from scrubjay.features.projects.rows import project_from

_SQL = load_queries(__file__)


class SqliteProjects:
    """Implements `ProjectStore`."""

    def __init__(self, writer: Writer, readers: Readers, clock: Clock) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock

    async def ensure(self, path: str, name: str | None, *, by_owner: bool = False) -> Project:
        return await self._writer.write(lambda connection: self._ensure(connection, path, name, by_owner=by_owner))

    async def get(self, project_id: str) -> Project | None:
        return await self._one("get", {"id": project_id})

    async def get_by_path(self, path: str) -> Project | None:
        return await self._one("at", {"path": path})

    async def find_by_name(self, name: str) -> Sequence[Project]:
        return await self._all("named", {"name": name})

    async def list(self) -> Sequence[Project]:
        return await self._all("all", {})

    async def paths_of_owner(self) -> Sequence[str]:
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["paths_of_owner"]))
        return [path for (path,) in rows]

    async def activate(self, client: str, project_id: str) -> None:
        def work(connection: Connection) -> None:
            if _projects(connection, "get", {"id": project_id}) == []:
                raise NotFound(f"project {project_id[:80]!r} not found", hint="call list_projects to see all projects")
            now = microseconds(self._clock())
            connection.execute(_SQL["activate"], {"client": client, "id": project_id, "now": now})

        await self._writer.write(work)

    async def active(self, client: str) -> Project | None:
        return await self._one("active", {"client": client})

    def _ensure(self, connection: Connection, path: str, name: str | None, *, by_owner: bool) -> Project:
        existing = _projects(connection, "at", {"path": path})
        if not existing:
            made = {
                "id": new_id("prj"),
                "path": path,
                "name": name or PurePath(path).name or path,
                "created_at": microseconds(self._clock()),
            }
            connection.execute(_SQL["add"], made)
        elif name is not None and name != existing[0].name:
            connection.execute(_SQL["rename"], {"path": path, "name": name})
        if by_owner:
            connection.execute(_SQL["set_by_owner"], {"path": path})
        return _projects(connection, "at", {"path": path})[0]

    async def _one(self, query: str, values: Mapping[str, Any]) -> Project | None:
        found = await self._all(query, values)
        return found[0] if found else None

    async def _all(self, query: str, values: Mapping[str, Any]) -> Sequence[Project]:
        work = partial(_projects, query=query, values=values)
        return await self._readers.read_inline(work, is_one_statement=True)


def _projects(connection: Connection, query: str, values: Mapping[str, Any]) -> list[Project]:
    return [project_from(row) for row in connection.execute(_SQL[query], values)]

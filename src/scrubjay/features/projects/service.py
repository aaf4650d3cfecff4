"""Which project a caller works in."""

import os
from collections.abc import Sequence
from pathlib import Path

from scrubjay.core.errors import Conflict, InvalidRequest, NotFound
from scrubjay.core.suggestions import nearest_names
from scrubjay.features.projects.models import Project
from scrubjay.features.projects.store import ProjectStore


class ProjectService:
    """Keeps projects, and remembers for each client that can be told from others the one it works in."""

    def __init__(self, store: ProjectStore, *, default_path: Path | None = None, own_client: str | None = None) -> None:
        """`own_client` is served by this process alone, so what it chose need not be read again for each call."""
        self._store = store
        self._default_path = default_path
        self._own_client = own_client
        self._own_project: Project | None = None

    async def set(self, path: str, name: str | None, client: str | None, working_directory: str | None) -> Project:
        """The project at this path, made when new, and from now on the client's own."""
        project = await self._store.ensure(_resolved(path, working_directory), name)
        if client is not None:
            await self._store.activate(client, project.id)
        if client is not None and client == self._own_client:
            self._own_project = project
        return project

    async def active(self, client: str | None) -> Project | None:
        """The project that this client works in: the one it set, or else the one the server was started for."""
        if client is not None and client == self._own_client:
            chosen = self._own_project  # nobody else can have chosen for it
        else:
            chosen = await self._store.active(client) if client is not None else None
        if chosen is not None:
            return chosen
        if self._default_path is not None:
            path = _resolved(str(self._default_path), None)
            return await self._store.at(path) or await self._store.ensure(path, None)
        return None

    async def find(self, reference: str, working_directory: str | None = None, *, make: bool = False) -> Project:
        """The project that an id, a path or an unmistakable name stands for; `make` one for a new absolute path."""
        if project := await self._store.get(reference):
            return project
        named = await self._store.named(reference)
        if len(named) == 1:
            return named[0]
        if named:
            raise Conflict(
                f"{len(named)} projects are called {reference!r}",
                hint="give the path or the id of the one you mean",
                details={"projects": [{"id": project.id, "path": project.path} for project in named]},
            )
        is_path = Path(reference).is_absolute() or working_directory is not None
        if is_path and (project := await self._store.at(_resolved(reference, working_directory))):
            return project
        if make and Path(reference).is_absolute():
            return await self._store.ensure(_resolved(reference, None), None)
        known = await self._store.list()
        near = nearest_names(reference, [name for project in known for name in (project.name, project.path)])
        raise NotFound(
            f"there is no project {reference[:200]!r}",
            hint=f"did you mean {' or '.join(near)}?" if near else "set_project makes one; list_projects shows all",
            details={"nearest": near},
        )

    async def list(self) -> Sequence[Project]:
        return await self._store.list()


def _resolved(path: str, working_directory: str | None) -> str:
    """The absolute path without links or dots, so that one folder is always one project."""
    # Not Path.expanduser, which raises for a user that does not exist; such a name is then just a name.
    given = os.path.expanduser(path)  # noqa: PTH111
    if working_directory is not None:
        given = os.path.join(working_directory, given)  # noqa: PTH118
    elif not os.path.isabs(path):  # noqa: PTH117
        raise InvalidRequest(f"{path!r} is not an absolute path", hint="give the whole path of the project's folder")
    return os.path.realpath(given)

"""Projects, and the active project of each client."""

import os
from collections.abc import Sequence
from pathlib import Path

from scrubjay.core.errors import Conflict, InvalidRequest, NotFound
from scrubjay.core.suggestions import nearest_names
from scrubjay.features.projects.models import Project
from scrubjay.features.projects.store import ProjectStore


class ProjectService:
    """Finds and creates projects, and stores the active project of each identifiable client."""

    def __init__(self, store: ProjectStore, *, default_path: Path | None = None, own_client: str | None = None) -> None:
        """`own_client` is served only by this process, so its active project is cached."""
        self._store = store
        self._default_path = default_path
        self._own_client = own_client
        self._own_project: Project | None = None

    async def set(
        self,
        path: str,
        name: str | None,
        client: str | None,
        working_directory: str | None,
        *,
        by_owner: bool = False,
    ) -> Project:
        """Return the project at this path, created if new, and make it the client's active one.

        Callers with a key may index the code of projects that were set with `by_owner`.
        """
        project = await self._store.ensure(_resolved(path, working_directory), name, by_owner=by_owner)
        if client is not None:
            await self._store.activate(client, project.id)
        if client is not None and client == self._own_client:
            self._own_project = project
        return project

    async def active(self, client: str | None) -> Project | None:
        """Return the client's active project: the one it set, else the one the server was started for."""
        if client is not None and client == self._own_client:
            chosen = self._own_project  # no other process can have changed it
        else:
            chosen = await self._store.active(client) if client is not None else None
        if chosen is not None:
            return chosen
        if self._default_path is not None:
            path = _resolved(str(self._default_path), None)
            return await self._store.get_by_path(path) or await self._store.ensure(path, None)
        return None

    async def find(self, reference: str, working_directory: str | None = None, *, make: bool = False) -> Project:
        """Return the project with this id, path or unique name; `make` creates one for a new absolute path.

        Raise `NotFound` if there is none, `Conflict` if several have the name.
        """
        if project := await self._store.get(reference):
            return project
        named = await self._store.find_by_name(reference)
        if len(named) == 1:
            return named[0]
        if named:
            raise Conflict(
                f"{len(named)} projects are named {reference!r}",
                hint="use the path or the id",
                details={"projects": [{"id": project.id, "path": project.path} for project in named]},
            )
        is_path = Path(reference).is_absolute() or working_directory is not None
        if is_path and (project := await self._store.get_by_path(_resolved(reference, working_directory))):
            return project
        if make and Path(reference).is_absolute():
            return await self._store.ensure(_resolved(reference, None), None)
        known = await self._store.list()
        near = nearest_names(reference, [name for project in known for name in (project.name, project.path)])
        raise NotFound(
            f"project {reference[:200]!r} not found",
            hint=f"did you mean {' or '.join(near)}?"
            if near
            else "create it with set_project, or call list_projects to see all",
            details={"nearest": near},
        )

    async def list(self) -> Sequence[Project]:
        return await self._store.list()


def _resolved(path: str, working_directory: str | None) -> str:
    """Return the absolute path without links or dots, so that one folder is always one project."""
    # Not Path.expanduser, which raises for an unknown user; such a name is then taken literally.
    given = os.path.expanduser(path)  # noqa: PTH111
    if working_directory is not None:
        given = os.path.join(working_directory, given)  # noqa: PTH118
    elif not os.path.isabs(path):  # noqa: PTH117
        raise InvalidRequest(f"{path!r} is not an absolute path", hint="use the absolute path of the project's folder")
    return os.path.realpath(given)

"""Interface that a store backend implements for projects."""

from collections.abc import Sequence
from typing import Protocol

from scrubjay.features.projects.models import Project


class ProjectStore(Protocol):
    """Stores projects, and the active project of each client."""

    async def ensure(self, path: str, name: str | None, *, by_owner: bool = False) -> Project:
        """Return the project at this path, created if new; the default name is the last path part, `name` renames.

        `by_owner` records that the owner set it; nothing takes that back.
        """
        ...

    async def get(self, project_id: str) -> Project | None: ...

    async def get_by_path(self, path: str) -> Project | None: ...

    async def find_by_name(self, name: str) -> Sequence[Project]:
        """Return all projects with this name, newest first."""
        ...

    async def list(self) -> Sequence[Project]:
        """Return all projects, newest first."""
        ...

    async def paths_of_owner(self) -> Sequence[str]:
        """Return the folders of the projects that the owner set."""
        ...

    async def activate(self, client: str, project_id: str) -> None:
        """Make the project the client's active one; raise `NotFound` if it does not exist."""
        ...

    async def active(self, client: str) -> Project | None: ...

"""What a backend must offer to keep projects."""

from collections.abc import Sequence
from typing import Protocol

from recollect.domain.projects import Project


class ProjectStore(Protocol):
    """Keeps projects, and which one each client works in."""

    async def ensure(self, path: str, name: str | None) -> Project:
        """The project at this path, made when new; a given name replaces the one it has."""
        ...

    async def get(self, project_id: str) -> Project | None: ...

    async def at(self, path: str) -> Project | None: ...

    async def named(self, name: str) -> Sequence[Project]: ...

    async def list(self) -> Sequence[Project]:
        """All projects, most recently made first."""
        ...

    async def activate(self, client: str, project_id: str) -> None:
        """From now on this client works in that project."""
        ...

    async def active(self, client: str) -> Project | None: ...

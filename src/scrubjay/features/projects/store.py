"""What a backend must offer to keep projects."""

from collections.abc import Sequence
from typing import Protocol

from scrubjay.features.projects.models import Project


class ProjectStore(Protocol):
    """Keeps projects, and which one each client works in."""

    async def ensure(self, path: str, name: str | None) -> Project:
        """The project at this path, made when new and named after its last part; a given name replaces what it has."""
        ...

    async def get(self, project_id: str) -> Project | None: ...

    async def at(self, path: str) -> Project | None: ...

    async def named(self, name: str) -> Sequence[Project]:
        """All projects of this name, most recently made first."""
        ...

    async def list(self) -> Sequence[Project]:
        """All projects, most recently made first."""
        ...

    async def activate(self, client: str, project_id: str) -> None:
        """From now on this client works in that project; `NotFound` when there is none."""
        ...

    async def active(self, client: str) -> Project | None: ...

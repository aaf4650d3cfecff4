"""Storage interface of the links between memories and code. New links are written with their memories."""

from collections.abc import Sequence
from typing import Protocol

from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.links import CodeLink
from scrubjay.features.memory.models import Memory


class LinkStore(Protocol):
    """Reads and replaces the links of valid memories. Memories are returned with their links."""

    async def linked(self, visibility: Visibility, memory_ids: Sequence[str] | None = None) -> Sequence[Memory]:
        """Return the visible memories with links, or those among these ids, first stored first."""
        ...

    async def linked_to(self, visibility: Visibility, root: str, paths: Sequence[str]) -> Sequence[Memory]:
        """Return the visible memories about these files of a repository, and those with pending links to it."""
        ...

    async def replace_links(
        self, visibility: Visibility, memory_id: str, before: Sequence[CodeLink], after: Sequence[CodeLink]
    ) -> bool:
        """Replace the links of a visible memory; return False and change nothing if they are no longer `before`."""
        ...

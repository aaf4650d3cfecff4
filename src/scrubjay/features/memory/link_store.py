"""What a backend must offer to look up and renew what ties memories to code. Links are written with their memories."""

from collections.abc import Sequence
from typing import Protocol

from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.links import CodeLink
from scrubjay.features.memory.models import Memory


class LinkStore(Protocol):
    """Memories come with their links, and only those that are held true."""

    async def linked(self, visibility: Visibility, memory_ids: Sequence[str] | None = None) -> Sequence[Memory]:
        """The visible memories, or those of these ids, that are about code, those kept first before the others."""
        ...

    async def linked_to(self, visibility: Visibility, root: str, paths: Sequence[str]) -> Sequence[Memory]:
        """The visible memories about these files of a repository, or about what could not be looked up in it yet."""
        ...

    async def exchange(
        self, visibility: Visibility, memory_id: str, before: Sequence[CodeLink], after: Sequence[CodeLink]
    ) -> bool:
        """Give a visible memory other links; False, with nothing changed, when it has not those any more."""
        ...

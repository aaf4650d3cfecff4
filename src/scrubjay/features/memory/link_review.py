"""What memory needs to know about the code that memories are about; `code_links` provides it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.link_state import Comparison
from scrubjay.features.memory.models import Memory


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A memory, and what has become of the code that it is about."""

    memory: Memory
    comparisons: Sequence[Comparison]

    @property
    def is_stale(self) -> bool:
        return any(one.is_stale for one in self.comparisons)


class LinkReviewer(Protocol):
    """Compares memories with the code that they are about."""

    async def review(self, memories: Sequence[Memory], visibility: Visibility) -> list[Reviewed]:
        """Compare the code of each of these memories, which come with their links, with the code as it is."""
        ...

    async def renew(self, memory_ids: Sequence[str], visibility: Visibility) -> list[Reviewed]:
        """Link those of these memories that are about code to the code as it is: their text has changed."""
        ...

    async def repository_root(self, given: str, working_directory: str | None) -> str:
        """Return the folder of a repository that is named by its path or by the id of an index of it."""
        ...

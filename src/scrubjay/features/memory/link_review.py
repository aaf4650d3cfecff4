"""Interface to the comparison of memories with their code; `code_links` implements it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.link_state import CodeLinkStatus, Comparison
from scrubjay.features.memory.models import Memory


@dataclass(frozen=True, slots=True)
class LinkReview:
    """A memory with the current state of its linked code."""

    memory: Memory
    comparisons: Sequence[Comparison]

    @property
    def is_stale(self) -> bool:
        return any(one.is_stale for one in self.comparisons)

    @property
    def warning(self) -> str | None:
        """What happened to the linked code, in words; None if the memory is not stale."""
        stale = next((one for one in self.comparisons if one.is_stale), None)
        if stale is None:
            return None
        fate = "was removed" if stale.status is CodeLinkStatus.GONE else "has changed"
        return f"may be out of date: {stale.link.name} {fate}"


class LinkReviewer(Protocol):
    """Compares memories with their linked code."""

    async def review(self, memories: Sequence[Memory], visibility: Visibility) -> list[LinkReview]:
        """Compare the links of these memories with the current code. The memories must have been read with links."""
        ...

    async def renew(self, memory_ids: Sequence[str], visibility: Visibility) -> list[LinkReview]:
        """Relink these memories to the current code, after a change of their content."""
        ...

    async def repository_root(self, given: str, working_directory: str | None, *, restricted: bool = False) -> str:
        """Return the folder of a repository, given its path or the id of its index; restricted callers hold a key."""
        ...

"""Interface to the comparison of memories with their code; `code_links` implements it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from scrubjay.core.callers import Caller
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.link_state import CodeLinkStatus, Comparison
from scrubjay.features.memory.models import Memory


@dataclass(frozen=True, slots=True)
class LinkReview:
    """A memory with the current state of its linked code."""

    memory: Memory
    comparisons: Sequence[Comparison]
    """Those of the code that the reader may read."""
    has_hidden_change: bool = False
    """True if other linked code has changed or is gone; which of the two is not disclosed."""

    @property
    def is_stale(self) -> bool:
        return self.has_hidden_change or any(one.is_stale for one in self.comparisons)

    def readable_by(self, may_read: Callable[[str], bool]) -> "LinkReview":
        """Return the review without the code of repositories that may not be read."""
        shown = [one for one in self.comparisons if may_read(one.link.root)]
        hidden = any(one.is_stale and not may_read(one.link.root) for one in self.comparisons)
        return replace(self, comparisons=shown, has_hidden_change=self.has_hidden_change or hidden)

    @property
    def warning(self) -> str | None:
        """What happened to the linked code, in words; None if the memory is not stale."""
        stale = next((one for one in self.comparisons if one.is_stale), None)
        if stale is None:
            return "may be out of date: code that it is about has changed" if self.has_hidden_change else None
        fate = "was removed" if stale.status is CodeLinkStatus.GONE else "has changed"
        return f"may be out of date: {stale.link.name} {fate}"


class LinkReviewer(Protocol):
    """Compares memories with their linked code."""

    async def review(self, memories: Sequence[Memory], visibility: Visibility, reader: Caller) -> list[LinkReview]:
        """Compare the links of these memories with the current code, for a reader.

        The memories must have been read with links.
        """
        ...

    async def renew(self, memory_ids: Sequence[str], visibility: Visibility) -> Sequence[Memory]:
        """Relink these memories to the current code, after a change of their content; return those about code."""
        ...

    async def readable_roots(self, reader: Caller) -> Callable[[str], bool]:
        """Return a function that says whether this caller may read the code of a repository, given its folder."""
        ...

    async def repository_root(self, given: str, working_directory: str | None, *, restricted: bool = False) -> str:
        """Return the folder of a repository, given its path or the id of its index; restricted callers hold a key."""
        ...

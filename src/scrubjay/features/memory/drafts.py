"""Drafts of memories, and the interface that finds the code which they are about."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from scrubjay.core.callers import ANONYMOUS, Caller
from scrubjay.core.scopes import Scope
from scrubjay.features.memory.links import CodeLink
from scrubjay.features.memory.models import MemoryContent


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft(MemoryContent):
    """A memory to write. `given` names the fields that the caller set; the others have defaults."""

    scope: Scope | None = None
    session_id: str | None = None
    about: tuple[str, ...] = ()
    """Names of the code it is about: paths, path::symbol or qualified names."""
    repository: str | None = None
    """Folder of that code; None means the folder of the project."""
    code_reader: Caller = ANONYMOUS
    """It is linked only to code that this caller may read: its author, or the owner if the server made it."""
    given: frozenset[str] = frozenset()


class DraftLinker(Protocol):
    """Finds the code that drafts are about. `code_links` implements it, because this feature has no code index."""

    async def links(self, drafts: Sequence[Draft], project_id: str | None) -> Sequence[tuple[CodeLink, ...]]:
        """Return the links of each draft to code of the project, by `about` and by names that its text mentions.

        Raise `Forbidden` for a draft with `about` if its `code_reader` may not read that code.
        """
        ...

"""Correction of wrong memories."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scrubjay.core.errors import NotFound
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.drafts import Draft
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryKind, Wording
from scrubjay.features.memory.service import MemoryService
from scrubjay.search_index.terms import terms

# Maximum number of memories that one call corrects.
MAX_CORRECTED = 200


@dataclass(frozen=True, slots=True)
class Correction:
    """A stored correction."""

    id: str
    corrected: Sequence[Memory]
    """The memories with the corrected content."""


class MemoryCorrector:
    """Replaces wrong words in memories and stores a memory about each correction."""

    def __init__(self, memories: MemoryService) -> None:
        self._memories = memories

    async def correct(
        self, *, wrong: str, right: str, memory_id: str | None, draft: Draft, project_id: str | None
    ) -> Correction:
        """Replace the wrong words in every memory that contains them, or in the given one, and store the correction.

        Raises `NotFound` and stores nothing if no memory contains them.
        """
        visibility = Visibility(project_id, draft.session_id)
        if memory_id is not None:
            found: Sequence[Memory] = [await self._memories.get(memory_id, visibility)]
        else:
            found = await self._find_wrong(wrong, visibility)
        contents = [_replace_wrong(memory.content, wrong, right) for memory in found]
        source = {**draft.provenance, "correction": {"what_was_wrong": wrong, "what_is_right": right}}
        corrected = [memory.id for memory in found]
        details = {"what_was_wrong": wrong, "what_is_right": right, "corrected": corrected}
        correction = replace(draft, content=f"{right} (and not: {wrong})", kind=MemoryKind.CORRECTION, details=details)
        outcomes, own = await self._memories.revise(
            found, contents, source, additional=correction, project_id=project_id
        )
        return Correction(own.memory.id, [outcome.memory for outcome in outcomes])

    async def _find_wrong(self, wrong: str, visibility: Visibility) -> Sequence[Memory]:
        """Return the valid memories that contain these words literally."""
        literally = MemoryFilter(containing=tuple((Wording((term,)),) for term in dict.fromkeys(terms(wrong))))
        page = await self._memories.page(visibility, literally, newest_first=True, limit=MAX_CORRECTED, offset=0)
        pattern = _wording_pattern(wrong)
        having = [
            memory
            for memory in page.memories
            if memory.kind is not MemoryKind.CORRECTION and pattern.search(memory.content)
        ]
        if not having:
            raise NotFound(
                "no visible memory contains these words",
                hint="use recall to find the memory, then give its words exactly as stored, or its id",
            )
        return having


def _replace_wrong(content: str, wrong: str, right: str) -> str:
    """Return the content with the wrong words replaced; only the right words if it does not contain the wrong ones."""
    changed, times = _wording_pattern(wrong).subn(lambda _: right, content)
    return changed if times else right


def _wording_pattern(wrong: str) -> re.Pattern[str]:
    """Return a pattern for these words in any case and with any white space between them."""
    return re.compile(r"(?<!\w)" + r"\s+".join(map(re.escape, wrong.split())) + r"(?!\w)", re.IGNORECASE)

"""Putting right what was remembered wrongly."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scrubjay.core.errors import NotFound
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.models import Kind, Memory, MemoryFilter, Wording
from scrubjay.features.memory.service import Draft, MemoryService
from scrubjay.search_index.terms import terms

# More memories with the very same wrong words are not put right in one call.
MOST = 200


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction that was made."""

    id: str
    corrected: Sequence[Memory]
    """As they are now."""


class Corrections:
    """Changes what memories say, and remembers that it did."""

    def __init__(self, memories: MemoryService) -> None:
        self._memories = memories

    async def correct(
        self, *, wrong: str, right: str, memory_id: str | None, draft: Draft, project_id: str | None
    ) -> Correction:
        """Let every memory with the wrong words (or the one named) say what is right, and keep the correction itself.

        `NotFound` when there is none; then nothing is kept either.
        """
        visibility = Visibility(project_id, draft.session_id)
        if memory_id is not None:
            found: Sequence[Memory] = [await self._memories.get(memory_id, visibility)]
        else:
            found = await self._having(wrong, visibility)
        contents = [_put_right(memory.content, wrong, right) for memory in found]
        source = {**draft.provenance, "correction": {"what_was_wrong": wrong, "what_is_right": right}}
        corrected = [memory.id for memory in found]
        details = {"what_was_wrong": wrong, "what_is_right": right, "corrected": corrected}
        kept = replace(draft, content=f"{right} (and not: {wrong})", kind=Kind.CORRECTION, details=details)
        outcomes, own = await self._memories.revise(found, contents, source, beside=kept, project_id=project_id)
        return Correction(own.memory.id, [outcome.memory for outcome in outcomes])

    async def _having(self, wrong: str, visibility: Visibility) -> Sequence[Memory]:
        """What is held true and has these very words."""
        wanted = MemoryFilter(containing=tuple((Wording((term,)),) for term in dict.fromkeys(terms(wrong))))
        page = await self._memories.page(visibility, wanted, newest_first=True, limit=MOST, offset=0)
        pattern = _pattern(wrong)
        having = [
            memory for memory in page.memories if memory.kind is not Kind.CORRECTION and pattern.search(memory.content)
        ]
        if not having:
            raise NotFound(
                "no memory here has the words that are said to be wrong",
                hint="recall what there is, and give the words as they were remembered, or the memory's id",
            )
        return having


def _put_right(content: str, wrong: str, right: str) -> str:
    """The content with the right words for the wrong ones; the right words alone when it has not the wrong ones."""
    changed, times = _pattern(wrong).subn(lambda _: right, content)
    return changed if times else right


def _pattern(wrong: str) -> re.Pattern[str]:
    """The very words, in whichever case and with whatever space between them."""
    return re.compile(r"(?<!\w)" + r"\s+".join(map(re.escape, wrong.split())) + r"(?!\w)", re.IGNORECASE)

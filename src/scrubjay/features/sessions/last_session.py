"""How an earlier session ended and what it left open, from its summary or, without one, from its turns."""

from typing import TYPE_CHECKING

import anyio.to_thread

from scrubjay.core.lazy import lazy_module
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryKind
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.summaries.endings import SessionEnding, ending_of_summary
from scrubjay.features.summaries.models import KEY_PREFIXES, Level

if TYPE_CHECKING:
    from scrubjay.features.summaries import selection
else:
    selection = lazy_module("scrubjay.features.summaries.selection")

# Turns that are read of a session without a summary: the first, and the latest.
LATEST_TURNS = 60


class SessionEndings:
    """Reads how sessions ended."""

    def __init__(self, memories: MemoryStore) -> None:
        self._memories = memories

    async def read(self, visibility: Visibility, session_id: str) -> SessionEnding | None:
        """Return the ending of a session; None if it has neither a summary nor turns with content."""
        of_summary = MemoryFilter(key=KEY_PREFIXES[Level.SESSION] + session_id, kinds=(MemoryKind.SUMMARY,))
        of_turns = MemoryFilter(from_session=session_id, kinds=(MemoryKind.TURN,))
        summaries = await self._memories.find(visibility, of_summary, 1)
        latest = await self._memories.page(visibility, of_turns, newest_first=True, limit=LATEST_TURNS, offset=0)
        if summaries and _covers(summaries[0], latest.total):
            return _from_summary(summaries[0])
        turns = [*reversed(latest.memories)]
        if latest.total > len(turns):
            first = await self._memories.page(visibility, of_turns, newest_first=False, limit=1, offset=0)
            turns = [*first.memories, *turns]
        if not turns:
            return _from_summary(summaries[0]) if summaries else None
        outcome = await anyio.to_thread.run_sync(selection.extract_outcome, [prompt_and_response(one) for one in turns])
        return SessionEnding(title=outcome.title, outcome=outcome) if outcome.lines else None


def prompt_and_response(turn: Memory) -> tuple[str, str]:
    """Return the two texts of a turn; one that was not stored by `add_memory` has one of them."""
    if "prompt" in turn.details or "response" in turn.details:
        return str(turn.details.get("prompt", "")), str(turn.details.get("response", ""))
    is_prompt = (turn.speaker or "").casefold() in ("user", "human")
    return (turn.content, "") if is_prompt else ("", turn.content)


def _covers(summary: Memory, turns: int) -> bool:
    """Return False for a summary of a session that continued after it."""
    covered = summary.details.get("turns", summary.details.get("memoryCount", turns))
    return not isinstance(covered, int) or covered >= turns


def _from_summary(summary: Memory) -> SessionEnding:
    return ending_of_summary(summary.content, summary.details)

"""Everything that is kept of one session, to take along."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.models import Memory, MemoryFilter
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.sessions.models import Session, ToolCall
from scrubjay.features.sessions.service import SessionService

# An answer is held in memory as a whole; a session of an agent has some hundreds.
MOST_EXPORTED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionExport:
    """What was called and what was remembered in a session, in the order of time."""

    calls: Sequence[ToolCall]
    memories: Sequence[Memory]
    complete: bool
    """Whether there is no more than this."""
    exported_at: datetime


class SessionExporter:
    """Gathers what is kept of sessions."""

    def __init__(self, sessions: SessionService, memories: MemoryStore, *, clock: Clock = system_clock) -> None:
        self._sessions = sessions
        self._memories = memories
        self._clock = clock

    async def export(self, session: Session, *, with_memories: bool = True) -> SessionExport:
        calls = await self._sessions.calls(session, newest_first=False, limit=MOST_EXPORTED)
        remembered = await self._memories.page(
            Visibility(session.project_id, session.id),
            MemoryFilter(from_session=session.id),
            newest_first=False,
            limit=MOST_EXPORTED if with_memories else 0,
            offset=0,
        )
        return SessionExport(
            calls=calls,
            memories=remembered.memories,
            complete=len(calls) >= session.calls and len(remembered.memories) >= remembered.total,
            exported_at=self._clock(),
        )

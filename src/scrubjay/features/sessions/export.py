"""Export one session with its calls and memories."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.models import Memory, MemoryFilter
from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.sessions.models import Session, ToolCall
from scrubjay.features.sessions.service import SessionService

# The result is held in memory as a whole. Sessions of agents usually have some hundreds of calls.
MAX_EXPORTED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedSession:
    """Calls and memories of a session, oldest first."""

    calls: Sequence[ToolCall]
    memories: Sequence[Memory]
    complete: bool
    """False when the session has more than `MAX_EXPORTED` calls or memories."""
    exported_at: datetime


class SessionExporter:
    """Reads the calls and memories of sessions."""

    def __init__(self, sessions: SessionService, memories: MemoryStore, *, clock: Clock = system_clock) -> None:
        self._sessions = sessions
        self._memories = memories
        self._clock = clock

    async def export(self, session: Session, *, with_memories: bool = True) -> ExportedSession:
        calls = await self._sessions.calls(session, newest_first=False, limit=MAX_EXPORTED)
        remembered = await self._memories.page(
            Visibility(session.project_id, session.id),
            MemoryFilter(from_session=session.id),
            newest_first=False,
            limit=MAX_EXPORTED if with_memories else 0,
            offset=0,
        )
        return ExportedSession(
            calls=calls,
            memories=remembered.memories,
            complete=len(calls) >= session.calls and len(remembered.memories) >= remembered.total,
            exported_at=self._clock(),
        )

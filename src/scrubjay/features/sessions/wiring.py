"""Assemble sessions: the service, the briefing at a session's start, and the export."""

from scrubjay.features.memory.store import MemoryStore
from scrubjay.features.sessions.briefing import BriefingService
from scrubjay.features.sessions.export import SessionExporter
from scrubjay.features.sessions.pending_writes import PendingWrites
from scrubjay.features.sessions.service import SessionService
from scrubjay.features.sessions.store import SessionStore
from scrubjay.features.summaries.store import SummaryStore
from scrubjay.features.tasks.goal_store import GoalStore
from scrubjay.features.tasks.store import TaskStore
from scrubjay.features.turns.connection_sessions import ConnectionSessions
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services
from scrubjay.tooling.wiring import Wiring

WIRING = Wiring()


@WIRING.provides
async def session_service(services: Services) -> SessionService:
    return SessionService(await services.get(SessionStore), services.ready(PendingWrites).flush)


@WIRING.provides
async def connection_sessions(services: Services) -> ConnectionSessions:
    return await services.get(SessionService)


@WIRING.provides
async def briefing_service(services: Services) -> BriefingService:
    return BriefingService(
        await services.get(SessionService),
        await services.get(MemoryStore),
        await services.get(TaskStore),
        await services.get(GoalStore),
        await services.get(SummaryStore),
        clock=services.ready(Runtime).clock,
    )


@WIRING.provides
async def session_exporter(services: Services) -> SessionExporter:
    sessions, memories = await services.get(SessionService), await services.get(MemoryStore)
    return SessionExporter(sessions, memories, clock=services.ready(Runtime).clock)

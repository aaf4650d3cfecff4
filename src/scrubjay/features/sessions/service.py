"""Which session a client is in, and what was done in it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime

from scrubjay.core.errors import NotFound
from scrubjay.core.scopes import Visibility
from scrubjay.core.suggestions import nearest_names
from scrubjay.features.projects.models import Project
from scrubjay.features.sessions.models import Session, ToolCall
from scrubjay.features.sessions.store import SessionStore


class SessionService:
    """The sessions of one store. Every question is about one project, or about what belongs to none."""

    def __init__(self, store: SessionStore, write_noted: Callable[[], Awaitable[None]]) -> None:
        """`write_noted` writes the calls that this process has noted, so that an answer misses none of them."""
        self._store = store
        self._write_noted = write_noted

    async def start(self, project: Project, client: str | None, session_id: str | None) -> tuple[Session, bool]:
        """From now on the client is in this session; whether it is one that goes on."""
        await self._write_noted()
        return await self._store.start(project.id, client, session_id)

    async def current(self, project_id: str | None, client: str | None) -> Session | None:
        """The session of this project that the client is in."""
        await self._write_noted()
        found = await self._store.current(client) if client is not None else None
        return found if found is not None and found.project_id == project_id else None

    async def get(self, project_id: str | None, session_id: str | None, client: str | None) -> Session:
        """The session of this id, or the client's own."""
        if session_id is None:
            if found := await self.current(project_id, client):
                return found
            raise NotFound(
                "this client is in no session of this project",
                hint="give a session_id (list_sessions shows them), or call session_start first",
            )
        await self._write_noted()
        if found := await self._store.get(project_id, session_id):
            return found
        near = nearest_names(session_id, [session.id for session in await self._store.list(project_id, 100)])
        raise NotFound(
            f"there is no session {session_id[:80]!r} in this project",
            hint=f"did you mean {' or '.join(near)}?" if near else "list_sessions shows those there are",
        )

    async def list(self, project_id: str | None, limit: int) -> Sequence[Session]:
        """The sessions of a project, the one that was active last first."""
        await self._write_noted()
        return await self._store.list(project_id, limit)

    async def summaries(self, visibility: Visibility, sessions: Sequence[Session]) -> Mapping[str, str]:
        """What was summed up of these sessions, by their ids, as far as the asker may see it."""
        return await self._store.summaries(visibility, [session.id for session in sessions])

    async def calls(self, session: Session, *, newest_first: bool, limit: int) -> Sequence[ToolCall]:
        return await self._store.calls(session.project_id, session.id, newest_first=newest_first, limit=limit)

    async def ended(
        self, project_id: str | None, after: datetime, until: datetime, *, newest_first: bool, limit: int
    ) -> Sequence[ToolCall]:
        """The calls of a project that ended after one moment and until another, by their ends."""
        await self._write_noted()
        return await self._store.ended(project_id, after, until, newest_first=newest_first, limit=limit)

    async def end(self, session: Session) -> Session:
        """End a session; one that was ended before stays as it was."""
        return await self._store.end(session.project_id, session.id) or session

    async def leave(self, client: str) -> None:
        """The client is gone for good: end the session that it was in, unless somebody else is in it now."""
        found = await self._store.current(client)
        if found is not None and found.client == client:
            await self._store.end(found.project_id, found.id)

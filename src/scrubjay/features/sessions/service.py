"""Start, find, list and end sessions, and read their calls."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime

from scrubjay.core.errors import NotFound
from scrubjay.core.scopes import Visibility
from scrubjay.core.suggestions import nearest_names
from scrubjay.features.projects.models import Project
from scrubjay.features.sessions.models import Session, ToolCall
from scrubjay.features.sessions.store import SessionStore


class SessionService:
    """Manages the sessions of one store. A `project_id` of None means sessions without a project."""

    def __init__(self, store: SessionStore, flush: Callable[[], Awaitable[None]]) -> None:
        """`flush` writes the buffered calls of this process; it runs before each read."""
        self._store = store
        self._flush = flush

    async def start(self, project: Project, client: str | None, session_id: str | None) -> tuple[Session, bool]:
        """Make a session the client's current one; return it, and True when it is resumed."""
        await self._flush()
        return await self._store.start(project.id, client, session_id)

    async def enter(self, project_id: str | None, client: str | None) -> str | None:
        """Return the id of the client's current session in this project, started if there is none.

        Implements `ConnectionSessions`. Buffered calls are not written first: a session that starts now also takes the
        calls of the last moments.
        """
        if client is None:
            return None
        if (found := await self._store.current_id(project_id, client)) is not None:
            return found
        started, _ = await self._store.start(project_id, client, None)
        return started.id

    async def current(self, project_id: str | None, client: str | None) -> Session | None:
        """Return the client's current session if it belongs to this project."""
        await self._flush()
        found = await self._store.current(client) if client is not None else None
        return found if found is not None and found.project_id == project_id else None

    async def get(self, project_id: str | None, session_id: str | None, client: str | None) -> Session:
        """Return the session with this id, by default the client's current one; `NotFound` when there is none."""
        if session_id is None:
            if found := await self.current(project_id, client):
                return found
            raise NotFound(
                "this client has no current session in this project",
                hint="pass a session_id (see list_sessions), or call session_start first",
            )
        await self._flush()
        if found := await self._store.get(project_id, session_id):
            return found
        near = nearest_names(session_id, [session.id for session in await self._store.list(project_id, 100)])
        raise NotFound(
            f"there is no session {session_id[:80]!r} in this project",
            hint=f"did you mean {' or '.join(near)}?" if near else "list_sessions shows the existing ones",
        )

    async def list(self, project_id: str | None, limit: int) -> Sequence[Session]:
        """Return the sessions of a project, most recently active first."""
        await self._flush()
        return await self._store.list(project_id, limit)

    async def summaries(self, visibility: Visibility, sessions: Sequence[Session]) -> Mapping[str, str]:
        """Return the visible summaries of these sessions by session id."""
        return await self._store.summaries(visibility, [session.id for session in sessions])

    async def calls(self, session: Session, *, newest_first: bool, limit: int) -> Sequence[ToolCall]:
        return await self._store.calls(session.project_id, session.id, newest_first=newest_first, limit=limit)

    async def calls_ended_between(
        self, project_id: str | None, after: datetime, until: datetime, *, newest_first: bool, limit: int
    ) -> Sequence[ToolCall]:
        """Return the calls of a project that ended after `after` and not after `until`, by end time."""
        await self._flush()
        return await self._store.calls_ended_between(project_id, after, until, newest_first=newest_first, limit=limit)

    async def end(self, session: Session) -> Session:
        """End a session; an ended session stays unchanged."""
        return await self._store.end(session.project_id, session.id) or session

    async def leave(self, client: str) -> None:
        """End the current session of a client that disconnected, unless another client has taken it over."""
        found = await self._store.current(client)
        if found is not None and found.client == client:
            await self._store.end(found.project_id, found.id)

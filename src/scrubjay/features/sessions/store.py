"""Storage interface of sessions and their calls."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from scrubjay.core.scopes import Visibility
from scrubjay.features.sessions.models import ClientCall, Session, ToolCall


class SessionStore(Protocol):
    """Stores sessions by project and id, and the current session of each client over time."""

    async def start(self, project_id: str | None, client: str | None, session_id: str | None) -> tuple[Session, bool]:
        """Make a session the client's current one; return it, and True when an existing one is resumed.

        Without an id, the client's current session is resumed if it belongs to this project and is active; otherwise a
        new one starts.
        """
        ...

    async def add_calls(self, calls: Sequence[ClientCall], default_project_id: str | None) -> None:
        """Store calls, each in the session that was current for its client when the call ended.

        A new session starts when the client had none, when it was over, or when the client's project had changed. A
        client without a project belongs to the default project. A call that mentions a deleted memory is stored without
        arguments and result; when a mentioned memory is deleted later, they are erased.
        """
        ...

    async def current(self, client: str) -> Session | None:
        """Return the client's current session, unless it is over."""
        ...

    async def current_id(self, project_id: str | None, client: str) -> str | None:
        """Return the id of the client's current session if it belongs to this project, without reading its calls."""
        ...

    async def get(self, project_id: str | None, session_id: str) -> Session | None: ...

    async def list(self, project_id: str | None, limit: int) -> Sequence[Session]:
        """Return the sessions of this project, or of no project, most recently active first."""
        ...

    async def summaries(self, visibility: Visibility, session_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the visible summaries of these sessions by session id."""
        ...

    async def calls(
        self, project_id: str | None, session_id: str, *, newest_first: bool, limit: int
    ) -> Sequence[ToolCall]:
        """Return the calls of a session by start time; empty for an unknown session."""
        ...

    async def calls_ended_between(
        self, project_id: str | None, after: datetime, until: datetime, *, newest_first: bool, limit: int
    ) -> Sequence[ToolCall]:
        """Return the calls of a project that ended after `after` and not after `until`, by end time.

        A call that took more than a day may be missing.
        """
        ...

    async def end(self, project_id: str | None, session_id: str) -> Session | None:
        """End a session now, unless it was ended before; return None for an unknown session."""
        ...

    async def forget_before(self, moment: datetime) -> int:
        """Delete calls made before this time, and idle sessions without calls; return the number of calls."""
        ...

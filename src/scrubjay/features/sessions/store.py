"""What a backend must offer to keep sessions and the calls made in them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from scrubjay.core.scopes import Visibility
from scrubjay.features.sessions.models import ClientCall, Session, ToolCall


class SessionStore(Protocol):
    """Keeps sessions by project and id, and which one each client is in, since when."""

    async def start(self, project_id: str | None, client: str | None, session_id: str | None) -> tuple[Session, bool]:
        """From now on the client is in this session of this project; whether there was one to resume.

        Without an id that is the one it is in, if that is of this project and not over, or else a new one.
        """
        ...

    async def keep(self, calls: Sequence[ClientCall], default_project_id: str | None) -> None:
        """Keep calls, each in the session that its client was in when it ended, made when there was none.

        A client works in the project that it had set by then, or else in the default one; in another project, or after
        its session was over, a new session begins. A call that tells of a memory which is gone is kept without what it
        tells, and so is one whose memory is erased later.
        """
        ...

    async def current(self, client: str) -> Session | None:
        """The session that this client is in, unless it is over."""
        ...

    async def get(self, project_id: str | None, session_id: str) -> Session | None: ...

    async def list(self, project_id: str | None, limit: int) -> Sequence[Session]:
        """The sessions of this project (or of none), the one that was active last first."""
        ...

    async def summaries(self, visibility: Visibility, session_ids: Sequence[str]) -> Mapping[str, str]:
        """What was summed up of these sessions, by their ids, as far as the asker may see it."""
        ...

    async def calls(
        self, project_id: str | None, session_id: str, *, newest_first: bool, limit: int
    ) -> Sequence[ToolCall]:
        """The calls of a session by the time they were made; none when there is no such session."""
        ...

    async def ended(
        self, project_id: str | None, after: datetime, until: datetime, *, newest_first: bool, limit: int
    ) -> Sequence[ToolCall]:
        """The calls of all sessions of this project that ended after one moment and until another, by their ends.

        One that took longer than a day may be passed over.
        """
        ...

    async def end(self, project_id: str | None, session_id: str) -> Session | None:
        """End a session now, unless it was ended before; None when there is none."""
        ...

    async def forget_before(self, moment: datetime) -> int:
        """Erase the calls made before, and the sessions without a call that nobody was in since; how many calls."""
        ...

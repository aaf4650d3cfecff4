"""Interface that a store backend implements for messages between agents."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from scrubjay.core.scopes import Visibility
from scrubjay.features.discussions.models import AgentMessage, AgentReply, Discussion


class DiscussionStore(Protocol):
    """Stores messages and replies. `owner` restricts a query to the messages of one key; None means all."""

    async def add(self, message: AgentMessage, *, max_open: int) -> None:
        """Store a message; raise `QuotaExceeded` if its owner has `max_open` messages without a complete reply."""
        ...

    async def get(self, owner: str | None, message_id: str) -> Discussion | None: ...

    async def reply(
        self, owner: str | None, message_id: str, reply: AgentReply, *, max_characters: int
    ) -> Discussion | None:
        """Store a reply or a part of one and return the discussion; None if the message does not exist.

        Raise `Conflict` if the message has a complete reply, and `TooLarge` if all parts exceed the maximum.
        """
        ...

    async def page(
        self, owner: str | None, visibility: Visibility, *, only_open: bool, limit: int
    ) -> Sequence[Discussion]:
        """Return the newest `limit` messages of the project and of no project, oldest first."""
        ...

    async def delete_before(self, moment: datetime) -> None:
        """Erase the messages that are older than `moment`, with their replies."""
        ...

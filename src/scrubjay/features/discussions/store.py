"""What a backend must offer to keep what agents say to each other."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from scrubjay.core.scopes import Visibility
from scrubjay.features.discussions.models import AgentMessage, AgentReply, Discussion


class DiscussionStore(Protocol):
    """Keeps messages and their answers. `owner` is whose messages are meant; None for those of everybody."""

    async def add(self, message: AgentMessage, *, most: int) -> None:
        """Keep a message. `QuotaExceeded` when its owner has so many that nobody has answered completely."""
        ...

    async def get(self, owner: str | None, message_id: str) -> Discussion | None: ...

    async def reply(
        self, owner: str | None, message_id: str, reply: AgentReply, *, most_characters: int
    ) -> Discussion | None:
        """Keep an answer or a part of one; None when there is no such message.

        `Conflict` when it has a complete answer, `TooLarge` when all parts would be longer than this.
        """
        ...

    async def page(
        self, owner: str | None, visibility: Visibility, *, only_open: bool, limit: int
    ) -> Sequence[Discussion]:
        """Of this project and of none, the oldest first; the last so many of them."""
        ...

    async def forget_before(self, moment: datetime) -> None:
        """Erase what was said before."""
        ...

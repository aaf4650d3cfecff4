"""Discussions in SQLite."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from scrubjay.core.errors import Conflict, QuotaExceeded, TooLarge
from scrubjay.core.scopes import Visibility
from scrubjay.db.sqlite.columns import microseconds, moment, optional_moment
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.discussions.models import AgentMessage, AgentReply, Discussion, ReplyWay
from scrubjay.features.projects.rows import require_project

_SQL = load_queries(__file__)


class SqliteDiscussions:
    """Implements `DiscussionStore`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def add(self, message: AgentMessage, *, max_open: int) -> None:
        values = {
            "id": message.id,
            "owner": message.owner,
            "project_id": message.project_id,
            "thread_id": message.thread_id,
            "sender": message.sender,
            "recipient": message.recipient,
            "content": message.content,
            "created_at": microseconds(message.created_at),
        }

        def work(connection: Connection) -> None:
            require_project(connection, message.project_id)
            if connection.value(_SQL["count_open"], {"owner": message.owner}) >= max_open:
                raise QuotaExceeded(
                    f"the limit of {max_open} unanswered messages is reached",
                    hint="answer them with reply_to_mira; old messages are deleted automatically",
                )
            connection.execute(_SQL["add"], values)

        await self._writer.write(work)

    async def get(self, owner: str | None, message_id: str) -> Discussion | None:
        def work(connection: Connection) -> Discussion | None:
            found = _find(connection, owner, message_id)
            return found[1] if found else None

        return await self._readers.read(work)

    async def reply(
        self, owner: str | None, message_id: str, reply: AgentReply, *, max_characters: int
    ) -> Discussion | None:
        def work(connection: Connection) -> Discussion | None:
            if (found := _find(connection, owner, message_id)) is None:
                return None
            seq, discussion = found
            if discussion.message.completed_at is not None:
                raise Conflict(
                    f"{discussion.message.id} already has a complete reply",
                    hint="call agent_messages to list messages that wait for a reply",
                )
            if len(discussion.text) + len(reply.content) > max_characters:
                raise TooLarge(
                    f"a reply may have at most {max_characters} characters in total", hint="shorten the reply"
                )
            values = {
                "seq": seq,
                "sender": reply.sender,
                "content": reply.content,
                "way": reply.way.value,
                "complete": int(reply.complete),
                "created_at": microseconds(reply.created_at),
            }
            connection.execute(_SQL["reply"], values)
            if reply.complete:
                connection.execute(_SQL["complete"], {"seq": seq, "created_at": values["created_at"]})
            again = _find(connection, owner, message_id)
            return again[1] if again else None

        return await self._writer.write(work)

    async def page(
        self, owner: str | None, visibility: Visibility, *, only_open: bool, limit: int
    ) -> Sequence[Discussion]:
        values = {"owner": owner, "project": visibility.project_id, "only_open": only_open, "limit": limit}

        def work(connection: Connection) -> Sequence[Discussion]:
            rows = connection.execute(_SQL["page"], values)
            return [_discussion(connection, row) for row in reversed(rows)]

        return await self._readers.read(work)

    async def delete_before(self, moment: datetime) -> None:
        values = {"moment": microseconds(moment)}
        await self._writer.erase(lambda connection: connection.execute(_SQL["delete_before"], values))


def _find(connection: Connection, owner: str | None, message_id: str) -> tuple[int, Discussion] | None:
    rows = connection.execute(_SQL["get"], {"owner": owner, "id": message_id})
    return (rows[0][0], _discussion(connection, rows[0])) if rows else None


def _discussion(connection: Connection, row: Sequence[Any]) -> Discussion:
    replies = [
        AgentReply(
            sender=sender, content=content, way=ReplyWay(way), complete=bool(complete), created_at=moment(created_at)
        )
        for sender, content, way, complete, created_at in connection.execute(_SQL["replies"], {"seq": row[0]})
    ]
    return Discussion(_message_from(row), replies)


def _message_from(row: Sequence[Any]) -> AgentMessage:
    _, message_id, owner, project_id, thread_id, sender, recipient, content, created_at, completed_at = row
    return AgentMessage(
        id=message_id,
        owner=owner,
        project_id=project_id,
        thread_id=thread_id,
        sender=sender,
        recipient=recipient,
        content=content,
        created_at=moment(created_at),
        completed_at=optional_moment(completed_at),
    )

"""Prompts that wait for their answer, in SQLite."""

from datetime import datetime

from scrubjay.db.sqlite.columns import microseconds
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Writer

_SQL = load_queries(__file__, "prompt_queries")


class SqlitePrompts:
    """Implements `PromptStore`."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    async def put(self, client: str, prompt: str, asked_at: datetime) -> None:
        values = {"client": client, "prompt": prompt, "asked_at": microseconds(asked_at)}
        await self._writer.write(lambda connection: connection.execute(_SQL["put"], values))

    async def take(self, client: str) -> str | None:
        def work(connection: Connection) -> str | None:
            return connection.value(_SQL["take"], {"client": client})

        return await self._writer.write(work)

    async def delete_before(self, moment: datetime) -> None:
        values = {"moment": microseconds(moment)}
        await self._writer.write(lambda connection: connection.execute(_SQL["delete_before"], values))

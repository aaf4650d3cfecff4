"""Tool usage counts in SQLite."""

from collections.abc import Mapping

from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer

_SQL = load_queries(__file__)


class SqliteUsage:
    """Usage counts in the table `tool_usage`; implements `UsageStore`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def add(self, calls: Mapping[str, int]) -> None:
        rows = [{"tool": tool, "calls": count} for tool, count in calls.items()]

        def work(connection: Connection) -> None:
            for row in rows:
                connection.execute(_SQL["add"], row)

        if rows:
            await self._writer.write(work)

    async def counts(self) -> Mapping[str, int]:
        return await self._readers.read(lambda connection: dict(connection.execute(_SQL["counts"])))

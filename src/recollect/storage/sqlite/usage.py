"""How often tools are used, in SQLite."""

from collections.abc import Mapping

from recollect.storage.sqlite.connections import Connection
from recollect.storage.sqlite.lanes import Readers, Writer
from recollect.storage.sqlite.named_queries import load_queries

_SQL = load_queries("usage")


class SqliteUsage:
    """Satisfies `storage.usage.UsageStore`."""

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

"""What ties memories to code, in SQLite."""

from collections.abc import Mapping, Sequence
from typing import Any

from scrubjay.core.scopes import Visibility
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import json_text
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.memory.link_rows import keep_links, links_of, with_links
from scrubjay.features.memory.links import CodeLink
from scrubjay.features.memory.models import Memory
from scrubjay.features.memory.rows import memory_from

_SQL = load_queries(__file__, "link_queries")


class SqliteLinks:
    """Satisfies `storage.links.LinkStore`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def linked(self, visibility: Visibility, memory_ids: Sequence[str] | None = None) -> Sequence[Memory]:
        if memory_ids is None:
            return await self._memories(_SQL["linked"], visibility, {})
        return await self._memories(_SQL["linked_among"], visibility, {"ids": json_text(list(memory_ids))})

    async def linked_to(self, visibility: Visibility, root: str, paths: Sequence[str]) -> Sequence[Memory]:
        return await self._memories(_SQL["linked_to"], visibility, {"root": root, "paths": json_text(list(paths))})

    async def exchange(
        self, visibility: Visibility, memory_id: str, before: Sequence[CodeLink], after: Sequence[CodeLink]
    ) -> bool:
        values = _seen_by(visibility) | {"id": memory_id}

        def work(connection: Connection) -> bool:
            seq = connection.value(_SQL["place"], values)
            if seq is None or links_of(connection, [seq]).get(seq, ()) != tuple(before):
                return False
            keep_links(connection, seq, after)
            return True

        # What the code was is gone with this, as with any other erasure.
        return await self._writer.erase(work)

    async def _memories(self, sql: str, visibility: Visibility, values: Mapping[str, Any]) -> Sequence[Memory]:
        def work(connection: Connection) -> Sequence[Memory]:
            rows = connection.execute(sql, {**_seen_by(visibility), **values})
            return [*with_links(connection, {row[0]: memory_from(row[1:]) for row in rows}).values()]

        return await self._readers.read(work)


def _seen_by(visibility: Visibility) -> dict[str, Any]:
    return {"project_id": visibility.project_id, "session_id": visibility.session_id}

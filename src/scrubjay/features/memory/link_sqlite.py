"""SQLite store of the links between memories and code."""

from collections.abc import Mapping, Sequence
from typing import Any

from scrubjay.core.scopes import Visibility
from scrubjay.db.sqlite.columns import json_text
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.memory.link_rows import read_links, replace_links
from scrubjay.features.memory.links import CodeLink
from scrubjay.features.memory.models import Memory
from scrubjay.features.memory.row_reader import read_memories

_SQL = load_queries(__file__, "link_queries")


class SqliteLinks:
    """A `LinkStore` in SQLite."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def linked(self, visibility: Visibility, memory_ids: Sequence[str] | None = None) -> Sequence[Memory]:
        if memory_ids is None:
            return await self._memories(_SQL["linked"], visibility, {})
        return await self._memories(_SQL["linked_among"], visibility, {"ids": json_text(list(memory_ids))})

    async def linked_to(self, visibility: Visibility, root: str, paths: Sequence[str]) -> Sequence[Memory]:
        return await self._memories(_SQL["linked_to"], visibility, {"root": root, "paths": json_text(list(paths))})

    async def replace_links(
        self, visibility: Visibility, memory_id: str, before: Sequence[CodeLink], after: Sequence[CodeLink]
    ) -> bool:
        values = _visibility_values(visibility) | {"id": memory_id}

        def work(connection: Connection) -> bool:
            seq = connection.value(_SQL["seq_of"], values)
            if seq is None or read_links(connection, [seq]).get(seq, ()) != tuple(before):
                return False
            replace_links(connection, seq, after)
            return True

        # The replaced links contain code, so they are erased from the file as well.
        return await self._writer.erase(work)

    async def _memories(self, sql: str, visibility: Visibility, values: Mapping[str, Any]) -> Sequence[Memory]:
        def work(connection: Connection) -> Sequence[Memory]:
            known = {**_visibility_values(visibility), **values}
            seqs = [seq for (seq,) in connection.execute(sql, known)]
            return [*read_memories(connection, known, seqs, links=True).memories.values()]

        return await self._readers.read(work)


def _visibility_values(visibility: Visibility) -> dict[str, Any]:
    return {"project_id": visibility.project_id, "session_id": visibility.session_id}

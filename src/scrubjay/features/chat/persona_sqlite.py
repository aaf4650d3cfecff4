"""Persona layers in SQLite."""

from collections.abc import Mapping
from datetime import datetime

from scrubjay.core.errors import QuotaExceeded
from scrubjay.db.sqlite.columns import microseconds
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.chat.persona_models import PersonaLayer

_SQL = load_queries(__file__, "persona_queries")


class SqlitePersonas:
    """Implements `PersonaStore`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def layers(self, owner: str, scope_ids: Mapping[PersonaLayer, str]) -> Mapping[PersonaLayer, str]:
        def work(connection: Connection) -> Mapping[PersonaLayer, str]:
            found = {
                layer: connection.value(_SQL["get"], {"owner": owner, "layer": layer.value, "place": scope_id})
                for layer, scope_id in scope_ids.items()
            }
            return {layer: content for layer, content in found.items() if content is not None}

        return await self._readers.read(work)

    async def put(
        self, owner: str, layer: PersonaLayer, scope_id: str, content: str, at: datetime, *, max_layers: int
    ) -> None:
        values = {"owner": owner, "layer": layer.value, "place": scope_id, "content": content, "at": microseconds(at)}

        def work(connection: Connection) -> None:
            connection.execute(_SQL["put"], values)
            if connection.value(_SQL["count"], {"owner": owner}) > max_layers:
                raise QuotaExceeded(
                    f"the limit of {max_layers} persona layers is reached",
                    hint="remove a layer by setting its content to null",
                )

        await self._writer.write(work)

    async def remove(self, owner: str, layer: PersonaLayer, scope_id: str) -> bool:
        values = {"owner": owner, "layer": layer.value, "place": scope_id}
        return await self._writer.erase(lambda connection: bool(connection.execute(_SQL["remove"], values)))

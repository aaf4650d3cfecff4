"""How the chat is to be, in SQLite."""

from collections.abc import Mapping
from datetime import datetime

from scrubjay.core.errors import QuotaExceeded
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import microseconds
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.chat.persona_models import Layer

_SQL = load_queries(__file__, "persona_queries")


class SqlitePersonas:
    """Satisfies `storage.personas.PersonaStore`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def layers(self, owner: str, places: Mapping[Layer, str]) -> Mapping[Layer, str]:
        def work(connection: Connection) -> Mapping[Layer, str]:
            found = {
                layer: connection.value(_SQL["get"], {"owner": owner, "layer": layer.value, "place": place})
                for layer, place in places.items()
            }
            return {layer: content for layer, content in found.items() if content is not None}

        return await self._readers.read(work)

    async def put(self, owner: str, layer: Layer, place: str, content: str, at: datetime, *, most: int) -> None:
        values = {"owner": owner, "layer": layer.value, "place": place, "content": content, "at": microseconds(at)}

        def work(connection: Connection) -> None:
            connection.execute(_SQL["put"], values)
            if connection.value(_SQL["count"], {"owner": owner}) > most:
                raise QuotaExceeded(
                    f"there are personas of {most} sessions and projects already",
                    hint="remove one, with null as its content",
                )

        await self._writer.write(work)

    async def remove(self, owner: str, layer: Layer, place: str) -> bool:
        values = {"owner": owner, "layer": layer.value, "place": place}
        return await self._writer.erase(lambda connection: bool(connection.execute(_SQL["remove"], values)))

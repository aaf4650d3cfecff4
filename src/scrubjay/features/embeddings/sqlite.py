"""The active embedding model and missing vectors, in SQLite."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scrubjay.core.errors import Conflict
from scrubjay.db.sqlite.change_log import vector_kinds
from scrubjay.db.sqlite.columns import json_text, json_value
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.embeddings.index_files import index_file_name
from scrubjay.features.embeddings.models import ChosenModel, ModelState, NewVector, UnembeddedMemory

_SQL = load_queries(__file__)


class SqliteEmbeddings:
    """Implements `EmbeddingStore`."""

    def __init__(self, writer: Writer, readers: Readers, derived: Path) -> None:
        self._writer = writer
        self._readers = readers
        self._derived = derived

    async def state(self) -> ModelState:
        return await self._readers.read_inline(_state, is_one_statement=True)

    async def begin(self, coming: ChosenModel) -> None:
        values = {
            "choice": None if coming.choice is None else json_text(dict(coming.choice)),
            "model": coming.model,
            "dimensions": coming.dimensions,
            "change_id": coming.change_id,
        }
        await self._writer.write(lambda connection: connection.execute(_SQL["begin"], values))

    async def claim(self, change_id: str, job_id: str) -> ModelState:
        def work(connection: Connection) -> ModelState:
            _refuse_if_replaced(connection, change_id)
            connection.execute(_SQL["claim"], {"change_id": change_id, "job_id": job_id})
            return _state(connection)

        return await self._writer.write(work)

    async def complete(self, change_id: str) -> bool:
        def work(connection: Connection) -> bool:
            _refuse_if_replaced(connection, change_id)
            coming = _state(connection).next
            if coming is None or coming.change_id != change_id:
                return True  # it is already active
            values = {"model": coming.model, "dimensions": coming.dimensions}
            if connection.value(_SQL["count_missing"], values):
                return False
            connection.execute(_SQL["retire"])
            connection.execute(_SQL["promote"])
            return True

        return await self._writer.write(work)

    async def count_missing(self, model: str, dimensions: int) -> int:
        values = {"model": model, "dimensions": dimensions}
        return await self._readers.read(lambda connection: connection.value(_SQL["count_missing"], values))

    async def missing(self, model: str, dimensions: int, after: int, limit: int) -> Sequence[UnembeddedMemory]:
        values = {"model": model, "dimensions": dimensions, "after": after, "limit": limit}
        return await self._readers.read(
            lambda connection: [UnembeddedMemory(*row) for row in connection.execute(_SQL["missing"], values)]
        )

    async def put(self, model: str, vectors: Sequence[NewVector]) -> None:
        def work(connection: Connection) -> None:
            for new in vectors:
                values = {"model": model, "id": new.memory_id, "content": new.content, "vector": new.vector}
                connection.execute(_SQL["put"], values)
                connection.execute(_SQL["delete_placeholder"], {"id": new.memory_id, "content": new.content})

        if vectors:
            await self._writer.write(work)

    async def drop_replaced(self, model: str, limit: int) -> int:
        def work(connection: Connection) -> int:
            dropped = 0
            for (other,) in connection.execute(_SQL["other_models"], {"model": model}):
                values = {"model": model, "other": other, "limit": limit - dropped}
                dropped += len(connection.execute(_SQL["drop"], values))
            return dropped

        return await self._writer.write(work)

    async def drop_files(self) -> None:
        await self._readers.read(self._drop_files)

    def _drop_files(self, connection: Connection) -> None:
        needed = {index_file_name(*kind) for kind in vector_kinds(connection)}
        for path in self._derived.glob("memories-*"):
            if path.name not in needed:
                path.unlink(missing_ok=True)


def _state(connection: Connection) -> ModelState:
    answering = coming = job_id = None
    under_way = False
    for row in connection.execute(_SQL["state"]):
        if row[0] == "answering":
            answering = _chosen(row)
        else:
            coming, job_id, under_way = _chosen(row), row[5], bool(row[6])
    return ModelState(active=answering, next=coming, job_id=job_id, is_running=under_way)


def _chosen(row: Sequence[Any]) -> ChosenModel:
    _, choice, model, dimensions, change_id, _, _ = row
    return ChosenModel(
        choice=None if choice is None else json_value(choice),
        model=model,
        dimensions=dimensions,
        change_id=change_id,
    )


def _refuse_if_replaced(connection: Connection, change_id: str) -> None:
    state = _state(connection)
    if change_id not in {chosen.change_id for chosen in (state.active, state.next) if chosen is not None}:
        raise Conflict(
            "another embedding model was chosen in the meantime", hint="call test_embeddings to see the active model"
        )

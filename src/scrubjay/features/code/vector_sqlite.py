"""Embeddings of chunks by a configured model, in `code.db`."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from scrubjay.code_index import Content, FileTrait, IndexedFile, Language, StoredBatch, UnembeddedContent, VectorCounts
from scrubjay.db.sqlite.columns import json_text, json_value
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer

_SQL = load_queries(__file__, "vector_queries")


def create_missing_tables(connection: Connection) -> None:
    """Create the tables that are missing."""
    for statement in _SQL["schema"].split(";"):
        if statement.strip():
            connection.execute(statement)


def sweep_texts(connection: Connection, version: int) -> None:
    """Delete the texts and vectors of deleted digests; call it in the transaction that deletes them."""
    connection.execute(_SQL["sweep_texts"])
    if connection.value(_SQL["is_unread"], {"version": version}) is None:
        connection.execute(_SQL["sweep_vectors"])


class SqliteCodeVectors:
    """Implements `code_index.vector_store.CodeVectorStore` with SQLite."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def unembedded(self, model: str, version: int, *, after: int, limit: int) -> Sequence[UnembeddedContent]:
        values = {"model": model, "version": version, "after": after, "limit": limit}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["unembedded"], values))
        return [_unembedded(row) for row in rows]

    async def texts(self, version: int, contents: Sequence[Content]) -> Mapping[Content, Sequence[str]]:
        values = {"contents": json_text(contents), "version": version}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["texts"], values))
        return {Content(blob, Language(language)): json_value(texts) for blob, language, texts in rows}

    async def put_texts(self, version: int, texts: Mapping[Content, Sequence[str]]) -> None:
        def work(connection: Connection) -> None:
            for content, own in texts.items():
                values = {"blob": content.blob, "language": content.language, "version": version}
                connection.execute(_SQL["keep_texts"], values | {"texts": json_text(list(own))})

        await self._writer.write(work)

    async def vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, bytes]:
        values = {"model": model, "texts": json_text(list(texts))}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["vectors"], values))
        return dict(rows)

    async def put_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        def work(connection: Connection) -> None:
            for text, vector in vectors.items():
                connection.execute(_SQL["keep"], {"model": model, "text": text, "vector": vector})

        await self._writer.write(work)

    async def mark_complete(self, model: str, version: int, contents: Sequence[Content]) -> None:
        values = {"model": model, "version": version, "contents": json_text(contents)}

        def work(connection: Connection) -> None:
            connection.execute(_SQL["note_done"], values)

        await self._writer.write(work)

    async def counts(self, model: str, version: int) -> Mapping[str, VectorCounts]:
        values = {"model": model, "version": version}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["counts"], values))
        return {
            index_id: VectorCounts(embedded, total - embedded, unread) for index_id, embedded, total, unread in rows
        }

    async def batch(self, model: str) -> StoredBatch | None:
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["batch"], {"model": model}))
        if not rows:
            return None
        model, name, texts, file_id, batch_id = rows[0]
        return StoredBatch(model=model, name=name, texts=texts, file_id=file_id, batch_id=batch_id)

    async def put_batch(self, batch: StoredBatch) -> None:
        values = {name: getattr(batch, name) for name in StoredBatch.__dataclass_fields__}

        def work(connection: Connection) -> None:
            connection.execute(_SQL["put_batch"], values)

        await self._writer.write(work)

    async def end_batch(self, model: str) -> None:
        def work(connection: Connection) -> None:
            connection.execute(_SQL["end_batch"], {"model": model})

        await self._writer.write(work)


def _unembedded(row: Sequence[Any]) -> UnembeddedContent:
    row_id, index_id, path, blob, language, size, traits, dirty, generation, texts = row
    content = Content(blob, Language(language))
    file = IndexedFile(os.fsdecode(path), content, size, FileTrait(traits), bool(dirty), generation)
    return UnembeddedContent(row_id, index_id, file, None if texts is None else json_value(texts))

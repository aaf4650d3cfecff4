"""Code indexes in their own SQLite file, `code.db`. It can be rebuilt from the repositories, so backups omit it."""

import os
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from scrubjay.code_index import Content, FileTrait, IndexedFile, IndexRecord, Language, StoredDigest, StoredEdges
from scrubjay.core.errors import StoreUnusable
from scrubjay.core.paths import CODE_DATABASE, create_private, make_private
from scrubjay.db.damage_report import REPAIR_HINT
from scrubjay.db.sqlite.columns import json_text, json_value, microseconds, moment
from scrubjay.db.sqlite.connections import Connection, in_transaction
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.schema_version import newer_schema, schema_version, set_schema_version
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.code.vector_sqlite import SqliteCodeVectors, create_missing_tables, sweep_texts

_SQL = load_queries(__file__)

LOCK = "code.lock"
# Increase with each change of the schema: older tables are then dropped and rebuilt, newer ones refused.
SCHEMA = 4
# A digest has about 10 kB. With SQLite's default pages of 4 kB it takes a chain of three, which doubles write times.
PAGE_BYTES = 16_384
# Up to this many files, single lookups are faster than listing all files.
MAX_SINGLE_LOOKUPS = 500
# "ReCo", so that the file is not mistaken for a memory store.
APPLICATION_ID = 0x5265436F


class SqliteCode:
    """Implements `code_index.store.CodeStore` with SQLite. Use it on the asyncio event loop that opened it."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers
        self.vectors = SqliteCodeVectors(writer, readers)

    @classmethod
    async def open(cls, home: Path, *, busy_seconds: float = 10.0, readers: int = 2) -> "SqliteCode":
        """Open the database in this folder; create it if missing, and recreate it if its schema is another version."""
        database = home / CODE_DATABASE
        writer = _writer(home, busy_seconds)
        try:
            await writer.run_exclusive(lambda connection: None)
        except BaseException as error:
            await writer.close()
            if isinstance(error, StoreUnusable) and error.hint == REPAIR_HINT:
                raise StoreUnusable(
                    f"{CODE_DATABASE} is damaged: {error.message}",
                    hint=f"stop all Scrubjay processes and delete {CODE_DATABASE}; it is rebuilt from the repositories",
                ) from error
            raise
        return cls(writer, Readers(lambda: Connection(database, busy_seconds, read_only=True, schema=SCHEMA), readers))

    async def indexes(self) -> Sequence[IndexRecord]:
        return await self._readers.read(
            lambda connection: [_record(row) for row in connection.execute(_SQL["indexes"])]
        )

    async def index(self, index_id: str) -> IndexRecord | None:
        rows = await self._readers.read_inline(
            lambda connection: connection.execute(_SQL["index"], {"id": index_id}), is_one_statement=True
        )
        return _record(rows[0]) if rows else None

    async def with_digest(self, version: int, contents: Sequence[Content]) -> set[Content]:
        values = {"contents": json_text(contents), "version": version}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["known"], values))
        return {Content(blob, Language(language)) for blob, language in rows}

    async def put_digests(self, version: int, digests: Sequence[StoredDigest]) -> None:
        def work(connection: Connection) -> None:
            named: list[dict[str, Any]] = []
            for content, digest, names in digests:
                values = {"blob": content.blob, "language": content.language, "version": version, "digest": digest}
                row = connection.value(_SQL["keep"], values)
                if row is not None:
                    named += [{"digest": row, "name": name} for name in names]
            connection.execute_each(_SQL["keep_name"], named)

        await self._writer.write(work)

    async def digests(self, version: int, contents: Sequence[Content]) -> Mapping[Content, bytes]:
        values = {"contents": json_text(contents), "version": version}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["digests"], values))
        return {Content(blob, Language(language)): digest for blob, language, digest in rows}

    async def files(self, index_id: str, *, after_generation: int = 0) -> Sequence[IndexedFile]:
        values = {"id": index_id, "after": after_generation}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["files"], values))
        return [
            IndexedFile(
                os.fsdecode(path), Content(blob, Language(language)), size, FileTrait(traits), bool(dirty), state
            )
            for path, blob, language, size, traits, dirty, state in rows
        ]

    async def without_digest(self, index_id: str, version: int) -> Sequence[str]:
        values = {"id": index_id, "version": version}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["unread"], values))
        return [os.fsdecode(path) for (path,) in rows]

    async def paths(self, index_id: str) -> Sequence[str]:
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["paths"], {"id": index_id}))
        return [os.fsdecode(path) for (path,) in rows]

    async def edges(
        self, index_id: str, paths: Sequence[str] | None = None, *, after_generation: int = 0
    ) -> Mapping[str, bytes]:
        def work(connection: Connection) -> Mapping[str, bytes]:
            if paths is None:
                values = {"id": index_id, "after": after_generation}
                return {os.fsdecode(path): edges for path, edges in connection.execute(_SQL["all_edges"], values)}
            asked = [(path, {"id": index_id, "path": os.fsencode(path)}) for path in paths]
            found = [(path, connection.value(_SQL["edges"], value)) for path, value in asked]
            return {path: edges for path, edges in found if edges is not None}

        return await self._readers.read(work)

    async def dependents_of(self, index_id: str, paths: Sequence[str]) -> Sequence[str]:
        def work(connection: Connection) -> Sequence[str]:
            found: set[bytes] = set()
            for path in paths:
                values = {"id": index_id, "path": os.fsencode(path)}
                found |= {source for (source,) in connection.execute(_SQL["leading_to"], values)}
            return sorted(map(os.fsdecode, found))

        return await self._readers.read(work)

    async def files_defining(self, index_id: str, version: int, names: Sequence[str]) -> Mapping[str, Sequence[str]]:
        values = {"id": index_id, "version": version, "names": json_text(list(names))}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["defining"], values))
        found: dict[str, list[str]] = {}
        for name, path in rows:
            found.setdefault(name, []).append(os.fsdecode(path))
        return found

    async def write(
        self,
        record: IndexRecord,
        *,
        changed: Sequence[IndexedFile],
        removed: Sequence[str],
        edges: Mapping[str, StoredEdges],
    ) -> bool:
        def work(connection: Connection) -> bool:
            if connection.value(_SQL["put_index"], _values(record)) != record.generation:
                return False
            for path in removed:
                connection.execute(_SQL["remove_file"], {"id": record.id, "path": os.fsencode(path)})
            connection.execute_each(
                _SQL["put_file"], (_file_values(record.id, file, edges.get(file.path)) for file in changed)
            )
            row_of = _file_rows(connection, record.id, edges)
            put = {file.path for file in changed}
            sources = [(path, row_of[path], found) for path, found in edges.items() if path in row_of]
            connection.execute_each(
                _SQL["put_edges"],
                (
                    {"file": row, "edges": found.edges, "generation": record.generation}
                    for path, row, found in sources
                    if path not in put
                ),
            )
            links = [(row_of[to], row) for _, row, found in sources for to in found.files if to in row_of]
            # In primary key order, so that each page is written once.
            connection.execute_each(_SQL["put_link"], ({"target": to, "file": row} for to, row in sorted(links)))
            return True

        return await self._writer.write(work)

    async def delete(self, index_id: str) -> bool:
        return await self._writer.write(
            lambda connection: connection.value(_SQL["delete"], {"id": index_id}) is not None
        )

    async def sweep(self, version: int) -> int:
        def work(connection: Connection) -> int:
            removed = len(connection.execute(_SQL["sweep"], {"version": version}))
            connection.execute(_SQL["sweep_names"])
            connection.execute(_SQL["sweep_links"])
            sweep_texts(connection, version)
            return removed

        return await self._writer.write(work)

    async def close(self) -> None:
        await self._readers.close()
        await self._writer.close()


def _writer(home: Path, busy_seconds: float) -> Writer:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    create_private(home / CODE_DATABASE)  # before SQLite does, whose files others can read
    make_private(home)
    return Writer(lambda: _connect_writer(home / CODE_DATABASE, busy_seconds), home / LOCK, busy_seconds)


def _connect_writer(database: Path, busy_seconds: float) -> Connection:
    """Open the writer's connection. The caller holds the write lock, so no other process recreates the file now."""
    connection = Connection(database, busy_seconds)
    try:
        _prepare(connection)
    except BaseException:
        connection.close()
        raise
    connection.schema = SCHEMA
    return connection


def _prepare(connection: Connection) -> None:
    """Recreate the tables of an older release. Those of a newer one are refused: its process may be using them."""
    is_ours, version = connection.pragma("application_id") == APPLICATION_ID, schema_version(connection)
    if is_ours and version > SCHEMA:
        raise newer_schema(
            connection, version, SCHEMA, otherwise="; or delete the file, and the indexes are built again"
        )
    connection.pragma("page_size", PAGE_BYTES)  # applies to new files only
    connection.pragma("journal_mode", "wal")
    # Commits lost in a power cut are rebuilt from the repository.
    connection.pragma("synchronous", "NORMAL")
    if not is_ours or version < SCHEMA:
        in_transaction(connection, _recreate_schema)
    create_missing_tables(connection)


def _recreate_schema(connection: Connection) -> None:
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'code_%'"):
        connection.execute(f'DROP TABLE "{name}"')
    for statement in _SQL["schema"].split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.pragma("application_id", APPLICATION_ID)
    set_schema_version(connection, SCHEMA)


def _file_rows(connection: Connection, index_id: str, edges: Mapping[str, StoredEdges]) -> dict[str, int]:
    """Return the row ids of the files on both ends of these edges, and possibly of other files."""
    wanted = {*edges, *chain.from_iterable(found.files for found in edges.values())}
    if len(wanted) > MAX_SINGLE_LOOKUPS:
        rows = connection.execute(_SQL["places"], {"id": index_id})
        return {os.fsdecode(path): place for place, path in rows}
    asked = [(path, connection.value(_SQL["place"], {"id": index_id, "path": os.fsencode(path)})) for path in wanted]
    return {path: place for path, place in asked if place is not None}


def _record(row: Sequence[Any]) -> IndexRecord:
    index_id, root, rev, options, generation, commit, created_at, updated_at, details = row
    return IndexRecord(
        id=index_id,
        root=root,
        rev=rev,
        options=json_value(options),
        generation=generation,
        commit=commit,
        created_at=moment(created_at),
        updated_at=moment(updated_at),
        details=json_value(details),
    )


def _values(record: IndexRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "root": record.root,
        "rev": record.rev,
        "options": json_text(dict(record.options)),
        "generation": record.generation,
        "commit": record.commit,
        "created_at": microseconds(record.created_at),
        "updated_at": microseconds(record.updated_at),
        "details": json_text(dict(record.details)),
    }


def _file_values(index_id: str, file: IndexedFile, edges: StoredEdges | None) -> dict[str, Any]:
    return {
        "id": index_id,
        "path": os.fsencode(file.path),
        "blob": file.content.blob,
        "language": file.content.language,
        "size": file.size,
        "traits": int(file.traits),
        "dirty": file.dirty,
        "generation": file.generation,
        "edges": edges.edges if edges is not None else None,
    }

"""What is kept of repositories, in a SQLite file of its own: all of it can be made again, so no backup has it."""

import os
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from scrubjay.code_index.models import FileTrait, Language
from scrubjay.code_index.store import Content, IndexedFile, IndexRecord, KeptDigest, KeptEdges
from scrubjay.db.sqlite.connections import Connection, in_transaction
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import json_text, json_value, microseconds, moment
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.code.vector_sqlite import SqliteCodeVectors, make_tables, sweep_texts

_SQL = load_queries(__file__)

DATABASE = "code.db"
LOCK = "code.lock"
# Raised with each change of the schema: what was kept before is then made anew.
SCHEMA = 4
# A digest has about ten thousand bytes: in pages of the usual size each is a chain of three, and writing all of them
# takes twice as long.
PAGE_BYTES = 16_384
# So few files are looked up one by one sooner than all are listed.
FEW_PLACES = 500
# "ReCo", so that the file is not taken for a store.
APPLICATION_ID = 0x5265436F


class SqliteCode:
    """Satisfies `storage.code.CodeStore`. It is used on the event loop that opened it (asyncio)."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers
        self.vectors = SqliteCodeVectors(writer, readers)

    @classmethod
    async def open(cls, home: Path, *, busy_seconds: float = 10.0, readers: int = 2) -> "SqliteCode":
        """What is kept in this folder; made when it is new, and made anew when another version made it."""
        database = home / DATABASE
        writer = _writer(home, busy_seconds)
        try:
            await writer.alone(lambda connection: None)
        except BaseException:
            await writer.close()
            raise
        return cls(writer, Readers(lambda: Connection(database, busy_seconds, read_only=True), readers))

    async def indexes(self) -> Sequence[IndexRecord]:
        return await self._readers.read(
            lambda connection: [_record(row) for row in connection.execute(_SQL["indexes"])]
        )

    async def index(self, index_id: str) -> IndexRecord | None:
        rows = await self._readers.read_here(
            lambda connection: connection.execute(_SQL["index"], {"id": index_id}), is_one_statement=True
        )
        return _record(rows[0]) if rows else None

    async def known(self, version: int, contents: Sequence[Content]) -> set[Content]:
        values = {"contents": json_text(contents), "version": version}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["known"], values))
        return {Content(blob, Language(language)) for blob, language in rows}

    async def keep(self, version: int, digests: Sequence[KeptDigest]) -> None:
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

    async def unread(self, index_id: str, version: int) -> Sequence[str]:
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

    async def leading_to(self, index_id: str, paths: Sequence[str]) -> Sequence[str]:
        def work(connection: Connection) -> Sequence[str]:
            found: set[bytes] = set()
            for path in paths:
                values = {"id": index_id, "path": os.fsencode(path)}
                found |= {source for (source,) in connection.execute(_SQL["leading_to"], values)}
            return sorted(map(os.fsdecode, found))

        return await self._readers.read(work)

    async def defining(self, index_id: str, version: int, names: Sequence[str]) -> Mapping[str, Sequence[str]]:
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
        edges: Mapping[str, KeptEdges],
    ) -> bool:
        def work(connection: Connection) -> bool:
            if connection.value(_SQL["put_index"], _values(record)) != record.generation:
                return False
            for path in removed:
                connection.execute(_SQL["remove_file"], {"id": record.id, "path": os.fsencode(path)})
            connection.execute_each(
                _SQL["put_file"], (_file_values(record.id, file, edges.get(file.path)) for file in changed)
            )
            place_of = _places(connection, record.id, edges)
            put = {file.path for file in changed}
            leading = [(path, place_of[path], found) for path, found in edges.items() if path in place_of]
            connection.execute_each(
                _SQL["put_edges"],
                (
                    {"file": place, "edges": found.edges, "generation": record.generation}
                    for path, place, found in leading
                    if path not in put
                ),
            )
            links = [(place_of[to], place) for _, place, found in leading for to in found.files if to in place_of]
            # In the order of the table, so that each of its pages is written once.
            connection.execute_each(_SQL["put_link"], ({"target": to, "file": place} for to, place in sorted(links)))
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
    return Writer(lambda: _connected(home / DATABASE, busy_seconds), home / LOCK, busy_seconds)


def _connected(database: Path, busy_seconds: float) -> Connection:
    """The writer's connection. The caller holds the writers' lock, so nobody else makes the file anew meanwhile."""
    connection = Connection(database, busy_seconds)
    connection.pragma("page_size", PAGE_BYTES)  # of a file that is new; another stays as it is
    connection.pragma("journal_mode", "wal")
    # What a power cut takes is made again from the repository.
    connection.pragma("synchronous", "NORMAL")
    if (connection.pragma("application_id"), connection.pragma("user_version")) != (APPLICATION_ID, SCHEMA):
        in_transaction(connection, _made_anew)
    make_tables(connection)
    return connection


def _made_anew(connection: Connection) -> None:
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'code_%'"):
        connection.execute(f'DROP TABLE "{name}"')
    for statement in _SQL["schema"].split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("user_version", SCHEMA)


def _places(connection: Connection, index_id: str, edges: Mapping[str, KeptEdges]) -> dict[str, int]:
    """The rows of the files that these lead from and to, and maybe of others."""
    wanted = {*edges, *chain.from_iterable(found.files for found in edges.values())}
    if len(wanted) > FEW_PLACES:
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


def _file_values(index_id: str, file: IndexedFile, edges: KeptEdges | None) -> dict[str, Any]:
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

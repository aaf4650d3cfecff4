"""Memories that move out of a SQLite store and into it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import anyio.to_thread
import apsw

from recollect.domain.memories import Derived, Kind
from recollect.domain.scopes import Scope
from recollect.domain.transfers import Moved
from recollect.storage.sqlite.connections import Connection, in_snapshot
from recollect.storage.sqlite.failures import translated
from recollect.storage.sqlite.lanes import Readers, Writer
from recollect.storage.sqlite.named_queries import load_queries
from recollect.storage.sqlite.rows import (
    json_text,
    json_value,
    memory_from,
    memory_values,
    optional_microseconds,
    optional_moment,
    project_from,
)
from recollect.storage.sqlite.terms import indexed
from recollect.storage.transfer import Arrived, Outgoing

T = TypeVar("T")

_SQL = load_queries("transfer")
_MEMORIES = load_queries("memories")

# So many memories are read at a time when they take the place of others.
BATCH = 1_000
# What the ids of what memories were before begin with.
VERSION = "old_"


@dataclass(frozen=True, slots=True)
class _Row:
    """A memory as its tables take it, except its audience."""

    memory: dict[str, Any]
    terms: str
    vectors: tuple[tuple[str, bytes], ...]


class SqliteTransfer:
    """Satisfies `storage.transfer.TransferStore`."""

    def __init__(self, writer: Writer, readers: Readers, database: Path, busy_seconds: float) -> None:
        self._writer = writer
        self._readers = readers
        self._database = database
        self._busy_seconds = busy_seconds

    async def move_out(self, kinds: Collection[Kind], work: Callable[[Outgoing], T]) -> T:
        def read(connection: Connection) -> T:
            values = {"kinds": json_text(sorted(kinds))}
            counts = {Kind(kind): count for kind, count in connection.execute(_SQL["census"], values)}
            projects = [project_from(row) for row in connection.execute(_SQL["projects"])]
            return work(Outgoing(counts, projects, _moving(connection, values)))

        def run() -> T:
            try:
                connection = Connection(self._database, self._busy_seconds, read_only=True)
                try:
                    return in_snapshot(connection, read)
                finally:
                    connection.close()
            except apsw.Error as error:
                raise translated(error) from error

        self._readers.refuse_if_gone()
        return await anyio.to_thread.run_sync(run)  # not on a reader's thread, which searches need meanwhile

    async def begin(self, import_id: str, checksum: str) -> Arrived:
        return await self._writer.write(lambda connection: _begin(connection, import_id, checksum))

    async def known(self, memory_ids: Sequence[str]) -> Collection[str]:
        values = {"ids": json_text(list(memory_ids))}
        return await self._readers.read(
            lambda connection: {memory_id for (memory_id,) in connection.execute(_SQL["known"], values)}
        )

    async def keep(
        self, import_id: str, read: int, batch: Sequence[tuple[Moved, Derived]], *, skipped: int = 0
    ) -> Arrived:
        def work(connection: Connection) -> Arrived:
            kept = _keep(connection, [_row(moved, derived) for moved, derived in batch])
            return _note(connection, import_id, read=read, imported=kept, skipped=skipped + len(batch) - kept)

        return await self._writer.write(work)

    async def stage(self, import_id: str, read: int, batch: Sequence[tuple[Moved, Derived]]) -> Arrived:
        def work(connection: Connection) -> Arrived:
            connection.execute(_SQL["ensure_stage"])
            for moved, derived in batch:
                connection.execute(_SQL["stage"], _staged_values(import_id, _row(moved, derived)))
            return _note(connection, import_id, read=read)

        return await self._writer.write(work)

    async def exchange(self, import_id: str, kinds: Collection[Kind]) -> Arrived:
        def work(connection: Connection) -> Arrived:
            erased = _erase(connection, kinds)
            found = kept = 0
            for rows in _staged(connection, import_id):
                found += len(rows)
                kept += _keep(connection, rows)
            _clear_stage(connection, import_id)
            return _note(connection, import_id, imported=kept, skipped=found - kept, erased=erased, finished=True)

        return await self._writer.erase(work)

    async def end(self, import_id: str) -> None:
        await self._writer.erase(lambda connection: _clear_stage(connection, import_id))


# -- out -------------------------------------------------------------------------------------------


def _moving(connection: Connection, values: dict[str, Any]) -> Iterator[Moved]:
    for uses, used_at, *memory in connection.stream(_SQL["moving"], values):
        yield Moved(memory_from(memory), uses, optional_moment(used_at))


# -- in --------------------------------------------------------------------------------------------


def _row(moved: Moved, derived: Derived) -> _Row:
    memory = memory_values(moved.memory) | {
        "scope": moved.memory.scope.value,
        "project_id": moved.memory.project_id,
        "traits": derived.traits,
        "uses": moved.uses,
        "used_at": optional_microseconds(moved.used_at),
    }
    vectors = ((derived.model, derived.vector),)
    if derived.vector_to_come is not None:
        vectors += (derived.vector_to_come,)
    return _Row(memory, indexed(derived.passages), vectors)


def _keep(connection: Connection, rows: Iterable[_Row]) -> int:
    """Keep those whose place is free; how many that were."""
    audience_of = cache(partial(_audience_of, connection))
    kept: dict[int, _Row] = {}
    for row in rows:
        memory = row.memory
        audience = audience_of(memory["scope"], memory["project_id"], memory["session_id"])
        values = memory | {"audience_id": audience}
        if connection.value(_SQL["taken"], values):
            continue
        if memory["id"].startswith(VERSION) and connection.value(_SQL["lacks_successor"], values):
            continue
        seq = connection.value(_MEMORIES["add"], values)
        if memory["uses"]:
            connection.execute(_SQL["note_use"], memory | {"seq": seq})
        kept[seq] = row
    for seq, row in kept.items():
        for model, vector in row.vectors:
            connection.execute(_MEMORIES["keep_vector"], {"seq": seq, "model": model, "vector": vector})
    # Last, because each statement that could be undone by itself makes the text index write a segment of its own.
    rebuilding = _rebuilds(connection)
    for seq, row in kept.items():
        connection.execute(_MEMORIES["index_terms"], {"seq": seq, "terms": row.terms})
        if rebuilding:
            connection.execute(_MEMORIES["index_terms_next"], {"seq": seq, "terms": row.terms})
    return len(kept)


def _audience_of(connection: Connection, scope: str, project_id: str | None, session_id: str | None) -> int:
    values = {
        "scope": scope,
        "project_id": None if scope == Scope.GLOBAL else project_id,
        "session_id": session_id if scope == Scope.SESSION else None,
    }
    found = connection.value(_MEMORIES["find_audience"], values)
    return connection.value(_MEMORIES["add_audience"], values) if found is None else found


def _rebuilds(connection: Connection) -> bool:
    return bool(connection.execute(_MEMORIES["rebuilt_to"]))


def _erase(connection: Connection, kinds: Collection[Kind]) -> int:
    values = {"kinds": json_text(sorted(kinds))}
    count = sum(count for _, count in connection.execute(_SQL["census"], values))
    connection.execute(_SQL["erase"], values)
    # To take many out of a text index one by one, so that nothing of them stays in the file, takes far longer than to
    # make it anew without them.
    connection.execute(connection.value(_SQL["remaining_definition"]))
    connection.execute(_SQL["configure_remaining"])
    connection.execute(_SQL["index_remaining"])
    connection.execute(_MEMORIES["drop_terms"])
    connection.execute(_SQL["use_remaining"])
    if _rebuilds(connection):
        connection.execute(_SQL["erase_terms_next"])
    return count


# -- the stage -------------------------------------------------------------------------------------


def _staged_values(import_id: str, row: _Row) -> dict[str, Any]:
    (model, vector), *later = row.vectors
    later_model, later_vector = later[0] if later else (None, None)
    return {
        "import_id": import_id,
        "memory": json_text(row.memory),
        "terms": row.terms,
        "model": model,
        "vector": vector,
        "later_model": later_model,
        "later_vector": later_vector,
    }


def _staged(connection: Connection, import_id: str) -> Iterator[list[_Row]]:
    connection.execute(_SQL["ensure_stage"])
    after = 0
    while found := connection.execute(_SQL["staged"], {"import_id": import_id, "after": after, "limit": BATCH}):
        after = found[-1][0]
        yield [_staged_row(*values) for _, *values in found]


def _staged_row(
    memory: str, terms: str, model: str, vector: bytes, later_model: str | None, later_vector: bytes | None
) -> _Row:
    vectors = ((model, vector),)
    if later_model is not None and later_vector is not None:
        vectors += ((later_model, later_vector),)
    return _Row(json_value(memory), terms, vectors)


def _clear_stage(connection: Connection, import_id: str) -> None:
    if not connection.execute(_SQL["stage_exists"]):
        return
    connection.execute(_SQL["unstage"], {"import_id": import_id})
    if not connection.execute(_SQL["still_staged"]):
        connection.execute(_SQL["drop_stage"])


# -- how far it has come ---------------------------------------------------------------------------


def _begin(connection: Connection, import_id: str, checksum: str) -> Arrived:
    connection.execute(_SQL["forget_ended"], {"import_id": import_id})
    known = connection.value(_SQL["arrived"], {"import_id": import_id})
    if known is not None and json_value(known)["checksum"] == checksum:
        return _arrived(json_value(known))
    _clear_stage(connection, import_id)
    _write_down(connection, import_id, checksum, Arrived())
    return Arrived()


def _note(
    connection: Connection,
    import_id: str,
    *,
    read: int | None = None,
    imported: int = 0,
    skipped: int = 0,
    erased: int = 0,
    finished: bool = False,
) -> Arrived:
    """Add this to what the import has done."""
    known = json_value(connection.value(_SQL["arrived"], {"import_id": import_id}))
    before = _arrived(known)
    arrived = Arrived(
        read=before.read if read is None else read,
        imported=before.imported + imported,
        skipped=before.skipped + skipped,
        erased=before.erased + erased,
        finished=finished,
    )
    _write_down(connection, import_id, known["checksum"], arrived)
    return arrived


def _arrived(known: dict[str, Any]) -> Arrived:
    return Arrived(**{name: value for name, value in known.items() if name != "checksum"})


def _write_down(connection: Connection, import_id: str, checksum: str, arrived: Arrived) -> None:
    values = {"import_id": import_id, "arrived": json_text({"checksum": checksum, **asdict(arrived)})}
    connection.execute(_SQL["note_arrived"], values)

"""Memories in SQLite, with their text index and their vectors."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.domain.errors import Conflict, Unavailable
from recollect.domain.memories import (
    CandidatePool,
    CandidateQuery,
    Choose,
    Derived,
    Memory,
    MemoryFilter,
    MemoryWrite,
    Stored,
    Updated,
    WriteOutcome,
)
from recollect.domain.scopes import Scope, Visibility
from recollect.storage.memories import DerivedFile, MemoryCounts
from recollect.storage.sqlite.connections import Connection
from recollect.storage.sqlite.lanes import Readers, Writer
from recollect.storage.sqlite.named_queries import load_queries
from recollect.storage.sqlite.revisions import vector_kinds
from recollect.storage.sqlite.rows import json_text, memory_from, memory_values, microseconds, optional_microseconds
from recollect.storage.sqlite.terms import indexed, match_all

if TYPE_CHECKING:
    from recollect.storage.sqlite.memory_index import MemoryIndex

_SQL = load_queries("memories")
_EVERYTHING = MemoryFilter()

# A search among so many takes about 5 ms, and 1.5 ms more on another thread, whose processor has nothing of it at hand.
FEW_MEMORIES = 150_000
# Among so few memories it does not matter which one is the last to be a candidate.
ENOUGH_CANDIDATES = 5_000
FEW_CHANGES = 100
# That of the model which answers, and that of the one before it while somebody may still ask for it.
MOST_INDEXES = 2


class SqliteMemories:
    """Satisfies `storage.memories.MemoryStore`."""

    def __init__(self, writer: Writer, readers: Readers, derived: Path) -> None:
        self._writer = writer
        self._readers = readers
        self._derived = derived
        self._indexes: dict[tuple[str, int], MemoryIndex] = {}
        self._indexes_lock = threading.Lock()

    async def put(self, writes: Sequence[MemoryWrite]) -> Sequence[WriteOutcome]:
        return await self._writer.write(lambda connection: _put(connection, writes))

    async def get(self, visibility: Visibility, memory_id: str) -> Memory | None:
        found = await self._readers.read(lambda connection: _visible_by_id(connection, visibility, [memory_id]))
        return found[memory_id][1] if found else None

    async def find(self, visibility: Visibility, filter: MemoryFilter, limit: int) -> Sequence[Memory]:
        values = _visibility_values(visibility) | _filter_values(filter) | {"limit": limit}
        return await self._readers.read(
            lambda connection: [memory_from(row) for row in connection.execute(_SQL["find"], values)]
        )

    async def delete(self, visibility: Visibility, memory_ids: Sequence[str]) -> Sequence[Memory]:
        return await self._writer.write(lambda connection: _delete(connection, visibility, memory_ids))

    async def search(self, query: CandidateQuery, choose: Choose) -> Mapping[int, Memory]:
        if self._is_brief(query):
            found = await self._readers.read_here(lambda connection: self._search_if_current(connection, query, choose))
            if found is not None:
                return found
        return await self._readers.read(lambda connection: self._search(connection, query, choose))

    async def speakers(self, visibility: Visibility, model: str) -> Sequence[str]:
        return await self._readers.read(lambda connection: self._speakers(connection, visibility, model))

    async def note_uses(self, uses: Mapping[str, int], used_at: datetime) -> None:
        values = {"uses": json_text(dict(uses)), "used_at": microseconds(used_at)}
        await self._writer.write(lambda connection: connection.execute(_SQL["note_uses"], values))

    def is_scattered(self) -> bool:
        return any(index.is_scattered for index in self._indexes.values())

    async def compact(self) -> Sequence[DerivedFile]:
        return await self._readers.read(self._compact)

    async def counts(self) -> MemoryCounts:
        return await self._readers.read(
            lambda connection: MemoryCounts(
                connection.value(_SQL["count_memories"]),
                connection.value(_SQL["count_indexed"]),
                dict(connection.execute(_SQL["count_vectors"])),
            )
        )

    async def scan(self, after: str | None, limit: int) -> Sequence[Memory]:
        values = {"after": after or "", "limit": limit}
        return await self._readers.read(
            lambda connection: [memory_from(row) for row in connection.execute(_SQL["scan"], values)]
        )

    async def begin_rebuild(self, *, resume: bool) -> str | None:
        return await self._writer.write(lambda connection: _begin_rebuild(connection, resume))

    async def rebuild(self, batch: Sequence[tuple[str, Derived]]) -> None:
        if batch:
            await self._writer.write(lambda connection: _rebuild(connection, batch))

    async def finish_rebuild(self) -> Sequence[DerivedFile]:
        await self._writer.write(_exchange)
        return await self._readers.read(self._write_derived_files)

    # -- searching ---------------------------------------------------------------------------------

    def _is_brief(self, query: CandidateQuery) -> bool:
        """Whether a search takes a few milliseconds: all is in memory already, and not too much."""
        index = self._indexes.get((query.model, len(query.vector)))
        return index is not None and 0 < index.rows <= FEW_MEMORIES and not self._indexes_lock.locked()

    def _search_if_current(
        self, connection: Connection, query: CandidateQuery, choose: Choose
    ) -> dict[int, Memory] | None:
        """The search, unless so much happened since the last one that catching up takes long."""
        index = self._indexes.get((query.model, len(query.vector)))
        if index is None or index.misses_much or index.missed(connection) > FEW_CHANGES:
            return None
        return self._search(connection, query, choose)

    def _speakers(self, connection: Connection, visibility: Visibility, model: str) -> Sequence[str]:
        with self._indexes_lock:
            index = self._index(connection, model, 0)
            index.refresh(connection)
            audiences = connection.execute(_SQL["audiences"], _visibility_values(visibility))
            return index.speakers(tuple(audience for (audience,) in audiences))

    def _search(self, connection: Connection, query: CandidateQuery, choose: Choose) -> dict[int, Memory]:
        handles = choose(self._candidates(connection, query))
        if not handles:
            return {}
        values = _visibility_values(query.visibility) | {"seqs": json_text([*handles])}
        return {row[0]: memory_from(row[1:]) for row in connection.execute(_SQL["whole"], values)}

    def _candidates(self, connection: Connection, query: CandidateQuery) -> CandidatePool:
        values = _visibility_values(query.visibility) | _filter_values(query.filter)
        # The snapshot begins with the first statement, under the lock: an index never sees an older state again.
        with self._indexes_lock:
            index = self._index(connection, query.model, len(query.vector))
            index.refresh(connection)
            audiences = [audience for (audience,) in connection.execute(_SQL["audiences"], values)]
            within = audiences
            if query.filter.scope is not None:
                within = [audience for (audience,) in connection.execute(_SQL["audiences_of_scope"], values)]
            passing = None
            if query.filter.key is not None or query.filter.containing:
                passing = [seq for (seq,) in connection.execute(_SQL["passing"], values)]
            exact = None if index.rows <= ENOUGH_CANDIDATES else partial(_vectors_of, connection, query.model)
            found = index.candidates(query, audiences, within, passing, exact)
            index.keep_up_file()
        return _with_uses(connection, found) if query.with_uses else found

    def _compact(self, connection: Connection) -> Sequence[DerivedFile]:
        from recollect.storage.sqlite.memory_index import MemoryIndex

        written: list[DerivedFile] = []
        for kind in vector_kinds(connection):
            index = MemoryIndex(self._derived, *kind)  # one of its own: nobody has to wait for it
            index.refresh(connection)
            written.append(_written(index))
            with self._indexes_lock:
                if kind in self._indexes:
                    self._indexes[kind].begin_anew()
        return written

    def _write_derived_files(self, connection: Connection) -> Sequence[DerivedFile]:
        from recollect.storage.sqlite.memory_index import MemoryIndex

        written: list[DerivedFile] = []
        with self._indexes_lock:
            for kind in vector_kinds(connection):
                index = self._indexes.setdefault(kind, MemoryIndex(self._derived, *kind))
                index.refresh(connection)
                written.append(_written(index))
        needed = {file.name for file in written}
        for path in [*self._derived.glob("memories-*"), *self._derived.glob("vectors-*")]:
            if path.name not in needed:
                path.unlink(missing_ok=True)
        return written

    def _index(self, connection: Connection, model: str, vector_bytes: int) -> "MemoryIndex":
        from recollect.storage.sqlite.memory_index import MemoryIndex

        kind = (model, vector_bytes)
        if not vector_bytes:  # any index of this model will do
            known = [*self._indexes, *vector_kinds(connection), kind]
            kind = next(one for one in known if one[0] == model)
        if kind not in self._indexes:
            while len(self._indexes) >= MOST_INDEXES:
                del self._indexes[next(iter(self._indexes))]
            self._indexes[kind] = MemoryIndex(self._derived, *kind)
        return self._indexes[kind]


def _written(index: "MemoryIndex") -> DerivedFile:
    try:
        return index.write_file()
    except OSError as error:
        raise Unavailable(
            f"a derived file could not be written ({error.strerror}); answers are right without it, but slower",
            hint="free some disk space where RECOLLECT_HOME is, then try again",
        ) from error


def _vectors_of(connection: Connection, model: str, seqs: list[int]) -> list[bytes]:
    """The exact vectors of these; an empty one for what has none."""
    values = {"seqs": json_text(seqs), "model": model}
    vectors = dict(connection.execute(_SQL["vectors_of"], values))
    return [vectors.get(seq, b"") for seq in seqs]


def _with_uses(connection: Connection, pool: CandidatePool) -> CandidatePool:
    handles = pool.handles.tolist()
    place_of = {handle: place for place, handle in enumerate(handles)}
    uses, used = pool.uses.copy(), pool.used.copy()
    for seq, count, used_at in connection.execute(_SQL["uses"], {"seqs": json_text(handles)}):
        uses[place_of[seq]], used[place_of[seq]] = count, used_at
    return replace(pool, uses=uses, used=used)


def _visibility_values(visibility: Visibility) -> dict[str, Any]:
    return {"project_id": visibility.project_id, "session_id": visibility.session_id}


def _filter_values(filter: MemoryFilter) -> dict[str, Any]:
    return {
        "unfiltered": filter == _EVERYTHING,
        "scope": filter.scope,
        "category": filter.category,
        "tags": json_text(filter.tags) if filter.tags else None,
        "speaker": filter.speaker,
        "key": filter.key,
        "from_session": filter.from_session,
        "occurred_after": optional_microseconds(filter.occurred_after),
        "occurred_before": optional_microseconds(filter.occurred_before),
        "match": match_all(filter.containing) if filter.containing else None,
    }


# -- writing ---------------------------------------------------------------------------------------


def _put(connection: Connection, writes: Sequence[MemoryWrite]) -> list[WriteOutcome]:
    derived: dict[int, Derived] = {}
    audience_of = cache(partial(_audience_of, connection))
    outcomes = [_put_one(connection, write, audience_of, derived) for write in writes]
    rebuilding = _rebuild_is_under_way(connection)
    for seq, made in derived.items():
        _keep_vector(connection, seq, made)
    # Last, because each statement that could be undone by itself makes the text index write a segment of its own.
    for seq, made in derived.items():
        values = {"seq": seq, "terms": indexed(made.passages)}
        connection.execute(_SQL["index_terms"], values)
        if rebuilding:
            connection.execute(_SQL["index_terms_next"], values)
    return outcomes


def _put_one(
    connection: Connection, write: MemoryWrite, audience_of: Callable[..., int], derived: dict[int, Derived]
) -> WriteOutcome:
    """Keep the memory itself, and note what its indexes have to hold."""
    audience = audience_of(write.memory.scope, write.memory.project_id, write.memory.session_id)
    existing: list[Any] = []
    if write.memory.key is not None:
        existing = connection.execute(_SQL["keyed"], {"audience_id": audience, "key": write.memory.key})
    if not existing:
        values = memory_values(write.memory) | {"audience_id": audience, "traits": write.derived.traits}
        derived[connection.value(_SQL["add"], values)] = write.derived
        return Stored(write.memory)
    seq, *row = existing[0]
    revised = write.revise(memory_from(row))
    connection.execute(_SQL["revise"], memory_values(revised) | {"seq": seq})
    if "content" in write.given:
        made = derived[seq] = write.rederive(revised)
        connection.execute(_SQL["drop_other_vectors"], {"seq": seq, "model": made.model})
        connection.execute(_SQL["keep_traits"], {"seq": seq, "traits": made.traits})
    return Updated(revised)


def _audience_of(connection: Connection, scope: Scope, project_id: str | None, session_id: str | None) -> int:
    values = {
        "scope": scope,
        "project_id": None if scope is Scope.GLOBAL else project_id,
        "session_id": session_id if scope is Scope.SESSION else None,
    }
    found = connection.value(_SQL["find_audience"], values)
    return connection.value(_SQL["add_audience"], values) if found is None else found


def _keep_vector(connection: Connection, seq: int, derived: Derived) -> None:
    connection.execute(_SQL["keep_vector"], {"seq": seq, "model": derived.model, "vector": derived.vector})
    if derived.vector_to_come is not None:
        model, vector = derived.vector_to_come
        connection.execute(_SQL["keep_vector"], {"seq": seq, "model": model, "vector": vector})


def _visible_by_id(
    connection: Connection, visibility: Visibility, memory_ids: Sequence[str]
) -> dict[str, tuple[int, Memory]]:
    values = _visibility_values(visibility) | {"ids": json_text(list(memory_ids))}
    found = [(seq, memory_from(row)) for seq, *row in connection.execute(_SQL["visible_by_id"], values)]
    return {memory.id: (seq, memory) for seq, memory in found}


def _delete(connection: Connection, visibility: Visibility, memory_ids: Sequence[str]) -> list[Memory]:
    found = _visible_by_id(connection, visibility, memory_ids)
    rebuilding = _rebuild_is_under_way(connection)
    for seq, _ in found.values():
        connection.execute(_SQL["erase"], {"seq": seq})
    for seq, _ in found.values():
        connection.execute(_SQL["erase_terms"], {"seq": seq})
        if rebuilding:
            connection.execute(_SQL["erase_terms_next"], {"seq": seq})
    return [found[memory_id][1] for memory_id in dict.fromkeys(memory_ids) if memory_id in found]


# -- rebuilding ------------------------------------------------------------------------------------


def _rebuild_is_under_way(connection: Connection) -> bool:
    return bool(connection.execute(_SQL["rebuilt_to"]))


def _refuse_without_rebuild(connection: Connection) -> None:
    if not _rebuild_is_under_way(connection):
        raise Conflict("no rebuild is under way", hint="begin one first")


def _begin_rebuild(connection: Connection, resume: bool) -> str | None:
    if resume and _rebuild_is_under_way(connection):
        return connection.value(_SQL["rebuilt_to"])
    connection.execute(_SQL["drop_next"])
    connection.execute(connection.value(_SQL["next_definition"]))
    connection.execute(_SQL["configure_next"])
    connection.execute(_SQL["note_rebuilt_to"], {"id": None})
    return None


def _rebuild(connection: Connection, batch: Sequence[tuple[str, Derived]]) -> None:
    _refuse_without_rebuild(connection)
    derived: dict[int, Derived] = {}
    for memory_id, made in batch:
        seq = connection.value(_SQL["not_rebuilt"], {"id": memory_id})
        if seq is not None:
            derived[seq] = made
            connection.execute(_SQL["keep_traits"], {"seq": seq, "traits": made.traits})
            _keep_vector(connection, seq, made)
    for seq, made in derived.items():
        connection.execute(_SQL["index_terms_next"], {"seq": seq, "terms": indexed(made.passages)})
    connection.execute(_SQL["note_rebuilt_to"], {"id": max(memory_id for memory_id, _ in batch)})
    connection.execute(_SQL["note_rebuilt_by"], {"model": batch[-1][1].model})


def _exchange(connection: Connection) -> None:
    _refuse_without_rebuild(connection)
    if missing := connection.value(_SQL["count_not_rebuilt"]):
        raise Conflict(f"{missing} memories are not in the new index yet", hint="continue the rebuild, then finish it")
    connection.execute(_SQL["drop_terms"])
    connection.execute(_SQL["exchange_terms"])
    connection.execute(_SQL["drop_replaced_vectors"])
    connection.execute(_SQL["end_rebuild"])
    connection.execute(_SQL["forget_changes"])
    connection.execute(_SQL["note_great_change"])

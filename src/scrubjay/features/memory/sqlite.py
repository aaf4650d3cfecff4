"""SQLite store of memories, with their text index and vectors."""

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from scrubjay.core.errors import Conflict, SourceGone, Unavailable
from scrubjay.core.ids import new_id
from scrubjay.core.lazy import lazy_module
from scrubjay.core.policies import StorageQuota
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.db.damage_report import report_damage
from scrubjay.db.sqlite.change_log import Revision, latest_revision, vector_kinds
from scrubjay.db.sqlite.checksums import DAMAGE, UNREADABLE, DamagedRow
from scrubjay.db.sqlite.columns import json_text, json_value, microseconds, optional_microseconds
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.fts_terms import index_text, match_all
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.memory.candidates import CandidatePool, CandidateQuery
from scrubjay.features.memory.conflicts import MemoryRelation, compare_memories
from scrubjay.features.memory.link_rows import add_links, copy_links, read_links, replace_links
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryKind, MemoryPage
from scrubjay.features.memory.quota_rows import enforce_quota
from scrubjay.features.memory.row_reader import RowsRead, page_row_by_row, read_memories
from scrubjay.features.memory.rows import memory_from, memory_values, receipt_from
from scrubjay.features.memory.store import DerivedFile, MemoryCounts, SearchView
from scrubjay.features.memory.writes import (
    Idempotency,
    IdempotentOutcome,
    MemoryWrite,
    SearchData,
    Stored,
    Updated,
    WriteOutcome,
    make_receipt,
)

if TYPE_CHECKING:
    from scrubjay.features.memory import index as memory_index
    from scrubjay.features.memory.index import MemoryIndex
else:
    # Imports numpy.
    memory_index = lazy_module("scrubjay.features.memory.index")

logger = logging.getLogger("scrubjay.db")

T = TypeVar("T")

_SQL = load_queries(__file__)
_NO_FILTER = MemoryFilter()

# A search of this many rows takes about 5 ms inline; another thread, with a cold CPU cache, would add 1.5 ms.
MAX_INLINE_MEMORIES = 150_000
# Up to this size, approximate vectors are good enough to choose candidates.
MAX_APPROXIMATE_ROWS = 5_000
MAX_INLINE_CHANGES = 100
# One for the current model, and one for the previous model, which running calls may still use.
MAX_INDEXES = 2
# Up to this size, rewriting the derived files takes about 30 ms, so every erasure does it at once.
MAX_ROWS_REWRITTEN_AT_ONCE = 10_000
# Clients usually retry within minutes; one that was switched off may retry days later.
IDEMPOTENCY_KEY_LIFETIME = timedelta(days=7)


class SqliteMemories:
    """A `MemoryStore` in SQLite, with one `MemoryIndex` for each embedding model in use."""

    def __init__(self, writer: Writer, readers: Readers, derived: Path) -> None:
        self._writer = writer
        self._readers = readers
        self._derived = derived
        self._indexes: dict[tuple[str, int], MemoryIndex] = {}
        self._indexes_lock = threading.Lock()
        self._files_have_erased_rows = False

    async def put(self, writes: Sequence[MemoryWrite], allowance: StorageQuota | None = None) -> Sequence[WriteOutcome]:
        return await self._writer.write(lambda connection: _put(connection, writes, allowance))

    async def put_once(
        self, writes: Sequence[MemoryWrite], once: Idempotency, now: datetime, allowance: StorageQuota | None = None
    ) -> IdempotentOutcome:
        return await self._writer.write(lambda connection: _put_once(connection, writes, once, now, allowance))

    async def get(self, visibility: Visibility, memory_id: str) -> Memory | None:
        found = await self._readers.read(lambda connection: _visible_by_id(connection, visibility, [memory_id]))
        return found[memory_id][1] if found else None

    async def find(self, visibility: Visibility, filter: MemoryFilter, limit: int) -> Sequence[Memory]:
        values = _visibility_values(visibility) | _filter_values(filter) | {"limit": limit}

        def read(connection: Connection) -> Sequence[Memory]:
            try:
                return _selected(connection, _SQL["find"], values).undamaged()
            except UNREADABLE:
                page = page_row_by_row(connection, values | {"offset": 0}, newest_first=True, by_time=False)
                return page.memories

        return await self._readers.read(read)

    async def page(
        self, visibility: Visibility, filter: MemoryFilter, *, newest_first: bool, limit: int, offset: int
    ) -> MemoryPage:
        values = _visibility_values(visibility) | _filter_values(filter) | {"limit": limit, "offset": offset}

        def read(connection: Connection) -> MemoryPage:
            try:
                return read_page(connection)
            except UNREADABLE:
                return page_row_by_row(connection, values, newest_first=newest_first)

        def read_page(connection: Connection) -> MemoryPage:
            found = _selected(connection, _SQL["list_newest"] if newest_first else _SQL["list_oldest"], values)
            total = connection.value(_SQL["count_listed"], values)
            return MemoryPage(total, [*found.memories.values()], found.damaged)

        return await self._readers.read(read)

    async def history(self, visibility: Visibility, memory_id: str) -> Sequence[Memory]:
        values = _visibility_values(visibility) | {"id": memory_id}
        return await self._readers.read(lambda connection: _selected(connection, _SQL["history"], values).undamaged())

    async def delete(self, visibility: Visibility, memory_ids: Sequence[str]) -> Sequence[Memory]:
        erased = await self._writer.erase(lambda connection: _delete(connection, visibility, memory_ids))
        if erased:
            await self._erase_from_files()
        return erased

    async def protect(self, visibility: Visibility, memory_ids: Sequence[str], protected: bool) -> Sequence[Memory]:
        return await self._writer.write(
            lambda connection: _protect(connection, visibility, memory_ids, protected=protected)
        )

    async def erase(self, memory_ids: Sequence[str]) -> int:
        erased = await self._writer.erase(lambda connection: len(_erase_all(connection, memory_ids)))
        if erased:
            await self._erase_from_files()
        return erased

    async def in_snapshot(self, query: CandidateQuery, work: Callable[[SearchView], T]) -> T:
        if self._can_run_inline(query):
            found = await self._readers.read_inline(lambda connection: self._run_if_current(connection, query, work))
            if found is not None:
                return found[0]
        return await self._readers.read(lambda connection: work(_SqliteSearchView(self, connection, query)))

    async def speakers(self, visibility: Visibility, model: str) -> Sequence[str]:
        return await self._readers.read(lambda connection: self._speakers(connection, visibility, model))

    async def add_uses(self, uses: Mapping[str, int], used_at: datetime) -> None:
        values = {"uses": json_text(dict(uses)), "used_at": microseconds(used_at)}
        await self._writer.write(lambda connection: connection.execute(_SQL["add_uses"], values))

    def needs_compaction(self) -> bool:
        return self._files_have_erased_rows or any(index.needs_compaction for index in self._indexes.values())

    async def compact(self) -> Sequence[DerivedFile]:
        self._files_have_erased_rows = False
        return await self._readers.read(self._compact)

    async def _erase_from_files(self) -> None:
        """Rewrite the derived files without erased rows: at once if they are small, else at the next compaction."""
        self._files_have_erased_rows = any(self._derived.glob("memories-*.bin"))
        try:
            count = await self._readers.read(lambda connection: connection.value(_SQL["count_memories"]))
            if self._files_have_erased_rows and count <= MAX_ROWS_REWRITTEN_AT_ONCE:
                await self.compact()
        except (Unavailable, DamagedRow) as error:  # erased from the store, but still in the files
            self._files_have_erased_rows = True
            logger.warning("derived files still contain erased memories", extra={"problem": error.message})

    async def counts(self) -> MemoryCounts:
        return await self._readers.read(
            lambda connection: MemoryCounts(
                connection.value(_SQL["count_memories"]),
                connection.value(_SQL["count_indexed"]),
                dict(connection.execute(_SQL["count_vectors"])),
            )
        )

    async def kinds(self) -> Mapping[MemoryKind, int]:
        return await self._readers.read(
            lambda connection: {MemoryKind(kind): count for kind, count in connection.execute(_SQL["count_kinds"])}
        )

    async def scan(self, after: str | None, limit: int) -> Sequence[Memory]:
        values = {"after": after or "", "limit": limit}
        return await self._readers.read(
            lambda connection: [memory_from(row) for row in connection.execute(_SQL["scan"], values)]
        )

    async def begin_rebuild(self, *, resume: bool) -> str | None:
        return await self._writer.write(lambda connection: _begin_rebuild(connection, resume))

    async def rebuild(self, batch: Sequence[tuple[str, SearchData]]) -> None:
        if batch:
            await self._writer.write(lambda connection: _rebuild(connection, batch))

    async def finish_rebuild(self) -> Sequence[DerivedFile]:
        await self._writer.write(_finish_rebuild)
        return await self._readers.read(self._write_derived_files)

    # -- searching ---------------------------------------------------------------------------------

    def _can_run_inline(self, query: CandidateQuery) -> bool:
        """Return True if the index is loaded, free and small enough to search on the event loop."""
        index = self._indexes.get((query.model, len(query.vector)))
        return index is not None and 0 < index.rows <= MAX_INLINE_MEMORIES and not self._indexes_lock.locked()

    def _run_if_current(
        self, connection: Connection, query: CandidateQuery, work: Callable[[SearchView], T]
    ) -> tuple[T] | None:
        """Return the result of `work`; None if the index has missed too many changes to read them quickly."""
        index = self._indexes.get((query.model, len(query.vector)))
        if index is None or index.is_far_behind:
            return None
        latest = latest_revision(connection)
        return (
            None
            if index.count_missed(latest) > MAX_INLINE_CHANGES
            else (work(_SqliteSearchView(self, connection, query, latest)),)
        )

    def _speakers(self, connection: Connection, visibility: Visibility, model: str) -> Sequence[str]:
        with self._indexes_lock:
            index = self._index(connection, model, 0)
            index.refresh(connection)
            audiences = connection.execute(_SQL["audiences"], _visibility_values(visibility))
            return index.speakers(tuple(audience for (audience,) in audiences))

    def candidates(self, connection: Connection, query: CandidateQuery, latest: Revision | None) -> CandidatePool:
        """Return the candidates of a snapshot; `latest` is the snapshot's last change, if it is known."""
        values = _visibility_values(query.visibility) | _filter_values(query.filter)
        # The snapshot begins with the first statement, under the lock: an index never sees an older state again.
        with self._indexes_lock:
            index = self._index(connection, query.model, len(query.vector))
            index.refresh(connection, latest)
            audiences = [audience for (audience,) in connection.execute(_SQL["audiences"], values)]
            within = audiences
            if query.filter.scope is not None:
                within = [audience for (audience,) in connection.execute(_SQL["audiences_of_scope"], values)]
            passing = None
            if query.filter.key is not None or query.filter.containing:
                passing = [seq for (seq,) in connection.execute(_SQL["matching"], values)]
            exact = None if index.rows <= MAX_APPROXIMATE_ROWS else partial(_read_vectors, connection, query.model)
            found = index.candidates(query, audiences, within, passing, exact)
            index.update_file()
        for number in range(index.damaged):  # not one of them is a candidate that is read and reported later
            report_damage("memory", ("not indexed", number))
        return _add_use_counts(connection, found) if query.with_uses else found

    def _compact(self, connection: Connection) -> Sequence[DerivedFile]:
        written: list[DerivedFile] = []
        for kind in vector_kinds(connection):
            index = memory_index.MemoryIndex(self._derived, *kind)  # a separate index, so that searches need not wait
            index.refresh(connection)
            written.append(_write_index_file(index))
            with self._indexes_lock:
                if kind in self._indexes:
                    self._indexes[kind].reset()
        for path in self._derived.glob("memories-*.bin"):
            if path.name not in {file.name for file in written}:  # its model has no vectors any more
                path.unlink(missing_ok=True)
        return written

    def _write_derived_files(self, connection: Connection) -> Sequence[DerivedFile]:
        written: list[DerivedFile] = []
        with self._indexes_lock:
            for kind in vector_kinds(connection):
                index = self._indexes.setdefault(kind, memory_index.MemoryIndex(self._derived, *kind))
                index.refresh(connection)
                written.append(_write_index_file(index))
        needed = {file.name for file in written}
        for path in [*self._derived.glob("memories-*"), *self._derived.glob("vectors-*")]:
            if path.name not in needed:
                path.unlink(missing_ok=True)
        return written

    def _index(self, connection: Connection, model: str, vector_bytes: int) -> "MemoryIndex":
        kind = (model, vector_bytes)
        if not vector_bytes:  # any index of this model, whatever its vector size
            known = [*self._indexes, *vector_kinds(connection), kind]
            kind = next(one for one in known if one[0] == model)
        if kind not in self._indexes:
            while len(self._indexes) >= MAX_INDEXES:
                del self._indexes[next(iter(self._indexes))]
            self._indexes[kind] = memory_index.MemoryIndex(self._derived, *kind)
        return self._indexes[kind]


class _SqliteSearchView:
    """A `SearchView` of the snapshot of one connection."""

    def __init__(
        self, memories: SqliteMemories, connection: Connection, query: CandidateQuery, latest: Revision | None = None
    ) -> None:
        self._memories = memories
        self._connection = connection
        self._query = query
        self._latest = latest

    def candidates(self) -> CandidatePool:
        return self._memories.candidates(self._connection, self._query, self._latest)

    def read(self, handles: Sequence[int]) -> Mapping[int, Memory]:
        values = _visibility_values(self._query.visibility)
        found = dict(read_memories(self._connection, values, handles, links=True).memories)
        if any(memory.subject is not None for memory in found.values()):
            _add_conflicts(self._connection, found)
        return found


def _write_index_file(index: "MemoryIndex") -> DerivedFile:
    try:
        return index.write_file()
    except OSError as error:
        raise Unavailable(
            f"a derived file could not be written ({error.strerror}); searches still work, but slower",
            hint="free disk space on the volume of SCRUBJAY_HOME, then try again",
        ) from error


def _read_vectors(connection: Connection, model: str, seqs: list[int]) -> list[bytes]:
    """Return the exact vector of each row; empty if it has none."""
    values = {"seqs": json_text(seqs), "model": model}
    vectors = dict(connection.execute(_SQL["vectors_of"], values))
    return [vectors.get(seq, b"") for seq in seqs]


def _add_use_counts(connection: Connection, pool: CandidatePool) -> CandidatePool:
    handles = pool.handles.tolist()
    column_of = {handle: column for column, handle in enumerate(handles)}
    uses, last_used = pool.uses.copy(), pool.last_used.copy()
    for seq, count, used_at in connection.execute(_SQL["uses"], {"seqs": json_text(handles)}):
        uses[column_of[seq]], last_used[column_of[seq]] = count, used_at
    return replace(pool, uses=uses, last_used=last_used)


def _visibility_values(visibility: Visibility) -> dict[str, Any]:
    return {"project_id": visibility.project_id, "session_id": visibility.session_id}


def _filter_values(filter: MemoryFilter) -> dict[str, Any]:
    return {
        "unfiltered": filter in (_NO_FILTER, MemoryFilter(as_of=filter.as_of)),
        "scope": filter.scope,
        "category": filter.category,
        "tags": json_text(filter.tags) if filter.tags else None,
        "speaker": filter.speaker,
        "key": filter.key,
        "from_session": filter.from_session,
        "occurred_after": optional_microseconds(filter.occurred_after),
        "occurred_before": optional_microseconds(filter.occurred_before),
        "match": match_all(filter.containing) if filter.containing else None,
        "kinds": json_text(filter.kinds) if filter.kinds else None,
        "special": bool(filter.kinds) and MemoryKind.GENERAL not in filter.kinds,
        "as_of": optional_microseconds(filter.as_of),
    }


# -- writing ---------------------------------------------------------------------------------------


def _put(
    connection: Connection, writes: Sequence[MemoryWrite], allowance: StorageQuota | None = None
) -> list[WriteOutcome]:
    sources = {source for write in writes for source in write.source_ids}
    if sources and connection.value(_SQL["lacks_source"], {"ids": json_text(sorted(sources))}):
        raise SourceGone(
            "a memory that this was made from has been erased", hint="make it again from the memories that remain"
        )
    derived: dict[int, SearchData] = {}
    audience_of = cache(partial(_get_or_add_audience, connection))
    outcomes = [_put_one(connection, write, audience_of, derived) for write in writes]
    if allowance is not None and any(isinstance(outcome, Stored) for outcome in outcomes):
        enforce_quota(connection, allowance)
    rebuilding = _is_rebuilding(connection)
    _store_vectors(connection, derived)
    # Last, because every statement with its own savepoint makes FTS5 flush a separate segment.
    terms = [{"seq": seq, "terms": index_text(made.passages)} for seq, made in derived.items()]
    connection.execute_each(_SQL["index_terms"], terms)
    if rebuilding:
        connection.execute_each(_SQL["index_terms_next"], terms)
    return outcomes


def _put_one(
    connection: Connection, write: MemoryWrite, audience_of: Callable[..., int], derived: dict[int, SearchData]
) -> WriteOutcome:
    """Write the row of the memory and add its search data to `derived`, by row number."""
    audience = audience_of(write.memory.scope, write.memory.project_id, write.memory.session_id)
    existing: list[Any] = []
    if write.revises is not None:
        existing = connection.execute(_SQL["revised"], {"audience_id": audience, "id": write.revises})
        if not existing:
            raise Conflict(
                "the memory to change was erased or superseded", hint="recall the current memories, then try again"
            )
    elif write.memory.key is not None:
        existing = connection.execute(_SQL["keyed"], {"audience_id": audience, "key": write.memory.key})
    if not existing:
        return _add(connection, write, audience, derived)
    seq, *row = existing[0]
    before = replace(memory_from(row), links=read_links(connection, [seq]).get(seq, ()))
    if write.memory.valid_from and before.valid_from and write.memory.valid_from < before.valid_from:
        earlier = replace(
            write.memory,
            id=new_id("old"),
            key=None,
            superseded_by=before.id,
            valid_until=write.memory.valid_until or before.valid_from,
        )
        return _add(connection, replace(write, memory=earlier), audience, derived)
    revised = write.revise(before)
    versions: tuple[str, ...] = ()
    if revised.content != before.content:
        versions = (_store_version(connection, seq, revised, derived),)
    connection.execute(_SQL["revise"], memory_values(revised) | {"seq": seq})
    if revised.links != before.links:
        replace_links(connection, seq, revised.links)
    if "content" in write.given:
        made = derived[seq] = write.rederive(revised)
        connection.execute(_SQL["drop_other_vectors"], {"seq": seq, "model": made.model})
        connection.execute(_SQL["set_traits"], {"seq": seq, "traits": made.traits})
    return Updated(revised, superseded=versions)


def _add(connection: Connection, write: MemoryWrite, audience: int, derived: dict[int, SearchData]) -> Stored:
    """Add a new memory; resolve its relation to others about its subject."""
    memory, superseded, conflicts = write.memory, list[str](), list[str]()
    if memory.subject is not None and memory.superseded_by is None:
        values = {"audience_id": audience, "subject": memory.subject, "id": memory.id}
        for seq, *row in connection.execute(_SQL["rivals"], values):
            try:
                rival = memory_from(row)
            except DamagedRow:  # its words are not certain, so it neither supersedes nor conflicts
                continue
            match compare_memories(write.memory, rival):
                case MemoryRelation.SUPERSEDES:
                    until = microseconds(memory.true_since)
                    connection.execute(_SQL["supersede"], {"seq": seq, "successor": memory.id, "until": until})
                    superseded.append(rival.id)
                case MemoryRelation.PRECEDES:
                    ends = memory.valid_until or rival.true_since
                    memory = replace(memory, superseded_by=rival.id, valid_until=ends)
                case MemoryRelation.CONFLICTS:
                    conflicts.append(rival.id)
                case MemoryRelation.SAME:
                    pass
    values = memory_values(memory) | {"audience_id": audience, "traits": write.derived.traits}
    seq = connection.insert(_SQL["add"], values)
    derived[seq] = write.derived
    add_links(connection, seq, memory.links)
    return Stored(memory, superseded=tuple(superseded), conflicts=tuple(conflicts))


def _store_version(connection: Connection, seq: int, revised: Memory, derived: dict[int, SearchData]) -> str:
    """Copy a memory as an earlier version, before it is changed, and return the id of the copy."""
    version = new_id("old")
    values = {
        "seq": seq,
        "version": version,
        "now": microseconds(revised.updated_at),
        "until": microseconds(revised.true_since),
    }
    copy = connection.value(_SQL["add_version"], values)
    copy_links(connection, seq, copy)
    if seq in derived:  # written by the same call
        derived[copy] = derived[seq]
        return version
    connection.execute(_SQL["copy_vectors"], {"seq": seq, "copy": copy})
    values = {"seq": copy, "terms": connection.value(_SQL["terms_of"], {"seq": seq})}
    connection.execute(_SQL["index_terms"], values)
    if _is_rebuilding(connection):
        connection.execute(_SQL["index_terms_next"], values)
    return version


def _put_once(
    connection: Connection,
    writes: Sequence[MemoryWrite],
    once: Idempotency,
    now: datetime,
    allowance: StorageQuota | None,
) -> IdempotentOutcome:
    connection.execute(_SQL["expire_keys"], {"before": microseconds(now - IDEMPOTENCY_KEY_LIFETIME)})
    known = connection.execute(_SQL["receipts_of_key"], {"client": once.client, "key": once.key})
    if known:
        ((digest, receipts),) = known
        if digest != once.digest:
            raise Conflict(
                "this idempotency_key was already used for a different write",
                hint="use a new key for every new write, and the same key only to retry a write",
            )
        try:
            return IdempotentOutcome([receipt_from(one) for one in json_value(receipts)], None)
        except DAMAGE as error:
            raise DamagedRow("write_once", once.key) from error
    outcomes = _put(connection, writes, allowance)
    receipts = [make_receipt(outcome) for outcome in outcomes]
    noted = json_text([asdict(receipt) for receipt in receipts])
    values = {"client": once.client, "key": once.key, "digest": once.digest, "outcomes": noted}
    connection.execute(_SQL["record_key"], values | {"written_at": microseconds(now)})
    return IdempotentOutcome(receipts, outcomes)


def _add_conflicts(connection: Connection, found: dict[int, Memory]) -> None:
    rivals: dict[str, list[str]] = defaultdict(list)
    for memory_id, rival in connection.execute(_SQL["conflicts"], {"seqs": json_text([*found])}):
        rivals[memory_id].append(rival)
    for seq, memory in found.items():
        if memory.id in rivals:
            found[seq] = replace(memory, conflicts=tuple(rivals[memory.id]))


def _get_or_add_audience(connection: Connection, scope: Scope, project_id: str | None, session_id: str | None) -> int:
    values = {
        "scope": scope,
        "project_id": None if scope is Scope.GLOBAL else project_id,
        "session_id": session_id if scope is Scope.SESSION else None,
    }
    found = connection.value(_SQL["find_audience"], values)
    return connection.value(_SQL["add_audience"], values) if found is None else found


def _store_vectors(connection: Connection, derived: Mapping[int, SearchData]) -> None:
    """Store the vectors of these rows, by the current model and by the next one if there is one."""
    vectors = [(seq, made.model, made.vector) for seq, made in derived.items()]
    vectors += [(seq, *made.next_vector) for seq, made in derived.items() if made.next_vector is not None]
    rows = [{"seq": seq, "model": model, "vector": vector} for seq, model, vector in vectors]
    connection.execute_each(_SQL["put_vector"], rows)


def _selected(connection: Connection, query: str, values: Mapping[str, Any]) -> RowsRead:
    """Return the memories whose row numbers the query selects."""
    return read_memories(connection, values, [seq for (seq,) in connection.execute(query, values)])


def _visible_by_id(
    connection: Connection, visibility: Visibility, memory_ids: Sequence[str]
) -> dict[str, tuple[int, Memory]]:
    values = _visibility_values(visibility) | {"ids": json_text(list(memory_ids))}
    found = _selected(connection, _SQL["visible_by_id"], values)
    if found.damaged:
        raise DamagedRow("memory", memory_ids[0] if len(memory_ids) == 1 else None)
    return {memory.id: (seq, memory) for seq, memory in found.memories.items()}


def _delete(connection: Connection, visibility: Visibility, memory_ids: Sequence[str]) -> list[Memory]:
    found = _visible_by_id(connection, visibility, memory_ids)
    for memory_id in found:
        connection.execute(_SQL["restore"], {"id": memory_id})
    _erase(connection, [(seq, memory.id) for seq, memory in found.values()])
    return [found[memory_id][1] for memory_id in dict.fromkeys(memory_ids) if memory_id in found]


def _erase_all(connection: Connection, memory_ids: Sequence[str]) -> Sequence[tuple[int, str]]:
    """Erase these memories of any scope unless they are protected, and return their row numbers and ids."""
    found = [(row[0], row[1]) for row in connection.execute(_SQL["by_ids"], {"ids": json_text(list(memory_ids))})]
    _erase(connection, found)
    return found


def _erase(connection: Connection, memories: Sequence[tuple[int, str]]) -> None:
    """Erase memories with their earlier versions."""
    seqs = [seq for seq, _ in memories]
    for _, memory_id in memories:
        seqs += [seq for (seq,) in connection.execute(_SQL["versions"], {"id": memory_id})]
    rebuilding = _is_rebuilding(connection)
    for seq in seqs:
        connection.execute(_SQL["erase"], {"seq": seq})
    for seq in seqs:
        connection.execute(_SQL["erase_terms"], {"seq": seq})
        if rebuilding:
            connection.execute(_SQL["erase_terms_next"], {"seq": seq})


def _protect(
    connection: Connection, visibility: Visibility, memory_ids: Sequence[str], *, protected: bool
) -> list[Memory]:
    values = {"ids": json_text(list(memory_ids)), "protected": int(protected)}
    connection.execute(_SQL["set_protected"], _visibility_values(visibility) | values)
    return [memory for _, memory in _visible_by_id(connection, visibility, memory_ids).values()]


# -- rebuilding ------------------------------------------------------------------------------------


def _is_rebuilding(connection: Connection) -> bool:
    return bool(connection.execute(_SQL["rebuilt_to"]))


def _require_rebuild(connection: Connection) -> None:
    if not _is_rebuilding(connection):
        raise Conflict("no rebuild is in progress", hint="start one first")


def _begin_rebuild(connection: Connection, resume: bool) -> str | None:
    if resume and _is_rebuilding(connection):
        return connection.value(_SQL["rebuilt_to"])
    connection.execute(_SQL["drop_next"])
    connection.execute(connection.value(_SQL["next_definition"]))
    connection.execute(_SQL["configure_next"])
    connection.execute(_SQL["set_rebuilt_to"], {"id": None})
    return None


def _rebuild(connection: Connection, batch: Sequence[tuple[str, SearchData]]) -> None:
    _require_rebuild(connection)
    derived: dict[int, SearchData] = {}
    for memory_id, made in batch:
        seq = connection.value(_SQL["not_rebuilt"], {"id": memory_id})
        if seq is not None:
            derived[seq] = made
            connection.execute(_SQL["set_traits"], {"seq": seq, "traits": made.traits})
    _store_vectors(connection, derived)
    for seq, made in derived.items():
        connection.execute(_SQL["index_terms_next"], {"seq": seq, "terms": index_text(made.passages)})
    connection.execute(_SQL["set_rebuilt_to"], {"id": max(memory_id for memory_id, _ in batch)})
    connection.execute(_SQL["set_rebuilt_by"], {"model": batch[-1][1].model})


def _finish_rebuild(connection: Connection) -> None:
    _require_rebuild(connection)
    if missing := connection.value(_SQL["count_not_rebuilt"]):
        raise Conflict(f"the new index still lacks {missing} memories", hint="continue the rebuild, then finish it")
    connection.execute(_SQL["drop_terms"])
    connection.execute(_SQL["exchange_terms"])
    connection.execute(_SQL["drop_replaced_vectors"])
    connection.execute(_SQL["end_rebuild"])
    connection.execute(_SQL["truncate_change_log"])
    connection.execute(_SQL["restart_change_log"])

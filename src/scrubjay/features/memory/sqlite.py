"""Memories in SQLite, with their text index and their vectors."""

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrubjay.core.errors import Conflict, SourceGone, Unavailable
from scrubjay.core.ids import new_id
from scrubjay.core.policies import Allowance
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.db.sqlite.change_log import Revision, latest_revision, vector_kinds
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.fts_terms import indexed, match_all
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import json_text, json_value, microseconds, optional_microseconds
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.memory.conflicts import Verdict, judge
from scrubjay.features.memory.link_rows import add_links, copy_links, keep_links, links_of, with_links
from scrubjay.features.memory.models import (
    CandidatePool,
    CandidateQuery,
    Choose,
    Derived,
    Kind,
    Memory,
    MemoryFilter,
    MemoryWrite,
    Once,
    Page,
    Stored,
    Updated,
    WriteOutcome,
    Written,
    receipt_of,
)
from scrubjay.features.memory.quota_rows import refuse_beyond
from scrubjay.features.memory.rows import memory_from, memory_values, receipt_from
from scrubjay.features.memory.store import DerivedFile, MemoryCounts

if TYPE_CHECKING:
    from scrubjay.features.memory.index import MemoryIndex

logger = logging.getLogger("scrubjay.db")

_SQL = load_queries(__file__)
_EVERYTHING = MemoryFilter()

# A search among so many takes about 5 ms, and 1.5 ms more on another thread, whose processor has nothing of it at hand.
FEW_MEMORIES = 150_000
# Among so few memories it does not matter which one is the last to be a candidate.
ENOUGH_CANDIDATES = 5_000
FEW_CHANGES = 100
# That of the model which answers, and that of the one before it while somebody may still ask for it.
MOST_INDEXES = 2
# The derived files of so many memories are written anew in some 30 ms: at once when one is erased.
SOON_REWRITTEN = 10_000
# A write that is sent again comes within minutes; a client that was switched off meanwhile, within days.
REMEMBERED_ONCE = timedelta(days=7)


class SqliteMemories:
    """Satisfies `storage.memories.MemoryStore`."""

    def __init__(self, writer: Writer, readers: Readers, derived: Path) -> None:
        self._writer = writer
        self._readers = readers
        self._derived = derived
        self._indexes: dict[tuple[str, int], MemoryIndex] = {}
        self._indexes_lock = threading.Lock()
        self._files_have_erased = False

    async def put(self, writes: Sequence[MemoryWrite], allowance: Allowance | None = None) -> Sequence[WriteOutcome]:
        return await self._writer.write(lambda connection: _put(connection, writes, allowance))

    async def put_once(
        self, writes: Sequence[MemoryWrite], once: Once, now: datetime, allowance: Allowance | None = None
    ) -> Written:
        return await self._writer.write(lambda connection: _put_once(connection, writes, once, now, allowance))

    async def get(self, visibility: Visibility, memory_id: str) -> Memory | None:
        found = await self._readers.read(lambda connection: _visible_by_id(connection, visibility, [memory_id]))
        return found[memory_id][1] if found else None

    async def find(self, visibility: Visibility, filter: MemoryFilter, limit: int) -> Sequence[Memory]:
        values = _visibility_values(visibility) | _filter_values(filter) | {"limit": limit}
        return await self._readers.read(
            lambda connection: [memory_from(row) for row in connection.execute(_SQL["find"], values)]
        )

    async def page(
        self, visibility: Visibility, filter: MemoryFilter, *, newest_first: bool, limit: int, offset: int
    ) -> Page:
        values = _visibility_values(visibility) | _filter_values(filter) | {"limit": limit, "offset": offset}
        page = _SQL["list_newest"] if newest_first else _SQL["list_oldest"]
        return await self._readers.read(
            lambda connection: Page(
                connection.value(_SQL["count_listed"], values),
                [memory_from(row) for row in connection.execute(page, values)],
            )
        )

    async def history(self, visibility: Visibility, memory_id: str) -> Sequence[Memory]:
        values = _visibility_values(visibility) | {"id": memory_id}
        return await self._readers.read(
            lambda connection: [memory_from(row) for row in connection.execute(_SQL["history"], values)]
        )

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
        return self._files_have_erased or any(index.is_scattered for index in self._indexes.values())

    async def compact(self) -> Sequence[DerivedFile]:
        self._files_have_erased = False
        return await self._readers.read(self._compact)

    async def _erase_from_files(self) -> None:
        """Take what was erased out of the derived files: of few memories at once, of many when they are compacted."""
        self._files_have_erased = any(self._derived.glob("memories-*.bin"))
        try:
            count = await self._readers.read(lambda connection: connection.value(_SQL["count_memories"]))
            if self._files_have_erased and count <= SOON_REWRITTEN:
                await self.compact()
        except Unavailable as error:  # it is gone from the store, and stays to be taken out of the files
            self._files_have_erased = True
            logger.warning("derived files still have what was erased", extra={"problem": error.message})

    async def counts(self) -> MemoryCounts:
        return await self._readers.read(
            lambda connection: MemoryCounts(
                connection.value(_SQL["count_memories"]),
                connection.value(_SQL["count_indexed"]),
                dict(connection.execute(_SQL["count_vectors"])),
            )
        )

    async def kinds(self) -> Mapping[Kind, int]:
        return await self._readers.read(
            lambda connection: {Kind(kind): count for kind, count in connection.execute(_SQL["count_kinds"])}
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
        if index is None or index.misses_much:
            return None
        latest = latest_revision(connection)
        return None if index.missed(latest) > FEW_CHANGES else self._search(connection, query, choose, latest)

    def _speakers(self, connection: Connection, visibility: Visibility, model: str) -> Sequence[str]:
        with self._indexes_lock:
            index = self._index(connection, model, 0)
            index.refresh(connection)
            audiences = connection.execute(_SQL["audiences"], _visibility_values(visibility))
            return index.speakers(tuple(audience for (audience,) in audiences))

    def _search(
        self, connection: Connection, query: CandidateQuery, choose: Choose, latest: Revision | None = None
    ) -> dict[int, Memory]:
        """What is chosen; `latest` is the last change of the connection's snapshot, where that is known."""
        handles = choose(self._candidates(connection, query, latest))
        if not handles:
            return {}
        values = _visibility_values(query.visibility) | {"seqs": json_text([*handles])}
        rows = connection.execute(_SQL["whole"], values)
        found = {row[0]: memory_from(row[2:]) for row in rows}
        if any(row[1] for row in rows):
            found = with_links(connection, found)
        if any(memory.subject is not None for memory in found.values()):
            _note_conflicts(connection, found)
        return found

    def _candidates(self, connection: Connection, query: CandidateQuery, latest: Revision | None) -> CandidatePool:
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
                passing = [seq for (seq,) in connection.execute(_SQL["passing"], values)]
            exact = None if index.rows <= ENOUGH_CANDIDATES else partial(_vectors_of, connection, query.model)
            found = index.candidates(query, audiences, within, passing, exact)
            index.keep_up_file()
        return _with_uses(connection, found) if query.with_uses else found

    def _compact(self, connection: Connection) -> Sequence[DerivedFile]:
        from scrubjay.features.memory.index import MemoryIndex

        written: list[DerivedFile] = []
        for kind in vector_kinds(connection):
            index = MemoryIndex(self._derived, *kind)  # one of its own: nobody has to wait for it
            index.refresh(connection)
            written.append(_written(index))
            with self._indexes_lock:
                if kind in self._indexes:
                    self._indexes[kind].begin_anew()
        for path in self._derived.glob("memories-*.bin"):
            if path.name not in {file.name for file in written}:  # no memory has a vector of its model any more
                path.unlink(missing_ok=True)
        return written

    def _write_derived_files(self, connection: Connection) -> Sequence[DerivedFile]:
        from scrubjay.features.memory.index import MemoryIndex

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
        from scrubjay.features.memory.index import MemoryIndex

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
            hint="free some disk space where SCRUBJAY_HOME is, then try again",
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
        "unfiltered": filter in (_EVERYTHING, MemoryFilter(as_of=filter.as_of)),
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
        "special": bool(filter.kinds) and Kind.GENERAL not in filter.kinds,
        "as_of": optional_microseconds(filter.as_of),
    }


# -- writing ---------------------------------------------------------------------------------------


def _put(
    connection: Connection, writes: Sequence[MemoryWrite], allowance: Allowance | None = None
) -> list[WriteOutcome]:
    sources = {source for write in writes for source in write.made_of}
    if sources and connection.value(_SQL["lacks_source"], {"ids": json_text(sorted(sources))}):
        raise SourceGone("something that this is made of was forgotten meanwhile", hint="make it anew of what there is")
    derived: dict[int, Derived] = {}
    audience_of = cache(partial(_audience_of, connection))
    outcomes = [_put_one(connection, write, audience_of, derived) for write in writes]
    if allowance is not None and any(isinstance(outcome, Stored) for outcome in outcomes):
        refuse_beyond(connection, allowance)
    rebuilding = _rebuild_is_under_way(connection)
    _keep_vectors(connection, derived)
    # Last, because each statement that could be undone by itself makes the text index write a segment of its own.
    terms = [{"seq": seq, "terms": indexed(made.passages)} for seq, made in derived.items()]
    connection.execute_each(_SQL["index_terms"], terms)
    if rebuilding:
        connection.execute_each(_SQL["index_terms_next"], terms)
    return outcomes


def _put_one(
    connection: Connection, write: MemoryWrite, audience_of: Callable[..., int], derived: dict[int, Derived]
) -> WriteOutcome:
    """Keep the memory itself, and note what its indexes have to hold."""
    audience = audience_of(write.memory.scope, write.memory.project_id, write.memory.session_id)
    existing: list[Any] = []
    if write.revises is not None:
        existing = connection.execute(_SQL["revised"], {"audience_id": audience, "id": write.revises})
        if not existing:
            raise Conflict("a memory to be changed is gone meanwhile", hint="recall what there is now, and try again")
    elif write.memory.key is not None:
        existing = connection.execute(_SQL["keyed"], {"audience_id": audience, "key": write.memory.key})
    if not existing:
        return _add(connection, write, audience, derived)
    seq, *row = existing[0]
    before = replace(memory_from(row), links=links_of(connection, [seq]).get(seq, ()))
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
        versions = (_keep_version(connection, seq, revised, derived),)
    connection.execute(_SQL["revise"], memory_values(revised) | {"seq": seq})
    if revised.links != before.links:
        keep_links(connection, seq, revised.links)
    if "content" in write.given:
        made = derived[seq] = write.rederive(revised)
        connection.execute(_SQL["drop_other_vectors"], {"seq": seq, "model": made.model})
        connection.execute(_SQL["keep_traits"], {"seq": seq, "traits": made.traits})
    return Updated(revised, superseded=versions)


def _add(connection: Connection, write: MemoryWrite, audience: int, derived: dict[int, Derived]) -> Stored:
    """Keep a new memory; what it says of its subject takes the place of what was said before."""
    memory, superseded, conflicts = write.memory, list[str](), list[str]()
    if memory.subject is not None and memory.superseded_by is None:
        values = {"audience_id": audience, "subject": memory.subject, "id": memory.id}
        for seq, *row in connection.execute(_SQL["rivals"], values):
            rival = memory_from(row)
            match judge(write.memory, rival):
                case Verdict.SUPERSEDES:
                    until = microseconds(memory.true_since)
                    connection.execute(_SQL["supersede"], {"seq": seq, "successor": memory.id, "until": until})
                    superseded.append(rival.id)
                case Verdict.PRECEDES:
                    ends = memory.valid_until or rival.true_since
                    memory = replace(memory, superseded_by=rival.id, valid_until=ends)
                case Verdict.CONFLICTS:
                    conflicts.append(rival.id)
                case Verdict.SAME:
                    pass
    values = memory_values(memory) | {"audience_id": audience, "traits": write.derived.traits}
    place = connection.insert(_SQL["add"], values)
    derived[place] = write.derived
    add_links(connection, place, memory.links)
    return Stored(memory, superseded=tuple(superseded), conflicts=tuple(conflicts))


def _keep_version(connection: Connection, seq: int, revised: Memory, derived: dict[int, Derived]) -> str:
    """Keep a memory as it is beside what it will be; the id under which it is kept."""
    version = new_id("old")
    values = {
        "seq": seq,
        "version": version,
        "now": microseconds(revised.updated_at),
        "until": microseconds(revised.true_since),
    }
    copy = connection.value(_SQL["keep_version"], values)
    copy_links(connection, seq, copy)
    if seq in derived:  # written by the same call
        derived[copy] = derived[seq]
        return version
    connection.execute(_SQL["copy_vectors"], {"seq": seq, "copy": copy})
    values = {"seq": copy, "terms": connection.value(_SQL["terms_of"], {"seq": seq})}
    connection.execute(_SQL["index_terms"], values)
    if _rebuild_is_under_way(connection):
        connection.execute(_SQL["index_terms_next"], values)
    return version


def _put_once(
    connection: Connection, writes: Sequence[MemoryWrite], once: Once, now: datetime, allowance: Allowance | None
) -> Written:
    connection.execute(_SQL["forget_once"], {"before": microseconds(now - REMEMBERED_ONCE)})
    known = connection.execute(_SQL["written_once"], {"client": once.client, "key": once.key})
    if known:
        ((digest, receipts),) = known
        if digest != once.digest:
            raise Conflict(
                "this idempotency_key was used for something else before",
                hint="send a new key with every new write; the same one only to repeat a write",
            )
        return Written([receipt_from(one) for one in json_value(receipts)], None)
    outcomes = _put(connection, writes, allowance)
    receipts = [receipt_of(outcome) for outcome in outcomes]
    noted = json_text([asdict(receipt) for receipt in receipts])
    values = {"client": once.client, "key": once.key, "digest": once.digest, "outcomes": noted}
    connection.execute(_SQL["note_once"], values | {"written_at": microseconds(now)})
    return Written(receipts, outcomes)


def _note_conflicts(connection: Connection, found: dict[int, Memory]) -> None:
    rivals: dict[str, list[str]] = defaultdict(list)
    for memory_id, rival in connection.execute(_SQL["conflicts"], {"seqs": json_text([*found])}):
        rivals[memory_id].append(rival)
    for seq, memory in found.items():
        if memory.id in rivals:
            found[seq] = replace(memory, conflicts=tuple(rivals[memory.id]))


def _audience_of(connection: Connection, scope: Scope, project_id: str | None, session_id: str | None) -> int:
    values = {
        "scope": scope,
        "project_id": None if scope is Scope.GLOBAL else project_id,
        "session_id": session_id if scope is Scope.SESSION else None,
    }
    found = connection.value(_SQL["find_audience"], values)
    return connection.value(_SQL["add_audience"], values) if found is None else found


def _keep_vectors(connection: Connection, derived: Mapping[int, Derived]) -> None:
    """The vectors of these rows, of the model in use and of one to come."""
    vectors = [(seq, made.model, made.vector) for seq, made in derived.items()]
    vectors += [(seq, *made.vector_to_come) for seq, made in derived.items() if made.vector_to_come is not None]
    rows = [{"seq": seq, "model": model, "vector": vector} for seq, model, vector in vectors]
    connection.execute_each(_SQL["keep_vector"], rows)


def _visible_by_id(
    connection: Connection, visibility: Visibility, memory_ids: Sequence[str]
) -> dict[str, tuple[int, Memory]]:
    values = _visibility_values(visibility) | {"ids": json_text(list(memory_ids))}
    found = [(seq, memory_from(row)) for seq, *row in connection.execute(_SQL["visible_by_id"], values)]
    return {memory.id: (seq, memory) for seq, memory in found}


def _delete(connection: Connection, visibility: Visibility, memory_ids: Sequence[str]) -> list[Memory]:
    found = _visible_by_id(connection, visibility, memory_ids)
    for memory_id in found:
        connection.execute(_SQL["restore"], {"id": memory_id})
    _erase(connection, [(seq, memory.id) for seq, memory in found.values()])
    return [found[memory_id][1] for memory_id in dict.fromkeys(memory_ids) if memory_id in found]


def _erase_all(connection: Connection, memory_ids: Sequence[str]) -> Sequence[tuple[int, str]]:
    """Erase these, whoever may see them; their places and ids."""
    found = [(row[0], row[1]) for row in connection.execute(_SQL["by_ids"], {"ids": json_text(list(memory_ids))})]
    _erase(connection, found)
    return found


def _erase(connection: Connection, memories: Sequence[tuple[int, str]]) -> None:
    """Erase memories with all that they were before."""
    seqs = [seq for seq, _ in memories]
    for _, memory_id in memories:
        seqs += [seq for (seq,) in connection.execute(_SQL["versions"], {"id": memory_id})]
    rebuilding = _rebuild_is_under_way(connection)
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
    _keep_vectors(connection, derived)
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

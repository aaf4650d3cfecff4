"""Export and import of memories in SQLite."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import anyio.to_thread
import apsw

from scrubjay.db.sqlite.columns import json_text, json_value, optional_moment
from scrubjay.db.sqlite.connections import Connection, in_snapshot
from scrubjay.db.sqlite.errors import translate_error
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.schema import newest_version
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.memory.link_rows import with_links
from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.memory.quota_rows import count_client_memories
from scrubjay.features.memory.rows import memory_from
from scrubjay.features.memory.writes import SearchData
from scrubjay.features.projects.rows import project_from
from scrubjay.features.tasks.rows import planned_by
from scrubjay.features.transfer.import_rows import IncomingRow, incoming_row, insert_rows, is_rebuilding
from scrubjay.features.transfer.models import PlanKind, TransferMemory, TransferPlan
from scrubjay.features.transfer.plan_sqlite import (
    PlanRow,
    clear_staged_plans,
    count_plans,
    insert_plans,
    known_plans,
    plan_row,
    read_plans,
    replace_plans,
    stage_plans,
)
from scrubjay.features.transfer.staging import (
    ReplaceResult,
    abandon,
    drop_one_leftover,
    has_current_schema,
    replace_live,
    stage,
)
from scrubjay.features.transfer.store import ExportSnapshot, ImportProgress

T = TypeVar("T")

_SQL = load_queries(__file__)
_MEMORIES = load_queries(__file__, "../memory/queries")


class SqliteTransfer:
    """Implements `TransferStore`."""

    def __init__(self, writer: Writer, readers: Readers, database: Path, busy_seconds: float) -> None:
        self._writer = writer
        self._readers = readers
        self._database = database
        self._busy_seconds = busy_seconds

    async def read_snapshot(
        self, kinds: Collection[MemoryKind], work: Callable[[ExportSnapshot], T], plans: Collection[PlanKind] = ()
    ) -> T:
        def read(connection: Connection) -> T:
            values = {"kinds": json_text(sorted(kinds))}
            planned = {"tasks": "tasks" in plans, "goals": "goals" in plans}
            snapshot = ExportSnapshot(
                counts={MemoryKind(kind): count for kind, count in connection.execute(_SQL["census"], values)},
                projects=[project_from(row) for row in connection.execute(_SQL["projects"], planned)],
                memories=_read_memories(connection, values),
                plan_counts=count_plans(connection, plans),
                plans=read_plans(connection, plans),
            )
            return work(snapshot)

        def run() -> T:
            try:
                connection = Connection(self._database, self._busy_seconds, read_only=True, schema=newest_version())
                try:
                    return in_snapshot(connection, read)
                finally:
                    connection.close()
            except apsw.Error as error:
                raise translate_error(error) from error

        self._readers.check_open()
        return await anyio.to_thread.run_sync(run)  # not on a reader thread: searches need these

    async def begin(self, import_id: str, checksum: str) -> ImportProgress:
        arrived = await self._writer.write(lambda connection: _begin(connection, import_id, checksum))
        await self._drop_leftovers(import_id)
        return arrived

    async def known(self, memory_ids: Sequence[str]) -> Collection[str]:
        values = {"ids": json_text(list(memory_ids))}
        return await self._readers.read(
            lambda connection: {memory_id for (memory_id,) in connection.execute(_SQL["known"], values)}
        )

    async def count_by_client(self, clients: Collection[str]) -> Mapping[str, int]:
        return await self._readers.read(
            lambda connection: {client: count_client_memories(connection, client) for client in clients}
        )

    async def insert(
        self, import_id: str, read: int, batch: Sequence[tuple[TransferMemory, SearchData]], *, skipped: int = 0
    ) -> ImportProgress:
        rows = await _rows(batch)

        def work(connection: Connection) -> ImportProgress:
            inserted = _insert(connection, rows)
            return _add_progress(
                connection, import_id, read=read, imported=inserted, skipped=skipped + len(rows) - inserted
            )

        return await self._writer.write(work)

    async def stage(
        self, import_id: str, read: int, batch: Sequence[tuple[TransferMemory, SearchData]]
    ) -> ImportProgress:
        rows = await _rows(batch)

        def work(connection: Connection) -> ImportProgress:
            return _add_progress(
                connection, import_id, read=read, skipped=len(rows) - stage(connection, import_id, rows)
            )

        return await self._writer.write(work)

    async def known_plans(self, ids: Sequence[str]) -> Collection[str]:
        return await self._readers.read(lambda connection: known_plans(connection, ids))

    async def count_plans_by_client(self, clients: Collection[str]) -> Mapping[str, int]:
        return await self._readers.read(
            lambda connection: {client: planned_by(connection, client) for client in clients}
        )

    async def insert_plans(self, import_id: str, read: int, batch: Sequence[TransferPlan]) -> ImportProgress:
        rows = [plan_row(plan) for plan in batch]

        def work(connection: Connection) -> ImportProgress:
            inserted = insert_plans(connection, rows)
            return _add_plan_progress(connection, import_id, read, inserted, len(rows) - sum(inserted.values()))

        return await self._writer.write(work)

    async def stage_plans(self, import_id: str, read: int, batch: Sequence[TransferPlan]) -> ImportProgress:
        rows: list[PlanRow] = [plan_row(plan) for plan in batch]

        def work(connection: Connection) -> ImportProgress:
            stage_plans(connection, import_id, rows)
            return _add_progress(connection, import_id, plans_read=read)

        return await self._writer.write(work)

    async def replace_all(
        self, import_id: str, kinds: Collection[MemoryKind], *, most: int = 0, plans: Collection[PlanKind] = ()
    ) -> ImportProgress:
        def work(connection: Connection) -> ImportProgress:
            done = replace_live(connection, import_id, kinds, most) if kinds or not plans else ReplaceResult(0, 0, 0)
            inserted, skipped, erased = replace_plans(connection, import_id, plans)
            return _add_progress(
                connection,
                import_id,
                imported=done.imported,
                skipped=done.skipped,
                erased=done.erased,
                finished=True,
                tasks=inserted["tasks"],
                goals=inserted["goals"],
                plans_skipped=skipped,
                plans_erased=erased,
            )

        arrived = await self._writer.erase(work)
        await self._drop_leftovers(import_id)
        return arrived

    async def end(self, import_id: str) -> None:
        def work(connection: Connection) -> None:
            abandon(connection, import_id)
            clear_staged_plans(connection, import_id)

        await self._writer.write(work)
        await self._drop_leftovers(import_id)

    async def _drop_leftovers(self, import_id: str) -> None:
        """Drop leftovers in steps, so that other processes can write in between."""
        while await self._writer.erase(lambda connection: drop_one_leftover(connection, import_id)):
            pass


# -- export ----------------------------------------------------------------------------------------


def _read_memories(connection: Connection, values: dict[str, Any]) -> Iterator[TransferMemory]:
    for seq, is_linked, uses, used_at, *row in connection.stream(_SQL["moving"], values):
        memory = memory_from(row)
        if is_linked:
            memory = with_links(connection, {seq: memory})[seq]
        yield TransferMemory(memory, uses, optional_moment(used_at))


# -- import ----------------------------------------------------------------------------------------


async def _rows(batch: Sequence[tuple[TransferMemory, SearchData]]) -> list[IncomingRow]:
    """Build rows on another thread than the writer's, because other processes wait for its lock."""
    return await anyio.to_thread.run_sync(lambda: [incoming_row(transfer, derived) for transfer, derived in batch])


def _insert(connection: Connection, rows: Sequence[IncomingRow]) -> int:
    """Insert the rows whose id and key are free; return how many."""
    inserted = insert_rows(connection, rows)
    if is_rebuilding(connection):
        for seq, terms in inserted.items():
            connection.execute(_MEMORIES["index_terms_next"], {"seq": seq, "terms": terms})
    return len(inserted)


# -- progress --------------------------------------------------------------------------------------


def _begin(connection: Connection, import_id: str, checksum: str) -> ImportProgress:
    connection.execute(_SQL["forget_ended"], {"import_id": import_id})
    known = connection.value(_SQL["arrived"], {"import_id": import_id})
    if known is not None and json_value(known)["checksum"] == checksum and has_current_schema(connection, import_id):
        return _progress_from(json_value(known))
    abandon(connection, import_id)
    clear_staged_plans(connection, import_id)
    _store_progress(connection, import_id, checksum, ImportProgress())
    return ImportProgress()


def _add_progress(
    connection: Connection,
    import_id: str,
    *,
    read: int | None = None,
    plans_read: int | None = None,
    finished: bool = False,
    **more: int,
) -> ImportProgress:
    """Add these counts to the progress of the import."""
    known = json_value(connection.value(_SQL["arrived"], {"import_id": import_id}))
    before = _progress_from(known)
    arrived = replace(
        before,
        read=before.read if read is None else read,
        plans_read=before.plans_read if plans_read is None else plans_read,
        finished=finished,
        **{name: getattr(before, name) + count for name, count in more.items()},
    )
    _store_progress(connection, import_id, known["checksum"], arrived)
    return arrived


def _add_plan_progress(
    connection: Connection, import_id: str, read: int, inserted: Mapping[PlanKind, int], skipped: int
) -> ImportProgress:
    return _add_progress(
        connection,
        import_id,
        plans_read=read,
        tasks=inserted["tasks"],
        goals=inserted["goals"],
        plans_skipped=skipped,
    )


def _progress_from(known: dict[str, Any]) -> ImportProgress:
    return ImportProgress(**{name: value for name, value in known.items() if name != "checksum"})


def _store_progress(connection: Connection, import_id: str, checksum: str, arrived: ImportProgress) -> None:
    values = {"import_id": import_id, "arrived": json_text({"checksum": checksum, **asdict(arrived)})}
    connection.execute(_SQL["note_arrived"], values)

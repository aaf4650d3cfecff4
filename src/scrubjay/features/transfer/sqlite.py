"""Memories that move out of a SQLite store and into it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import anyio.to_thread
import apsw

from scrubjay.db.sqlite.connections import Connection, in_snapshot
from scrubjay.db.sqlite.errors import translated
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import json_text, json_value, optional_moment
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.memory.link_rows import with_links
from scrubjay.features.memory.models import Derived, Kind
from scrubjay.features.memory.quota_rows import kept_by
from scrubjay.features.memory.rows import memory_from
from scrubjay.features.projects.rows import project_from
from scrubjay.features.tasks.rows import planned_by
from scrubjay.features.transfer.import_rows import IncomingRow, incoming_row, keep, rebuilds
from scrubjay.features.transfer.models import Moved, MovedPlan, PlanSort
from scrubjay.features.transfer.plan_sqlite import (
    PlanRow,
    clear_staged_plans,
    count_plans,
    exchange_plans,
    keep_plans,
    known_plans,
    plan_row,
    plans_out,
    stage_plans,
)
from scrubjay.features.transfer.staging import Exchanged, abandon, clear_away, exchange, fits, stage
from scrubjay.features.transfer.store import Arrived, Outgoing

T = TypeVar("T")

_SQL = load_queries(__file__)
_MEMORIES = load_queries(__file__, "../memory/queries")


class SqliteTransfer:
    """Satisfies `storage.transfer.TransferStore`."""

    def __init__(self, writer: Writer, readers: Readers, database: Path, busy_seconds: float) -> None:
        self._writer = writer
        self._readers = readers
        self._database = database
        self._busy_seconds = busy_seconds

    async def move_out(
        self, kinds: Collection[Kind], work: Callable[[Outgoing], T], plans: Collection[PlanSort] = ()
    ) -> T:
        def read(connection: Connection) -> T:
            values = {"kinds": json_text(sorted(kinds))}
            planned = {"tasks": "tasks" in plans, "goals": "goals" in plans}
            outgoing = Outgoing(
                counts={Kind(kind): count for kind, count in connection.execute(_SQL["census"], values)},
                projects=[project_from(row) for row in connection.execute(_SQL["projects"], planned)],
                memories=_moving(connection, values),
                plan_counts=count_plans(connection, plans),
                plans=plans_out(connection, plans),
            )
            return work(outgoing)

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
        arrived = await self._writer.write(lambda connection: _begin(connection, import_id, checksum))
        await self._clear_away(import_id)
        return arrived

    async def known(self, memory_ids: Sequence[str]) -> Collection[str]:
        values = {"ids": json_text(list(memory_ids))}
        return await self._readers.read(
            lambda connection: {memory_id for (memory_id,) in connection.execute(_SQL["known"], values)}
        )

    async def kept_by(self, clients: Collection[str]) -> Mapping[str, int]:
        return await self._readers.read(lambda connection: {client: kept_by(connection, client) for client in clients})

    async def keep(
        self, import_id: str, read: int, batch: Sequence[tuple[Moved, Derived]], *, skipped: int = 0
    ) -> Arrived:
        rows = await _rows(batch)

        def work(connection: Connection) -> Arrived:
            kept = _keep(connection, rows)
            return _note(connection, import_id, read=read, imported=kept, skipped=skipped + len(rows) - kept)

        return await self._writer.write(work)

    async def stage(self, import_id: str, read: int, batch: Sequence[tuple[Moved, Derived]]) -> Arrived:
        rows = await _rows(batch)

        def work(connection: Connection) -> Arrived:
            return _note(connection, import_id, read=read, skipped=len(rows) - stage(connection, import_id, rows))

        return await self._writer.write(work)

    async def known_plans(self, ids: Sequence[str]) -> Collection[str]:
        return await self._readers.read(lambda connection: known_plans(connection, ids))

    async def planned_by(self, clients: Collection[str]) -> Mapping[str, int]:
        return await self._readers.read(
            lambda connection: {client: planned_by(connection, client) for client in clients}
        )

    async def keep_plans(self, import_id: str, read: int, batch: Sequence[MovedPlan]) -> Arrived:
        rows = [plan_row(plan) for plan in batch]

        def work(connection: Connection) -> Arrived:
            kept = keep_plans(connection, rows)
            return _note_plans(connection, import_id, read, kept, len(rows) - sum(kept.values()))

        return await self._writer.write(work)

    async def stage_plans(self, import_id: str, read: int, batch: Sequence[MovedPlan]) -> Arrived:
        rows: list[PlanRow] = [plan_row(plan) for plan in batch]

        def work(connection: Connection) -> Arrived:
            stage_plans(connection, import_id, rows)
            return _note(connection, import_id, plans_read=read)

        return await self._writer.write(work)

    async def exchange(
        self, import_id: str, kinds: Collection[Kind], *, most: int = 0, plans: Collection[PlanSort] = ()
    ) -> Arrived:
        def work(connection: Connection) -> Arrived:
            done = exchange(connection, import_id, kinds, most) if kinds or not plans else Exchanged(0, 0, 0)
            kept, skipped, erased = exchange_plans(connection, import_id, plans)
            return _note(
                connection,
                import_id,
                imported=done.imported,
                skipped=done.skipped,
                erased=done.erased,
                finished=True,
                tasks=kept["tasks"],
                goals=kept["goals"],
                plans_skipped=skipped,
                plans_erased=erased,
            )

        arrived = await self._writer.erase(work)
        await self._clear_away(import_id)
        return arrived

    async def end(self, import_id: str) -> None:
        def work(connection: Connection) -> None:
            abandon(connection, import_id)
            clear_staged_plans(connection, import_id)

        await self._writer.write(work)
        await self._clear_away(import_id)

    async def _clear_away(self, import_id: str) -> None:
        """Others write between the steps."""
        while await self._writer.erase(lambda connection: clear_away(connection, import_id)):
            pass


# -- out -------------------------------------------------------------------------------------------


def _moving(connection: Connection, values: dict[str, Any]) -> Iterator[Moved]:
    for seq, is_linked, uses, used_at, *row in connection.stream(_SQL["moving"], values):
        memory = memory_from(row)
        if is_linked:
            memory = with_links(connection, {seq: memory})[seq]
        yield Moved(memory, uses, optional_moment(used_at))


# -- in --------------------------------------------------------------------------------------------


async def _rows(batch: Sequence[tuple[Moved, Derived]]) -> list[IncomingRow]:
    """Made on another thread than the one that writes, for whose lock others wait."""
    return await anyio.to_thread.run_sync(lambda: [incoming_row(moved, derived) for moved, derived in batch])


def _keep(connection: Connection, rows: Sequence[IncomingRow]) -> int:
    """Keep those whose id and key are free; how many that were."""
    kept = keep(connection, rows)
    if rebuilds(connection):
        for seq, terms in kept.items():
            connection.execute(_MEMORIES["index_terms_next"], {"seq": seq, "terms": terms})
    return len(kept)


# -- how far it has come ---------------------------------------------------------------------------


def _begin(connection: Connection, import_id: str, checksum: str) -> Arrived:
    connection.execute(_SQL["forget_ended"], {"import_id": import_id})
    known = connection.value(_SQL["arrived"], {"import_id": import_id})
    if known is not None and json_value(known)["checksum"] == checksum and fits(connection, import_id):
        return _arrived(json_value(known))
    abandon(connection, import_id)
    clear_staged_plans(connection, import_id)
    _write_down(connection, import_id, checksum, Arrived())
    return Arrived()


def _note(
    connection: Connection,
    import_id: str,
    *,
    read: int | None = None,
    plans_read: int | None = None,
    finished: bool = False,
    **more: int,
) -> Arrived:
    """Add this to what the import has done."""
    known = json_value(connection.value(_SQL["arrived"], {"import_id": import_id}))
    before = _arrived(known)
    arrived = replace(
        before,
        read=before.read if read is None else read,
        plans_read=before.plans_read if plans_read is None else plans_read,
        finished=finished,
        **{name: getattr(before, name) + count for name, count in more.items()},
    )
    _write_down(connection, import_id, known["checksum"], arrived)
    return arrived


def _note_plans(
    connection: Connection, import_id: str, read: int, kept: Mapping[PlanSort, int], skipped: int
) -> Arrived:
    return _note(
        connection,
        import_id,
        plans_read=read,
        tasks=kept["tasks"],
        goals=kept["goals"],
        plans_skipped=skipped,
    )


def _arrived(known: dict[str, Any]) -> Arrived:
    return Arrived(**{name: value for name, value in known.items() if name != "checksum"})


def _write_down(connection: Connection, import_id: str, checksum: str, arrived: Arrived) -> None:
    values = {"import_id": import_id, "arrived": json_text({"checksum": checksum, **asdict(arrived)})}
    connection.execute(_SQL["note_arrived"], values)

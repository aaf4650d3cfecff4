"""SQLite store of working memory."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from scrubjay.core.errors import Busy
from scrubjay.db.sqlite.columns import json_text, json_value, microseconds, moment, optional_moment
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.working_memory.models import (
    ConsolidationCandidate,
    ConsolidationMark,
    WorkingItem,
    WorkingScope,
    WorkingUsage,
)

_SQL = load_queries(__file__)


class SqliteWorking:
    """A `WorkingStore` in SQLite."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def put(self, item: WorkingItem, capacity: int) -> Sequence[WorkingItem]:
        def work(connection: Connection) -> Sequence[WorkingItem]:
            values = _scope_values(item.scope) | {"now": microseconds(item.created_at), "id": item.id}
            connection.execute(_SQL["add"], _item_values(item))
            excess = connection.value(_SQL["count"], values) - capacity
            if excess <= 0:
                return []
            evicted = _items(connection, _SQL["to_evict"], values | {"limit": excess})
            for old in evicted:
                connection.execute(_SQL["expire"] if old.is_waiting else _SQL["erase"], values | {"id": old.id})
            return evicted

        return await self._writer.write(work)

    async def access(self, scope: WorkingScope, item_ids: Sequence[str], now: datetime) -> Sequence[WorkingItem]:
        def work(connection: Connection) -> Sequence[WorkingItem]:
            values = _scope_values(scope) | {"now": microseconds(now)}
            return [
                item for item_id in item_ids for item in _items(connection, _SQL["access"], values | {"id": item_id})
            ]

        return await self._writer.write(work) if item_ids else []

    async def items(self, scope: WorkingScope, now: datetime, limit: int | None = None) -> Sequence[WorkingItem]:
        values = _scope_values(scope) | {"now": microseconds(now), "limit": -1 if limit is None else limit}
        return await self._readers.read(lambda connection: _items(connection, _SQL["items"], values))

    async def mark(
        self, scope: WorkingScope, item_id: str, mark: ConsolidationMark, now: datetime
    ) -> WorkingItem | None:
        def work(connection: Connection) -> WorkingItem | None:
            if _at_rest(connection, scope, item_id, now) is None:
                return None
            return _items(connection, _SQL["mark"], {"id": item_id, "mark": mark})[0]

        return await self._writer.write(work)

    async def delete(self, scope: WorkingScope, item_id: str, now: datetime) -> WorkingItem | None:
        def work(connection: Connection) -> WorkingItem | None:
            item = _at_rest(connection, scope, item_id, now)
            if item is not None:
                connection.execute(_SQL["erase"], {"id": item_id})
            return item

        return await self._writer.erase(work)

    async def clear(self, scope: WorkingScope, now: datetime) -> Sequence[WorkingItem]:
        def work(connection: Connection) -> Sequence[WorkingItem]:
            values = _scope_values(scope) | {"now": microseconds(now)}
            if connection.value(_SQL["moving"], values):
                raise _busy()
            cleared = _items(connection, _SQL["all_items"], values)
            connection.execute(_SQL["clear"], values)
            return cleared

        return await self._writer.erase(work)

    async def clear_expired(self, scope: WorkingScope | None, now: datetime, without: Collection[str] = ()) -> int:
        values = _scope_values(scope) | {"now": microseconds(now), "without": json_text([*without])}
        count = await self._writer.write(lambda connection: len(connection.execute(_SQL["clear_expired"], values)))
        if count:  # usually nothing expired; then the write-ahead log is not truncated
            await self._writer.erase(lambda connection: None)
        return count

    async def usage(self, scope: WorkingScope, now: datetime) -> WorkingUsage:
        def work(connection: Connection) -> WorkingUsage:
            values = _scope_values(scope) | {"now": microseconds(now)}
            ((items, tokens, waiting, consolidated, soonest, expired),) = connection.execute(_SQL["usage"], values)
            return WorkingUsage(
                items=items,
                tokens=tokens,
                waiting=waiting,
                consolidated=consolidated,
                soonest_expiry=optional_moment(soonest),
                expired_waiting=expired,
            )

        return await self._readers.read(work)

    # -- consolidation ---------------------------------------------------------------------------------

    async def candidates(self, scope: WorkingScope | None, limit: int) -> Sequence[ConsolidationCandidate]:
        values = _scope_values(scope) | {"limit": limit}
        return await self._readers.read(
            lambda connection: [_candidate_from(row) for row in connection.execute(_SQL["candidates"], values)]
        )

    async def begin_moves(
        self, moves: Mapping[str, Sequence[str]], now: datetime, until: datetime
    ) -> Mapping[str, Sequence[str]]:
        times = {"now": microseconds(now), "until": microseconds(until)}

        def begins(connection: Connection, move_id: str, item_ids: Sequence[str]) -> bool:
            values = times | {"move_id": move_id, "ids": json_text([*item_ids])}
            if connection.value(_SQL["count_movable"], values) < len(item_ids):
                return False
            connection.execute(_SQL["begin_move"], values)
            return True

        def work(connection: Connection) -> Mapping[str, Sequence[str]]:
            return {move_id: ids for move_id, ids in moves.items() if begins(connection, move_id, ids)}

        return await self._writer.write(work) if moves else {}

    async def finish_move(self, move_id: str, memory_id: str) -> None:
        values = {"move_id": move_id, "memory_id": memory_id}
        await self._writer.write(lambda connection: connection.execute(_SQL["finish_move"], values))

    async def release_move(self, move_id: str) -> None:
        await self._writer.write(lambda connection: connection.execute(_SQL["release_move"], {"move_id": move_id}))


def _at_rest(connection: Connection, scope: WorkingScope, item_id: str, now: datetime) -> WorkingItem | None:
    """Return the item; raise `Busy` while a process moves it."""
    values = _scope_values(scope) | {"id": item_id, "now": microseconds(now)}
    for moving_until, *columns in connection.execute(_SQL["one"], values):
        if moving_until is not None and moving_until > values["now"]:
            raise _busy()
        return _item_from(columns)
    return None


def _busy() -> Busy:
    return Busy("the item is being consolidated", hint="try again; nothing was changed")


def _items(connection: Connection, sql: str, values: Mapping[str, Any]) -> list[WorkingItem]:
    return [_item_from(row) for row in connection.execute(sql, values)]


def _scope_values(scope: WorkingScope | None) -> dict[str, Any]:
    """Return the columns of a scope; all null without one."""
    if scope is None:
        return {"project_id": None, "session_id": None}
    return {"project_id": scope.project_id, "session_id": scope.session_id}


def _item_values(item: WorkingItem) -> dict[str, Any]:
    return {
        "id": item.id,
        **_scope_values(item.scope),
        "content": item.content,
        "context": json_text(dict(item.context)),
        "importance": item.importance,
        "source": item.source,
        "tool_name": item.tool_name,
        "client": item.client,
        "created_at": microseconds(item.created_at),
        "expires_at": microseconds(item.expires_at),
        "accessed_at": microseconds(item.accessed_at),
        "access_count": item.access_count,
        "mark": item.mark,
        "memory_id": item.memory_id,
    }


def _item_from(row: Sequence[Any]) -> WorkingItem:
    """Return the item of a row of the query fragment `columns` in `queries.sql`."""
    (
        item_id,
        project_id,
        session_id,
        content,
        context,
        importance,
        source,
        tool_name,
        client,
        created_at,
        expires_at,
        accessed_at,
        access_count,
        mark,
        memory_id,
    ) = row
    return WorkingItem(
        id=item_id,
        scope=WorkingScope(project_id, session_id),
        content=content,
        context=json_value(context),
        importance=importance,
        source=source,
        tool_name=tool_name,
        client=client,
        created_at=moment(created_at),
        expires_at=moment(expires_at),
        accessed_at=moment(accessed_at),
        access_count=access_count,
        mark=ConsolidationMark(mark),
        memory_id=memory_id,
    )


def _candidate_from(row: Sequence[Any]) -> ConsolidationCandidate:
    move_id, moving_until, *columns = row
    return ConsolidationCandidate(item=_item_from(columns), move_id=move_id, moving_until=optional_moment(moving_until))

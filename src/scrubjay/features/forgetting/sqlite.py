"""SQLite store of forgetting: runs, and the values that determine strength."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from scrubjay.core.scopes import Visibility
from scrubjay.db.sqlite.columns import json_text, microseconds, moment, optional_moment
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.forgetting.models import AgingMemory
from scrubjay.features.forgetting.store import DecayParameters, ForgettingRecord, StrengthCounts
from scrubjay.features.memory.models import MemoryKind

_SQL = load_queries(__file__)

_MICROSECOND = timedelta(microseconds=1)
_KINDS = {kind.value: kind for kind in MemoryKind}


class SqliteForgetting:
    """A `ForgettingStore` in SQLite."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def claim(self, every: timedelta, now: datetime) -> bool:
        values = {"now": microseconds(now), "every": every // _MICROSECOND}
        return await self._writer.write(lambda connection: bool(connection.value(_SQL["claim"], values)))

    async def record_run(self, forgotten: int, now: datetime) -> None:
        values = {"forgotten": forgotten, "now": microseconds(now)}
        await self._writer.write(lambda connection: connection.execute(_SQL["record_run"], values))

    async def record(self) -> ForgettingRecord:
        def read(connection: Connection) -> ForgettingRecord:
            [(ended_at, last, total)] = connection.execute(_SQL["record"])
            return ForgettingRecord(optional_moment(ended_at), last, total)

        return await self._readers.read(read)

    async def scan(self, after: int, limit: int) -> Sequence[tuple[int, AgingMemory]]:
        values = {"after": after, "limit": limit}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["scan"], values))
        return [(seq, _aging_memory_from(row)) for seq, *row in rows]

    async def count_strengths(self, parameters: DecayParameters, now: datetime) -> StrengthCounts:
        values = {
            "decay_rate": parameters.decay_rate,
            "use_weight": parameters.use_weight,
            "threshold": parameters.threshold,
            "at_risk_below": parameters.at_risk_below,
            "strong_above": parameters.strong_above,
            "never_fades_from": parameters.never_fades_from,
            "age_limits": json_text([(limit.importance, limit.age // _MICROSECOND) for limit in parameters.age_limits]),
            "now": microseconds(now),
        }
        [row] = await self._readers.read(lambda connection: connection.execute(_SQL["count_strengths"], values))
        memories, faded, at_risk, strong, may_go, leaving = row
        return StrengthCounts(
            memories=memories, faded=faded, at_risk=at_risk, strong=strong, evictable=may_go, due=leaving
        )

    async def get(self, visibility: Visibility, memory_id: str) -> AgingMemory | None:
        values = {"id": memory_id, "project_id": visibility.project_id, "session_id": visibility.session_id}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["get"], values))
        return _aging_memory_from(rows[0]) if rows else None


def _aging_memory_from(row: Sequence[Any]) -> AgingMemory:
    """Return the memory in a row with the query fragment `aging_columns` of `queries.sql`."""
    memory_id, kind, importance, recorded_at, uses, used_at, protected, superseded = row
    return AgingMemory(
        id=memory_id,
        kind=_KINDS[kind],
        importance=importance,
        recorded_at=moment(recorded_at),
        uses=uses,
        used_at=optional_moment(used_at),
        protected=bool(protected),
        superseded=bool(superseded),
    )

"""When memories were last let go, in SQLite."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from scrubjay.core.scopes import Visibility
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import json_text, microseconds, moment, optional_moment
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.forgetting.models import Ageing
from scrubjay.features.forgetting.store import Fading, ForgettingRecord, Vitals
from scrubjay.features.memory.models import Kind

_SQL = load_queries(__file__)

_MICROSECOND = timedelta(microseconds=1)
_KINDS = {kind.value: kind for kind in Kind}


class SqliteForgetting:
    """Satisfies `storage.forgetting.ForgettingStore`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def claim(self, every: timedelta, now: datetime) -> bool:
        values = {"now": microseconds(now), "every": every // _MICROSECOND}
        return await self._writer.write(lambda connection: bool(connection.value(_SQL["claim"], values)))

    async def note(self, forgotten: int, now: datetime) -> None:
        values = {"forgotten": forgotten, "now": microseconds(now)}
        await self._writer.write(lambda connection: connection.execute(_SQL["note"], values))

    async def record(self) -> ForgettingRecord:
        def read(connection: Connection) -> ForgettingRecord:
            [(ended_at, last, total)] = connection.execute(_SQL["record"])
            return ForgettingRecord(optional_moment(ended_at), last, total)

        return await self._readers.read(read)

    async def ageing(self, after: int, limit: int) -> Sequence[tuple[int, Ageing]]:
        values = {"after": after, "limit": limit}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["ageing"], values))
        return [(place, _ageing_from(row)) for place, *row in rows]

    async def vitals(self, fading: Fading, now: datetime) -> Vitals:
        values = {
            "decay_rate": fading.decay_rate,
            "use_weight": fading.use_weight,
            "threshold": fading.threshold,
            "at_risk_below": fading.at_risk_below,
            "strong_above": fading.strong_above,
            "unforgettable": fading.unforgettable,
            "age_limits": json_text([(limit.importance, limit.age // _MICROSECOND) for limit in fading.age_limits]),
            "now": microseconds(now),
        }
        [row] = await self._readers.read(lambda connection: connection.execute(_SQL["vitals"], values))
        memories, faded, at_risk, strong, may_go, leaving = row
        return Vitals(memories=memories, faded=faded, at_risk=at_risk, strong=strong, may_go=may_go, leaving=leaving)

    async def ageing_of(self, visibility: Visibility, memory_id: str) -> Ageing | None:
        values = {"id": memory_id, "project_id": visibility.project_id, "session_id": visibility.session_id}
        rows = await self._readers.read(lambda connection: connection.execute(_SQL["ageing_of"], values))
        return _ageing_from(rows[0]) if rows else None


def _ageing_from(row: Sequence[Any]) -> Ageing:
    """Read a row of the query fragment `ageing` in `queries.sql`, without its place."""
    memory_id, kind, importance, recorded_at, uses, used_at, protected, superseded = row
    return Ageing(
        id=memory_id,
        kind=_KINDS[kind],
        importance=importance,
        recorded_at=moment(recorded_at),
        uses=uses,
        used_at=optional_moment(used_at),
        protected=bool(protected),
        superseded=bool(superseded),
    )

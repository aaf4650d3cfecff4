"""Sessions and the calls made in them, in SQLite."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from scrubjay.core.clock import Clock
from scrubjay.core.ids import new_id
from scrubjay.core.scopes import Visibility
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.rows import json_text, json_value, microseconds, moment, optional_moment
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.sessions.models import ClientCall, Session, SessionStatus, ToolCall, is_over
from scrubjay.features.summaries.models import KEY_PREFIXES, Level

_SQL = load_queries(__file__)

# Another process may have written later calls of the same client first; all of them wait less than this.
SOON = timedelta(minutes=1) // timedelta(microseconds=1)
# Calls that ended after a moment began no longer before it.
_LONGEST_MICROSECONDS = timedelta(days=1) // timedelta(microseconds=1)


class SqliteSessions:
    """Satisfies `storage.sessions.SessionStore`."""

    def __init__(self, writer: Writer, readers: Readers, clock: Clock) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock

    async def start(self, project_id: str | None, client: str | None, session_id: str | None) -> tuple[Session, bool]:
        def work(connection: Connection) -> tuple[Session, bool]:
            now = self._clock()
            latest = _one(connection, "of_client", {"client": client}) if client is not None else None
            if session_id is not None:
                found = _one(connection, "get", {"project": project_id, "id": session_id})
            else:
                found = latest if latest and _goes_on(latest.session, project_id, now) else None
            if found is None:
                seq = _add(connection, session_id or new_id("ses"), project_id, client, microseconds(now))
            else:
                seq = found.seq
            values = {"seq": seq, "now": microseconds(now), "client": client}
            connection.execute(_SQL["reopen"], values)
            if client is not None and (latest is None or latest.seq != seq):
                connection.execute(_SQL["enter_now"], values)
            return _at_place(connection, seq), found is not None

        return await self._writer.write(work)

    async def keep(self, calls: Sequence[ClientCall], default_project_id: str | None) -> None:
        def work(connection: Connection) -> None:
            places = _Places(connection, default_project_id)
            for made in sorted(calls, key=lambda made: made.call.ended_at):
                _keep(connection, made, places.of(made))
            places.note_activity()

        if calls:
            await self._writer.write(work)

    async def current(self, client: str) -> Session | None:
        def work(connection: Connection) -> Session | None:
            latest = _one(connection, "of_client", {"client": client})
            return latest.session if latest and _is_active(latest.session, self._clock()) else None

        return await self._readers.read(work)

    async def get(self, project_id: str | None, session_id: str) -> Session | None:
        found = await self._readers.read(
            lambda connection: _one(connection, "get", {"project": project_id, "id": session_id})
        )
        return found.session if found else None

    async def list(self, project_id: str | None, limit: int) -> Sequence[Session]:
        values = {"project": project_id, "limit": limit}
        return await self._readers.read(
            lambda connection: [found.session for found in _all(connection, "latest", values)]
        )

    async def summaries(self, visibility: Visibility, session_ids: Sequence[str]) -> Mapping[str, str]:
        values = {
            "prefix": KEY_PREFIXES[Level.SESSION],
            "sessions": json_text(session_ids),
            "project_id": visibility.project_id,
            "session_id": visibility.session_id,
        }
        return await self._readers.read(lambda connection: dict(connection.execute(_SQL["summaries"], values)))

    async def calls(
        self, project_id: str | None, session_id: str, *, newest_first: bool, limit: int
    ) -> Sequence[ToolCall]:
        query = _SQL["calls_newest"] if newest_first else _SQL["calls_oldest"]
        values = {"project": project_id, "id": session_id, "limit": limit}
        return await self._readers.read(
            lambda connection: [_call_from(row) for row in connection.execute(query, values)]
        )

    async def ended(
        self, project_id: str | None, after: datetime, until: datetime, *, newest_first: bool, limit: int
    ) -> Sequence[ToolCall]:
        query = _SQL["ended_newest"] if newest_first else _SQL["ended_oldest"]
        begin = microseconds(after)
        values = {"project": project_id, "after": begin, "until": microseconds(until), "limit": limit}
        values["begun_after"] = begin - _LONGEST_MICROSECONDS
        return await self._readers.read(
            lambda connection: [_call_from(row) for row in connection.execute(query, values)]
        )

    async def end(self, project_id: str | None, session_id: str) -> Session | None:
        def work(connection: Connection) -> Session | None:
            found = _one(connection, "get", {"project": project_id, "id": session_id})
            if found is None:
                return None
            connection.execute(_SQL["end"], {"seq": found.seq, "now": microseconds(self._clock())})
            return _at_place(connection, found.seq)

        return await self._writer.write(work)

    async def forget_before(self, moment: datetime) -> int:
        def work(connection: Connection) -> int:
            before = {"before": microseconds(moment)}
            connection.execute(_SQL["forget_calls"], before)
            erased: int = connection.value(_SQL["forgotten"])
            connection.execute(_SQL["forget_sessions"], before)
            connection.execute(_SQL["forget_places"], before)
            return erased

        return await self._writer.write(work)


class _Found(NamedTuple):
    seq: int
    session: Session


def _one(connection: Connection, query: str, values: Mapping[str, Any]) -> _Found | None:
    found = _all(connection, query, values)
    return found[0] if found else None


def _all(connection: Connection, query: str, values: Mapping[str, Any]) -> list[_Found]:
    return [_session_from(row) for row in connection.execute(_SQL[query], values)]


def _at_place(connection: Connection, seq: int) -> Session:
    return _session_from(connection.execute(_SQL["by_place"], {"seq": seq})[0]).session


def _is_active(session: Session, at: datetime) -> bool:
    return session.status(at) is SessionStatus.ACTIVE


def _goes_on(session: Session, project_id: str | None, at: datetime) -> bool:
    return session.project_id == project_id and _is_active(session, at)


def _keep(connection: Connection, made: ClientCall, session: int) -> None:
    call = made.call
    memories = {"memories": json_text(sorted(made.memory_ids))}
    # Decided before it is written: what is forgotten must not come into the file again, not even for a moment.
    erased = bool(made.memory_ids) and bool(connection.value(_SQL["tells_of_forgotten"], memories))
    values = {
        "session": session,
        "tool": call.tool,
        "success": call.success,
        "milliseconds": call.milliseconds,
        "called_at": microseconds(call.called_at),
        "arguments": "{}" if erased else json_text(dict(call.arguments)),
        "result": "" if erased else call.result,
        "erased": erased,
    }
    seq = connection.value(_SQL["keep"], values)
    if made.memory_ids and not erased:
        connection.execute(_SQL["note_memories"], memories | {"call": seq})


class _Places:
    """Where the calls of one write belong, asked in the order in which they ended."""

    def __init__(self, connection: Connection, default_project_id: str | None) -> None:
        self._connection = connection
        self._default_project_id = default_project_id
        self._settled: dict[str, tuple[int, datetime]] = {}
        """Clients that go nowhere else any more: their session, and when it was last active."""

    def of(self, made: ClientCall) -> int:
        """The place of the session that a call belongs to, which begins with it when there is none.

        The call that ended a session belongs to it, and the one that started a session or set a project to what it
        began: so it counts where the client was when the call ended, and whether the session was over when it was made.
        """
        call = made.call
        if (settled := self._settled.get(made.client)) is not None and not is_over(settled[1], None, call.called_at):
            seq, last = settled
        else:
            self.note_activity()
            seq, last = self._found(made), call.ended_at
            values = {"seq": seq, "client": made.client, "at": microseconds(call.ended_at)}
            is_settled = self._connection.value(_SQL["is_settled"], values)
            self._connection.execute(_SQL["note_activity"], values)
            if not is_settled:
                return seq
        self._settled[made.client] = seq, max(last, call.ended_at)
        return seq

    def note_activity(self) -> None:
        """Write when those who are settled were last active."""
        for client, (seq, last) in self._settled.items():
            self._connection.execute(_SQL["note_activity"], {"seq": seq, "client": client, "at": microseconds(last)})
        self._settled.clear()

    def _found(self, made: ClientCall) -> int:
        called_at, ended = made.call.called_at, microseconds(made.call.ended_at)
        at = {"client": made.client, "at": ended, "until": ended + SOON}
        project_id: str | None = self._connection.value(_SQL["project_at"], at) or self._default_project_id
        there = [*self._connection.execute(_SQL["at"], at), *self._connection.execute(_SQL["soon_after"], at)]
        for seq, project, last_activity, ended_at in there:
            if project == project_id and not is_over(moment(last_activity), optional_moment(ended_at), called_at):
                return seq
        began = microseconds(called_at)
        seq = _add(self._connection, new_id("ses"), project_id, made.client, began)
        self._connection.execute(_SQL["enter"], {"client": made.client, "since": began, "seq": seq})
        return seq


def _add(connection: Connection, session_id: str, project_id: str | None, client: str | None, at: int) -> int:
    values = {"id": session_id, "project": project_id, "client": client, "at": at}
    return connection.value(_SQL["add"], values)


def _session_from(row: Sequence[Any]) -> _Found:
    seq, session_id, project_id, client, started_at, last_activity, ended_at, failed, tools = row
    counts: Mapping[str, int] = json_value(tools)
    by_use = sorted(counts.items(), key=lambda used: (-used[1], used[0]))
    session = Session(
        id=session_id,
        project_id=project_id,
        client=client,
        started_at=moment(started_at),
        last_activity=moment(last_activity),
        ended_at=optional_moment(ended_at),
        calls=sum(counts.values()),
        failed=failed,
        tools=dict(by_use),
    )
    return _Found(seq, session)


def _call_from(row: Sequence[Any]) -> ToolCall:
    tool, arguments, result, success, milliseconds, called_at, erased = row
    return ToolCall(
        tool=tool,
        arguments=json_value(arguments),
        result=result,
        success=bool(success),
        milliseconds=milliseconds,
        called_at=moment(called_at),
        erased=bool(erased),
    )

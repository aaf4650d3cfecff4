"""Sessions and the calls made in them, in SQLite."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from scrubjay.core.clock import Clock
from scrubjay.core.ids import new_id
from scrubjay.core.scopes import Visibility
from scrubjay.db.sqlite.columns import json_text, json_value, microseconds, moment, optional_moment
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.sessions.models import ClientCall, Session, SessionStatus, ToolCall, is_over
from scrubjay.features.summaries.models import KEY_PREFIXES, Level

_SQL = load_queries(__file__)

# Processes buffer calls and may write them out of order, but with less delay than this.
MAX_WRITE_DELAY = timedelta(minutes=1) // timedelta(microseconds=1)
# Longest call that `calls_ended_between` finds; limits the range of start times to read.
_MAX_CALL_MICROSECONDS = timedelta(days=1) // timedelta(microseconds=1)


class SqliteSessions:
    """Implements `SessionStore`."""

    def __init__(self, writer: Writer, readers: Readers, clock: Clock) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock

    async def start(self, project_id: str | None, client: str | None, session_id: str | None) -> tuple[Session, bool]:
        def work(connection: Connection) -> tuple[Session, bool]:
            now = self._clock()
            latest = _one(connection, "current_of_client", {"client": client}) if client is not None else None
            if session_id is not None:
                found = _one(connection, "get", {"project": project_id, "id": session_id})
            else:
                found = latest if latest and _can_resume(latest.session, project_id, now) else None
            if found is None:
                seq = _add_session(connection, session_id or new_id("ses"), project_id, client, microseconds(now))
            else:
                seq = found.seq
            values = {"seq": seq, "now": microseconds(now), "client": client}
            connection.execute(_SQL["reopen"], values)
            if client is not None and (latest is None or latest.seq != seq):
                connection.execute(_SQL["set_current_now"], values)
            return _by_seq(connection, seq), found is not None

        return await self._writer.write(work)

    async def add_calls(self, calls: Sequence[ClientCall], default_project_id: str | None) -> None:
        def work(connection: Connection) -> None:
            assigner = _SessionAssigner(connection, default_project_id)
            for made in sorted(calls, key=lambda made: made.call.ended_at):
                _add_call(connection, made, assigner.session_of(made))
            assigner.write_activity()

        if calls:
            await self._writer.write(work)

    async def current(self, client: str) -> Session | None:
        def work(connection: Connection) -> Session | None:
            latest = _one(connection, "current_of_client", {"client": client})
            return latest.session if latest and _is_active(latest.session, self._clock()) else None

        return await self._readers.read(work)

    async def current_id(self, project_id: str | None, client: str) -> str | None:
        def work(connection: Connection) -> str | None:
            for session_id, project, last_activity, ended_at in connection.execute(
                _SQL["current_id"], {"client": client}
            ):
                if project == project_id and not is_over(
                    moment(last_activity), optional_moment(ended_at), self._clock()
                ):
                    return str(session_id)
            return None

        return await self._readers.read(work)

    async def get(self, project_id: str | None, session_id: str) -> Session | None:
        found = await self._readers.read(
            lambda connection: _one(connection, "get", {"project": project_id, "id": session_id})
        )
        return found.session if found else None

    async def list(self, project_id: str | None, limit: int) -> Sequence[Session]:
        values = {"project": project_id, "limit": limit}
        return await self._readers.read(
            lambda connection: [found.session for found in _all(connection, "list", values)]
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

    async def calls_ended_between(
        self, project_id: str | None, after: datetime, until: datetime, *, newest_first: bool, limit: int
    ) -> Sequence[ToolCall]:
        query = _SQL["ended_newest"] if newest_first else _SQL["ended_oldest"]
        begin = microseconds(after)
        values = {"project": project_id, "after": begin, "until": microseconds(until), "limit": limit}
        values["begun_after"] = begin - _MAX_CALL_MICROSECONDS
        return await self._readers.read(
            lambda connection: [_call_from(row) for row in connection.execute(query, values)]
        )

    async def end(self, project_id: str | None, session_id: str) -> Session | None:
        def work(connection: Connection) -> Session | None:
            found = _one(connection, "get", {"project": project_id, "id": session_id})
            if found is None:
                return None
            connection.execute(_SQL["end"], {"seq": found.seq, "now": microseconds(self._clock())})
            return _by_seq(connection, found.seq)

        return await self._writer.write(work)

    async def forget_before(self, moment: datetime) -> int:
        def work(connection: Connection) -> int:
            before = {"before": microseconds(moment)}
            connection.execute(_SQL["delete_calls"], before)
            erased: int = connection.value(_SQL["count_deleted"])
            connection.execute(_SQL["delete_sessions"], before)
            connection.execute(_SQL["delete_old_projects"], before)
            return erased

        return await self._writer.write(work)


class _SessionRow(NamedTuple):
    seq: int
    session: Session


def _one(connection: Connection, query: str, values: Mapping[str, Any]) -> _SessionRow | None:
    found = _all(connection, query, values)
    return found[0] if found else None


def _all(connection: Connection, query: str, values: Mapping[str, Any]) -> list[_SessionRow]:
    return [_session_from(row) for row in connection.execute(_SQL[query], values)]


def _by_seq(connection: Connection, seq: int) -> Session:
    return _session_from(connection.execute(_SQL["by_seq"], {"seq": seq})[0]).session


def _is_active(session: Session, at: datetime) -> bool:
    return session.status(at) is SessionStatus.ACTIVE


def _can_resume(session: Session, project_id: str | None, at: datetime) -> bool:
    return session.project_id == project_id and _is_active(session, at)


def _add_call(connection: Connection, made: ClientCall, session: int) -> None:
    call = made.call
    memories = {"memories": json_text(sorted(made.memory_ids))}
    # Checked before the insert: deleted content must never be written to the file again, not even temporarily.
    erased = bool(made.memory_ids) and bool(connection.value(_SQL["mentions_deleted"], memories))
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
    seq = connection.value(_SQL["add_call"], values)
    if made.memory_ids and not erased:
        connection.execute(_SQL["add_mentioned_memories"], memories | {"call": seq})


class _SessionAssigner:
    """Assigns the calls of one write to sessions; calls must come in the order of their end times."""

    def __init__(self, connection: Connection, default_project_id: str | None) -> None:
        self._connection = connection
        self._default_project_id = default_project_id
        self._cached: dict[str, tuple[int, datetime]] = {}
        """Session and last activity of clients whose session cannot change within this write."""

    def session_of(self, made: ClientCall) -> int:
        """Return the seq of the session that a call belongs to; create the session when there is none.

        A call that ends a session belongs to it; a call that starts a session or sets a project belongs to the new one.
        Therefore the current session at the end of the call counts, unless it was over when the call began.
        """
        call = made.call
        if (cached := self._cached.get(made.client)) is not None and not is_over(cached[1], None, call.called_at):
            seq, last = cached
        else:
            self.write_activity()
            seq, last = self._find_or_create(made), call.ended_at
            values = {"seq": seq, "client": made.client, "at": microseconds(call.ended_at)}
            is_final = self._connection.value(_SQL["is_final_session"], values)
            self._connection.execute(_SQL["set_activity"], values)
            if not is_final:
                return seq
        self._cached[made.client] = seq, max(last, call.ended_at)
        return seq

    def write_activity(self) -> None:
        """Write the last activity of the cached sessions."""
        for client, (seq, last) in self._cached.items():
            self._connection.execute(_SQL["set_activity"], {"seq": seq, "client": client, "at": microseconds(last)})
        self._cached.clear()

    def _find_or_create(self, made: ClientCall) -> int:
        called_at, ended = made.call.called_at, microseconds(made.call.ended_at)
        at = {"client": made.client, "at": ended, "until": ended + MAX_WRITE_DELAY}
        project_id: str | None = self._connection.value(_SQL["project_at"], at) or self._default_project_id
        at_end, after = _SQL["session_at"], _SQL["session_after"]
        candidates = [*self._connection.execute(at_end, at), *self._connection.execute(after, at)]
        for seq, project, last_activity, ended_at in candidates:
            if project == project_id and not is_over(moment(last_activity), optional_moment(ended_at), called_at):
                return seq
        began = microseconds(called_at)
        seq = _add_session(self._connection, new_id("ses"), project_id, made.client, began)
        self._connection.execute(_SQL["set_current"], {"client": made.client, "since": began, "seq": seq})
        return seq


def _add_session(connection: Connection, session_id: str, project_id: str | None, client: str | None, at: int) -> int:
    values = {"id": session_id, "project": project_id, "client": client, "at": at}
    return connection.value(_SQL["add_session"], values)


def _session_from(row: Sequence[Any]) -> _SessionRow:
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
    return _SessionRow(seq, session)


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

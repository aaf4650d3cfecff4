"""The endpoint of the event stream, `/ws`: accepts connections up to a limit."""

from typing import Final

from starlette.datastructures import QueryParams
from starlette.types import Receive, Scope, Send

from scrubjay.compat.mira.clients import client_named, default_client
from scrubjay.compat.mira.event_connection import EventConnection, EventLimits
from scrubjay.compat.mira.event_wire import Sync
from scrubjay.compat.mira.replay import CallHistorySource
from scrubjay.core.callers import Authenticator
from scrubjay.core.errors import Busy, InvalidRequest, ScrubjayError
from scrubjay.servers.http.callers import caller_of, socket_guard_of
from scrubjay.servers.http.websockets import refuse
from scrubjay.tooling.call_events import CallEvents
from scrubjay.tooling.event_bus import EventBus

PATH: Final = "/ws"
# Accepted when offered: a web page can send its key only as a subprotocol, and the browser then expects one back.
SUBPROTOCOL: Final = "mira"


class EventStreamEndpoint:
    """ASGI endpoint that serves all event connections of a server."""

    def __init__(
        self,
        events: CallEvents,
        bus: EventBus,
        history: CallHistorySource,
        authenticator: Authenticator,
        limits: EventLimits,
    ) -> None:
        self.connections = 0
        self._events = events
        self._bus = bus
        self._history = history
        self._authenticator = authenticator
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            session_id, sync = self._parse(scope)
        except ScrubjayError as error:
            await refuse(error, scope, send)
            return
        self.connections += 1
        try:
            if (await receive())["type"] == "websocket.connect":
                offered = SUBPROTOCOL in (scope.get("subprotocols") or ())
                await send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL if offered else None})
                await self._connection(scope, session_id, sync).serve(receive, send)
        finally:
            self.connections -= 1

    def _connection(self, scope: Scope, session_id: str, sync: Sync | None) -> EventConnection:
        caller, visit = caller_of(scope), socket_guard_of(scope, self._authenticator)
        return EventConnection(
            self._events, self._bus, self._history, self._authenticator, visit, caller, session_id, self._limits, sync
        )

    def _parse(self, scope: Scope) -> tuple[str, Sync | None]:
        """Return the session id, and the replay that the client requests. Raises `Busy` at the limit."""
        if self.connections >= self._limits.connections:
            raise Busy("too many connections are open", hint="reconnect later")
        given = QueryParams(scope["query_string"])
        session_id = client_named(scope, given.get("client")) or default_client(caller_of(scope))
        last = given.get("last_event_id")
        if last is None:
            return session_id, None
        if not (last.isascii() and last.isdigit() and len(last) < 19):
            raise InvalidRequest("last_event_id must be the id of an event")
        return session_id, Sync(last_event_id=int(last))

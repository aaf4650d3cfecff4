"""The address of the event stream, `/ws`: accepts listeners, up to a limit."""

from typing import Final

from starlette.datastructures import QueryParams
from starlette.types import Receive, Scope, Send

from scrubjay.compat.mira.clients import client_named, default_client
from scrubjay.compat.mira.event_connection import EventConnection, EventLimits
from scrubjay.compat.mira.event_wire import Sync
from scrubjay.compat.mira.replay import Past
from scrubjay.core.callers import Doorkeeper
from scrubjay.core.errors import Busy, InvalidRequest, ScrubjayError
from scrubjay.servers.http.callers import caller_of, visit_of
from scrubjay.servers.http.websockets import refuse
from scrubjay.tooling.call_events import CallEvents

PATH: Final = "/ws"
# Chosen when it is offered: a page can send its key only as a protocol, and must then be told of one.
SUBPROTOCOL: Final = "mira"


class EventStream:
    """All listeners of a server."""

    def __init__(self, events: CallEvents, past: Past, doorkeeper: Doorkeeper, limits: EventLimits) -> None:
        self.connections = 0
        self._events = events
        self._past = past
        self._doorkeeper = doorkeeper
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            session_id, sync = self._wishes(scope)
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
        caller, visit = caller_of(scope), visit_of(scope, self._doorkeeper)
        return EventConnection(
            self._events, self._past, self._doorkeeper, visit, caller, session_id, self._limits, sync
        )

    def _wishes(self, scope: Scope) -> tuple[str, Sync | None]:
        """Whose session it is, and from where on it wants to be told."""
        if self.connections >= self._limits.connections:
            raise Busy("too many connections are open", hint="connect again in a moment")
        given = QueryParams(scope["query_string"])
        session_id = client_named(scope, given.get("client")) or default_client(caller_of(scope))
        last = given.get("last_event_id")
        if last is None:
            return session_id, None
        if not (last.isascii() and last.isdigit() and len(last) < 19):
            raise InvalidRequest("last_event_id must be the id of an event")
        return session_id, Sync(last_event_id=int(last))

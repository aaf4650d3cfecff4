"""The WebSocket endpoint: accepts connections up to a limit and serves each with a `PhoenixConnection`."""

from typing import Final

from starlette.datastructures import QueryParams
from starlette.types import Receive, Scope, Send

from scrubjay.core.callers import Authenticator
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Busy, InvalidRequest
from scrubjay.servers.http.callers import socket_guard_of
from scrubjay.servers.http.request_metadata import address_of
from scrubjay.servers.http.websockets import refuse
from scrubjay.servers.phoenix.channel import SynapseState
from scrubjay.servers.phoenix.connection import PhoenixConnection
from scrubjay.servers.phoenix.credentials import SUBPROTOCOL, key_of_connection
from scrubjay.servers.phoenix.frames import codec_for
from scrubjay.servers.phoenix.limits import SynapseLimits
from scrubjay.servers.phoenix.presence import Presence
from scrubjay.servers.phoenix.work_queue import WorkQueue
from scrubjay.tooling.dispatcher import Dispatcher

PATH: Final = "/cortex/websocket"


class SynapseEndpoint:
    """The ASGI endpoint for all connections. Questions go to one tool; calls may name any tool."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        authenticator: Authenticator,
        *,
        question_tool: str,
        limits: SynapseLimits,
        clock: Clock = system_clock,
    ) -> None:
        self.connections = 0
        self._open: dict[PhoenixConnection, None] = {}
        self._authenticator = authenticator
        self._state = SynapseState(
            dispatcher=dispatcher,
            question_tool=question_tool,
            limits=limits,
            queue=WorkQueue(workers=limits.workers, waiting=limits.waiting),
            presence=Presence(),
            clock=clock,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        codec = codec_for(QueryParams(scope["query_string"]).get("vsn", ""))
        if codec is None:
            return await refuse(
                InvalidRequest("this protocol version is not supported", hint="use vsn=2.0.0"), scope, send
            )
        if self.connections >= self._state.limits.connections and not self._close_one_unjoined():
            return await refuse(Busy("too many connections are open", hint="connect again in a moment"), scope, send)
        self.connections += 1
        try:
            if (await receive())["type"] == "websocket.connect":
                offered = SUBPROTOCOL in (scope.get("subprotocols") or ())
                await send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL if offered else None})
                connection = PhoenixConnection(
                    self._state,
                    self._authenticator,
                    socket_guard_of(scope, self._authenticator),
                    codec,
                    key_of_connection(scope),
                    address_of(scope),
                )
                self._open[connection] = None
                try:
                    await connection.serve(receive, send)
                finally:
                    del self._open[connection]
        finally:
            self.connections -= 1
        return None

    def _close_one_unjoined(self) -> bool:
        """Close the oldest connection that has joined nothing, so that idle clients cannot use up the limit."""
        for connection in self._open:
            if not (connection.has_joined or connection.has_ended):
                connection.close_unjoined()
                return True
        return False

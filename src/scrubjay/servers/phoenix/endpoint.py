"""The address of the live channel: accepts connections, up to a limit, and hands each to its own `Connection`."""

from typing import Final

from starlette.datastructures import QueryParams
from starlette.types import Receive, Scope, Send

from scrubjay.core.callers import Doorkeeper
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import Busy, InvalidRequest
from scrubjay.servers.http.callers import visit_of
from scrubjay.servers.http.request_metadata import address_of
from scrubjay.servers.http.websockets import refuse
from scrubjay.servers.phoenix.channel import Shared
from scrubjay.servers.phoenix.connection import Connection
from scrubjay.servers.phoenix.credentials import SUBPROTOCOL, key_of_connection
from scrubjay.servers.phoenix.frames import codec_for
from scrubjay.servers.phoenix.limits import Limits
from scrubjay.servers.phoenix.presence import Presence
from scrubjay.servers.phoenix.work_queue import Turns
from scrubjay.tooling.dispatcher import Dispatcher

PATH: Final = "/cortex/websocket"


class Synapse:
    """All connections of a server. Questions go to one tool; any tool can be called."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        doorkeeper: Doorkeeper,
        *,
        question_tool: str,
        limits: Limits,
        clock: Clock = system_clock,
    ) -> None:
        self.connections = 0
        self._connected: dict[Connection, None] = {}
        self._doorkeeper = doorkeeper
        self._shared = Shared(
            dispatcher=dispatcher,
            question_tool=question_tool,
            limits=limits,
            turns=Turns(workers=limits.workers, waiting=limits.waiting),
            presence=Presence(),
            clock=clock,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        codec = codec_for(QueryParams(scope["query_string"]).get("vsn", ""))
        if codec is None:
            return await refuse(
                InvalidRequest("this version of the protocol is not spoken", hint="use 2.0.0"), scope, send
            )
        if self.connections >= self._shared.limits.connections and not self._made_room():
            return await refuse(Busy("too many connections are open", hint="connect again in a moment"), scope, send)
        self.connections += 1
        try:
            if (await receive())["type"] == "websocket.connect":
                offered = SUBPROTOCOL in (scope.get("subprotocols") or ())
                await send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL if offered else None})
                connection = Connection(
                    self._shared,
                    self._doorkeeper,
                    visit_of(scope, self._doorkeeper),
                    codec,
                    key_of_connection(scope),
                    address_of(scope),
                )
                self._connected[connection] = None
                try:
                    await connection.serve(receive, send)
                finally:
                    del self._connected[connection]
        finally:
            self.connections -= 1
        return None

    def _made_room(self) -> bool:
        """Let go of who has been connected for longest without joining anything: strangers must not take all places."""
        for connection in self._connected:
            if not (connection.has_joined or connection.has_ended):
                connection.make_room()
                return True
        return False

"""The routes of Mira's web, and what lives as long as they do."""

from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

import anyio
from starlette.routing import BaseRoute, Route, WebSocketRoute

from scrubjay.compat.mira.broadcast import Broadcast
from scrubjay.compat.mira.chat import Chat, ChatParts
from scrubjay.compat.mira.endpoints import ENDPOINTS
from scrubjay.compat.mira.event_endpoint import PATH, EventStream
from scrubjay.compat.mira.handler import SURFACE, Answering, Door, Nowhere
from scrubjay.compat.mira.tool_calls import ToolAnswer
from scrubjay.features.chat.exchange_recorder import Keeper
from scrubjay.servers.http.audit_middleware import AuditMiddleware

# How long a server that stops waits for exchanges to be written.
FINISH_SECONDS: Final = 10.0


class MiraRoutes:
    """Everything under `/api`, and the event stream."""

    def __init__(self, chat: ChatParts, keepers: Sequence[Keeper], events: EventStream) -> None:
        """`keepers` are given time to write at the end."""
        self._keepers = keepers
        doors: defaultdict[str, dict[str, Answering]] = defaultdict(dict)
        for endpoint in ENDPOINTS:
            doors[endpoint.path][endpoint.method] = ToolAnswer(chat.dispatcher, endpoint)
        talks = Chat(chat)
        talking: Mapping[str, Mapping[str, Answering]] = {
            "/api/broadcast": {"POST": Broadcast(chat.events)},
            "/api/chat": {"POST": talks.answer},
            "/api/chat/stream": {"POST": talks.stream},
            "/api/chat/history": {"GET": talks.history},
            "/api/chat/test": {"GET": talks.test, "POST": talks.test},
        }
        self.routes: Sequence[BaseRoute] = [
            WebSocketRoute(PATH, events),
            *(Route(path, Door(answers)) for path, answers in doors.items()),
            *(Route(path, AuditMiddleware(Door(answers), SURFACE)) for path, answers in talking.items()),
            Route("/api", Nowhere()),
            Route("/api/{path:path}", Nowhere()),
        ]

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None]:
        """Inside, requests are answered; at the end what is to be remembered is written."""
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(FINISH_SECONDS):
                for keeper in self._keepers:
                    await keeper.finish()

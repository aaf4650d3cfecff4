"""Mira's routes and their lifespan."""

from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

import anyio
from starlette.routing import BaseRoute, Route, WebSocketRoute

from scrubjay.compat.mira.broadcast import Broadcast
from scrubjay.compat.mira.chat import ChatParts, MiraChat
from scrubjay.compat.mira.endpoints import ENDPOINTS
from scrubjay.compat.mira.event_endpoint import PATH, EventStreamEndpoint
from scrubjay.compat.mira.handler import SURFACE, ApiEndpoint, MiraNotFoundEndpoint, RequestHandler
from scrubjay.compat.mira.tool_calls import ToolEndpoint
from scrubjay.features.chat.exchange_recorder import ExchangeRecorder
from scrubjay.servers.http.audit_middleware import AuditMiddleware

# Time that a stopping server waits for chat exchanges to be written.
FINISH_SECONDS: Final = 10.0


class MiraRoutes:
    """The routes under `/api`, and the event stream."""

    def __init__(self, chat: ChatParts, keepers: Sequence[ExchangeRecorder], events: EventStreamEndpoint) -> None:
        """`keepers` get time to finish their writes at shutdown."""
        self._keepers = keepers
        tool_handlers: defaultdict[str, dict[str, RequestHandler]] = defaultdict(dict)
        for endpoint in ENDPOINTS:
            tool_handlers[endpoint.path][endpoint.method] = ToolEndpoint(chat.dispatcher, endpoint)
        chats = MiraChat(chat)
        chat_handlers: Mapping[str, Mapping[str, RequestHandler]] = {
            "/api/broadcast": {"POST": Broadcast(chat.events)},
            "/api/chat": {"POST": chats.answer},
            "/api/chat/stream": {"POST": chats.stream},
            "/api/chat/history": {"GET": chats.history},
            "/api/chat/test": {"GET": chats.test, "POST": chats.test},
        }
        self.routes: Sequence[BaseRoute] = [
            WebSocketRoute(PATH, events),
            *(Route(path, ApiEndpoint(handlers)) for path, handlers in tool_handlers.items()),
            *(Route(path, AuditMiddleware(ApiEndpoint(handlers), SURFACE)) for path, handlers in chat_handlers.items()),
            Route("/api", MiraNotFoundEndpoint()),
            Route("/api/{path:path}", MiraNotFoundEndpoint()),
        ]

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None]:
        """Run the lifespan: on exit, wait until pending memories are written."""
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(FINISH_SECONDS):
                for keeper in self._keepers:
                    await keeper.drain()
